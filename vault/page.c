/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <fcntl.h>
#include <libgen.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static _Thread_local char message[512] = "no error";

const char *pprf_vault_error(void)
{
  return message;
}

int fail(int err, const char *format, ...)
{
  char text[sizeof message]; /* an argument may be the message itself */
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  memcpy(message, text, sizeof message);
  return err;
}

int failed(int err, const char *what)
{
  return err < PPRF_VAULT_ERR_BUSY ? fail(err, "%s: %s", what, pprf_strerror(err)) : err;
}

void wipe_free(void *memory, size_t bytes)
{
  if (memory != NULL)
    OPENSSL_cleanse(memory, bytes);
  free(memory);
}

static struct descriptor *descriptors; /* all that are open */
static pthread_mutex_t descriptors_mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock_descriptors(void)
{
  (void)pthread_mutex_lock(&descriptors_mutex);
}

static void unlock_descriptors(void)
{
  (void)pthread_mutex_unlock(&descriptors_mutex);
}

/* A fork waits for the list to be whole; the child closes what is in it. */
static void in_child(void)
{
  for (struct descriptor *d = descriptors; d != NULL; d = d->next) {
    (void)close(d->fd);
    d->fd = -1;
  }
  descriptors = NULL;
  unlock_descriptors();
}

static void watch_forks(void)
{
  (void)pthread_atfork(lock_descriptors, unlock_descriptors, in_child);
}

/* open may wait, for a server or a lease; a fork must not.  So the lock is on a second description, which opening by
 * /proc gives at once: no fork sees it open and not in the list. */
bool descriptor_open(struct descriptor *d, const char *path, int flags)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char again[40];
  int first = open(path, flags | O_CLOEXEC, 0600), low;
  d->fd = -1;
  if (first < 0)
    return false;
  (void)pthread_once(&once, watch_forks);
  (void)snprintf(again, sizeof again, "/proc/self/fd/%d", first);
  lock_descriptors();
  if ((low = open(again, O_RDWR | O_CLOEXEC)) < 0)
    low = fcntl(first, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* no /proc */
  d->fd = low;
  if (low >= 0 && low <= STDERR_FILENO) {
    d->fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    (void)close(low);
  }
  if (d->fd >= 0) {
    d->next = descriptors;
    descriptors = d;
  }
  unlock_descriptors();
  (void)close(first);
  return d->fd >= 0;
}

void descriptor_close(struct descriptor *d)
{
  struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  struct descriptor **at = &descriptors;
  if (d->fd < 0)
    return;
  lock_descriptors();
  while (*at != d)
    at = &(*at)->next;
  *at = d->next;
  (void)flock(d->fd, LOCK_UN); /* a child may not yet have closed its own */
  (void)fcntl(d->fd, F_OFD_SETLK, &all);
  (void)close(d->fd);
  d->fd = -1;
  unlock_descriptors();
}

int sync_directory(const char *path)
{
  char *copy = strdup(path);
  int fd = copy == NULL ? -1 : open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int result = fd < 0 ? -1 : fsync(fd);
  if (fd >= 0)
    (void)close(fd);
  free(copy);
  return result;
}

void put_le(uint8_t *out, uint64_t value, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++)
    out[i] = (uint8_t)(value >> 8 * i);
}

uint64_t get_le(const uint8_t *in, unsigned bytes)
{
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)in[i] << 8 * i;
  return value;
}

bool tree_of_head(struct tree *tree)
{
  tree->depth = tree->head[8];
  tree->suite = tree->head[9];
  tree->seed = (PPRF_SUITES_32_BYTES >> (tree->suite & 63) & 1) != 0 ? 32 : 16;
  return memcmp(tree->head, PAGE_MAGIC, 8) == 0 && tree->depth >= PPRF_DEPTH_MIN &&
         tree->depth <= PPRF_DEPTH_MAX && pprf_suite_name(tree->suite) != NULL;
}

/* ---- sealing ---- */

int draw(uint8_t *out, size_t bytes)
{
  if (RAND_priv_bytes(out, (int)bytes) == 1)
    return PPRF_OK;
  OPENSSL_cleanse(out, bytes);
  return fail(PPRF_ERR_CRYPTO, "the random generator failed");
}

int derive(uint8_t out[KEY], const uint8_t *secret, size_t bytes, const uint8_t salt[KEY],
           const char *info)
{
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *c = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
  OSSL_PARAM p[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, bytes),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, KEY),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, strlen(info)),
    OSSL_PARAM_construct_end(),
  };
  int good = c != NULL && EVP_KDF_derive(c, out, KEY, p) > 0;
  EVP_KDF_CTX_free(c);
  EVP_KDF_free(kdf);
  if (!good)
    OPENSSL_cleanse(out, KEY);
  return good ? PPRF_OK : fail(PPRF_ERR_CRYPTO, "HKDF failed");
}

int gcm(bool seal, const uint8_t key[KEY], const uint8_t nonce[12], const uint8_t *with,
        size_t with_bytes, const uint8_t *in, size_t len, uint8_t *out)
{
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  int n = 0;
  bool good = c != NULL && EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce, seal) == 1 &&
              EVP_CipherUpdate(c, NULL, &n, with, (int)with_bytes) == 1 && (n = 0, true) &&
              (len == 0 || EVP_CipherUpdate(c, out, &n, in, (int)len) == 1);
  int err = good ? PPRF_OK : PPRF_ERR_CRYPTO;
  if (good && seal)
    good = EVP_CipherFinal_ex(c, out + n, &n) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG, out + len) == 1;
  else if (good) {
    good = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG, (void *)(in + len)) == 1 &&
           EVP_CipherFinal_ex(c, out + n, &n) == 1;
    err = good ? PPRF_OK : PPRF_VAULT_ERR_DAMAGED;
  }
  EVP_CIPHER_CTX_free(c);
  if (!good)
    OPENSSL_cleanse(out, len + (seal ? TAG : 0));
  return good ? PPRF_OK : err == PPRF_OK ? PPRF_ERR_CRYPTO : err;
}

/* The nonce is zero: a page key is random and seals one page, a root's key is derived with a random salt. */
int page_gcm(bool seal, const struct tree *tree, uint64_t row, const uint8_t key[KEY],
             const uint8_t *in, uint8_t *out)
{
  static const uint8_t zero[12];
  uint8_t with[PUBLIC + 8];
  memcpy(with, tree->head, PUBLIC);
  put_le(with + PUBLIC, row, 8);
  int err = gcm(seal, key, zero, with, sizeof with, in, PAGE_MAX, out);
  return err == PPRF_OK ? err
                        : fail(err, "page %llu: it does not open under its key: damaged or foreign",
                               (unsigned long long)row);
}

/* ---- leaf pages: for each node a byte, height and gap, perhaps the gap in 7-bit groups, the seed ---- */

enum { GAP_FOLLOWS = 2 };

static size_t gap_bytes(uint64_t gap)
{
  size_t n = 0;
  for (; gap >= GAP_FOLLOWS && (n == 0 || (n < 10 && gap >> 7 * n != 0)); n++)
    ;
  return n;
}

size_t node_bytes(const struct tree *tree, const struct node *node, uint64_t end)
{
  return 1 + gap_bytes(node->start - end) + tree->seed;
}

static uint64_t node_end(const struct node *node)
{
  return node->start + (UINT64_C(1) << node->height);
}

void leaf_encode(const struct tree *tree, const struct node *node, size_t count,
                 uint8_t plain[PAGE_MAX])
{
  uint64_t end = count > 0 ? node->start : 0;
  uint8_t *at = plain + LEAF_HEAD;
  memset(plain, 0, PAGE_MAX);
  put_le(plain + 1, count, 2);
  put_le(plain + PAGE_HEAD, end, 8);
  for (size_t i = 0; i < count; end = node_end(&node[i++])) {
    uint64_t gap = node[i].start - end;
    size_t n = gap_bytes(gap);
    *at++ = (uint8_t)(node[i].height | (n > 0 ? GAP_FOLLOWS : gap) << 6);
    for (; n > 0; n--, gap >>= 7)
      *at++ = (uint8_t)((gap & 127) | (n > 1 ? 128 : 0));
    memcpy(at, node[i].seed, tree->seed);
    at += tree->seed;
  }
}

/* Read the head of a node; the start of the node before ended at *end. */
static const uint8_t *node_decode(struct node *node, uint64_t *end, const uint8_t *at,
                                  const uint8_t *stop)
{
  if (at == stop)
    return NULL;
  uint64_t gap = *at >> 6;
  node->height = *at++ & 63;
  if (gap == GAP_FOLLOWS) {
    gap = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == stop || shift > 63)
        return NULL;
      gap |= (uint64_t)(*at & 127) << shift;
      if (*at++ < 128)
        break;
    }
  }
  node->start = *end + gap;
  *end = node_end(node);
  return at;
}

bool node_follows(const struct node *before, const struct node *node)
{
  uint64_t end = node_end(before);
  bool siblings =
    node->start == end && node->height == before->height && node->start >> node->height & 1;
  return node->start >= end && !siblings;
}

static bool in_tree(const struct tree *tree, const struct node *node)
{
  uint64_t width = UINT64_C(1) << node->height;
  return node->height <= tree->depth && node->start % width == 0 &&
         node->start <= (UINT64_C(1) << tree->depth) - width;
}

int leaf_decode(const struct tree *tree, const uint8_t plain[PAGE_MAX], struct nodes *nodes)
{
  size_t n = get_le(plain + 1, 2), seed = tree->seed;
  const uint8_t *at = plain + LEAF_HEAD, *stop = plain + PAGE_MAX;
  uint64_t end = get_le(plain + PAGE_HEAD, 8);
  if (n > (PAGE_MAX - LEAF_HEAD) / (seed + 1))
    return PPRF_VAULT_ERR_DAMAGED;
  int err = nodes_reserve(tree, nodes, n);
  for (size_t i = 0; i < n && err == PPRF_OK; i++) {
    struct node *node = &nodes->at[i];
    at = node_decode(node, &end, at, stop);
    if (at == NULL || (size_t)(stop - at) < seed || !in_tree(tree, node) ||
        (i > 0 && !node_follows(node - 1, node)))
      err = PPRF_VAULT_ERR_DAMAGED;
    else {
      memcpy(node->seed, at, seed);
      at += seed;
      nodes->count++;
    }
  }
  if (err != PPRF_OK)
    nodes_free(tree, nodes);
  return err;
}

/* ---- memory of nodes ---- */

enum { GRANULE = 4096, GRANULES = 256 };

struct slab {
  struct slab *next;
  uint8_t *at;
  size_t used, from;       /* granules taken; all before `from` are */
  bool taken[GRANULES];
};

static void *map(size_t bytes)
{
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return NULL;
  (void)madvise(at, bytes, MADV_DONTDUMP);
  (void)madvise(at, bytes, MADV_WIPEONFORK);
  (void)mlock2(at, bytes, MLOCK_ONFAULT);
  return at;
}

/* The first of n free granules, GRANULES if there are not as many side by side. */
static size_t find_free(const struct slab *slab, size_t n)
{
  size_t i = slab->from, free = 0;
  for (; i < GRANULES && free < n; i++)
    free = slab->taken[i] ? 0 : free + 1;
  return free == n ? i - n : GRANULES;
}

static struct slab *slab_new(struct arena *arena)
{
  struct slab *slab = calloc(1, sizeof *slab);
  if (slab != NULL && (slab->at = map((size_t)GRANULES * GRANULE)) == NULL) {
    free(slab);
    slab = NULL;
  }
  if (slab != NULL) {
    slab->next = arena->slabs;
    arena->slabs = slab;
  }
  return slab;
}

static void slab_free(struct slab *slab)
{
  (void)munmap(slab->at, (size_t)GRANULES * GRANULE);
  free(slab);
}

/* n granules of zeros. */
static void *take(struct arena *arena, size_t n)
{
  struct slab *slab = arena->slabs;
  size_t i = GRANULES;
  if (n > GRANULES)
    return map(n * GRANULE);
  for (; slab != NULL; slab = slab->next)
    if (slab->used + n <= GRANULES && (i = find_free(slab, n)) < GRANULES)
      break;
  if (slab == NULL) {
    slab = slab_new(arena);
    i = 0;
  }
  if (slab == NULL)
    return NULL;
  memset(slab->taken + i, true, n);
  slab->used += n;
  if (i == slab->from)
    slab->from = i + n;
  return slab->at + i * GRANULE;
}

/* Wipe n granules and give them back. */
static void give(struct arena *arena, void *memory, size_t n)
{
  OPENSSL_cleanse(memory, n * GRANULE);
  if (n > GRANULES) {
    (void)munmap(memory, n * GRANULE);
    return;
  }
  struct slab **at = &arena->slabs, *slab;
  while ((uintptr_t)memory - (uintptr_t)(*at)->at >= (size_t)GRANULES * GRANULE)
    at = &(*at)->next;
  slab = *at;
  *at = slab->next; /* to the front: the next call is likely to want it */
  slab->next = arena->slabs;
  arena->slabs = slab;
  size_t i = (size_t)((uint8_t *)memory - slab->at) / GRANULE;
  memset(slab->taken + i, false, n);
  slab->used -= n;
  slab->from = i < slab->from ? i : slab->from;
  if (slab->used == 0 && slab->next != NULL) { /* the last one stays */
    arena->slabs = slab->next;
    slab_free(slab);
  }
}

void arena_end(struct arena *arena)
{
  if (arena->slabs != NULL)
    slab_free(arena->slabs);
  arena->slabs = NULL;
}

static size_t granules(size_t nodes)
{
  return (nodes * sizeof(struct node) + GRANULE - 1) / GRANULE;
}

int nodes_reserve(const struct tree *tree, struct nodes *nodes, size_t count)
{
  if (count <= nodes->room)
    return PPRF_OK;
  if (nodes->room > 0 && count < nodes->room + nodes->room / 2)
    count = nodes->room + nodes->room / 2;
  struct nodes more = {take(tree->arena, granules(count)), nodes->count,
                       granules(count) * GRANULE / sizeof *more.at};
  if (more.at == NULL)
    return PPRF_ERR_NOMEM;
  if (nodes->count > 0)
    memcpy(more.at, nodes->at, nodes->count * sizeof *more.at);
  nodes_free(tree, nodes);
  *nodes = more;
  return PPRF_OK;
}

void nodes_free(const struct tree *tree, struct nodes *nodes)
{
  if (nodes->room > 0)
    give(tree->arena, nodes->at, granules(nodes->room));
  *nodes = (struct nodes){NULL, 0, 0};
}

/* ---- operations on nodes ---- */

/* The first node that ends at or after a leaf. */
static size_t node_of(const struct nodes *nodes, uint64_t leaf)
{
  size_t low = 0, high = nodes->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (node_end(&nodes->at[middle]) <= leaf)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- a node as a key of pprf.h: docs/key-file.md ---- */

enum { FILE_HEAD = 36, FILE_ID = 8, DIGEST = 32 };

struct layout {
  bool first_version;
  size_t head, id, record; /* bytes before the nodes, of an id, of a node */
};

static struct layout layout_of(const struct tree *tree)
{
  bool first = tree->suite == PPRF_SHA3_256 && tree->depth <= 32;
  size_t id = tree->depth / 8 + 1;
  return (struct layout){first, first ? 16 : FILE_HEAD, id, id + tree->seed};
}

static int key_of_node(pprf_key **key, const struct tree *tree, const struct node *node)
{
  const struct pprf_import_options options = {
    .size = sizeof options, .suites = PPRF_SUITE_BIT(tree->suite), .store = PPRF_STORE_PACKED};
  struct layout l = layout_of(tree);
  uint8_t file[FILE_HEAD + FILE_ID + PPRF_VALUE_BYTES_MAX + DIGEST] = "PPRFKEY";
  uint8_t *record = file + l.head, *digest = record + l.record;
  file[7] = l.first_version ? 1 : 2;
  file[8] = (uint8_t)tree->suite;
  file[9] = (uint8_t)tree->depth;
  file[12] = 1; /* node */
  if (!l.first_version)
    memcpy(file + 20, tree->head + SALT_AT, 16);
  put_le(record, 2 * node->start + (UINT64_C(1) << node->height), (unsigned)l.id);
  memcpy(record + l.id, node->seed, tree->seed);
  *key = NULL;
  int err = PPRF_ERR_CRYPTO;
  if (EVP_Digest(file, (size_t)(digest - file), digest, NULL, EVP_sha3_256(), NULL) == 1)
    err = pprf_import_with(key, file, (size_t)(digest - file) + DIGEST, &options);
  OPENSSL_cleanse(file, sizeof file);
  return err;
}

int nodes_of_key(struct node *node, size_t *count, const struct tree *tree, const pprf_key *key)
{
  struct layout l = layout_of(tree);
  uint8_t file[FILE_HEAD + NODES_OF_NODE * (FILE_ID + PPRF_VALUE_BYTES_MAX) + DIGEST];
  size_t len = sizeof file;
  int err = pprf_export(key, file, &len);
  *count = err == PPRF_OK ? (len - l.head - DIGEST) / l.record : 0;
  for (size_t i = 0; i < *count; i++) {
    const uint8_t *at = file + l.head + i * l.record;
    uint64_t id = get_le(at, (unsigned)l.id);
    node[i].height = (unsigned)__builtin_ctzll(id);
    node[i].start = (id & (id - 1)) >> 1;
    memcpy(node[i].seed, at + l.id, tree->seed);
  }
  OPENSSL_cleanse(file, sizeof file);
  return err;
}

int nodes_eval(const struct tree *tree, const struct nodes *nodes, uint64_t leaf, uint8_t *out)
{
  size_t i = node_of(nodes, leaf);
  pprf_key *key;
  if (i == nodes->count || nodes->at[i].start > leaf)
    return PPRF_ERR_PUNCTURED;
  int err = key_of_node(&key, tree, &nodes->at[i]);
  if (err == PPRF_OK)
    err = pprf_eval(key, leaf, out);
  pprf_free(key);
  return err;
}

/* Add what first .. last leave of a node that meets them. */
static int cut(const struct tree *tree, const struct node *node, uint64_t first, uint64_t last,
               struct node *left, size_t *count)
{
  size_t more = 0;
  pprf_key *key;
  first = first > node->start ? first : node->start;
  last = last < node_end(node) ? last : node_end(node) - 1;
  if (last - first == node_end(node) - 1 - node->start)
    return PPRF_OK;
  int err = key_of_node(&key, tree, node);
  if (err == PPRF_OK)
    err = first == last ? pprf_punct(key, first) : pprf_punct_range(key, first, last);
  if (err == PPRF_OK)
    err = nodes_of_key(left + *count, &more, tree, key);
  pprf_free(key);
  *count += more;
  return err;
}

int nodes_erase(const struct tree *tree, struct nodes *nodes, uint64_t first, uint64_t last)
{
  struct node left[NODES_OF_NODE]; /* of the first and of the last node */
  size_t i = node_of(nodes, first), j = i, count = 0;
  while (j < nodes->count && nodes->at[j].start <= last)
    j++;
  if (i == j)
    return PPRF_ERR_PUNCTURED;
  int err = cut(tree, &nodes->at[i], first, last, left, &count);
  if (err == PPRF_OK && j - i > 1)
    err = cut(tree, &nodes->at[j - 1], first, last, left, &count);
  size_t after = nodes->count - j, before = nodes->count;
  if (err == PPRF_OK)
    err = nodes_reserve(tree, nodes, i + count + after);
  if (err == PPRF_OK) {
    memmove(nodes->at + i + count, nodes->at + j, after * sizeof *nodes->at);
    memcpy(nodes->at + i, left, count * sizeof *left);
    nodes->count = i + count + after;
    if (nodes->count < before)
      OPENSSL_cleanse(nodes->at + nodes->count, (before - nodes->count) * sizeof *nodes->at);
  }
  OPENSSL_cleanse(left, sizeof left);
  return err;
}
