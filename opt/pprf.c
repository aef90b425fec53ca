/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as a whole: made, measured, written to a file and read back, freed.  core.c evaluates and
 * punctures. */
#include "pprf.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "key.h"
#include "options.h"
#include "shared.h"

static const char magic[7] = {'P', 'P', 'R', 'F', 'K', 'E', 'Y'};

enum {
  FORMAT_VERSION = 1,
  HEADER_BYTES = 16,
  FRAME_BYTES = HEADER_BYTES + DIGEST_BYTES
};

/* ---- the key file ---- */

/* Bytes of a node's in-order id. */
static unsigned id_bytes(unsigned depth)
{
  return depth / 8 + 1;
}

static uint64_t file_bytes(unsigned depth, uint64_t nodes)
{
  return FRAME_BYTES + nodes * (id_bytes(depth) + PPRF_SEED_BYTES);
}

/* Everything before the digest. */
static void encode_nodes(const struct opt_store *s, uint8_t *out)
{
  unsigned width = id_bytes(s->punctured.depth);
  struct opt_node n;
  memcpy(out, magic, sizeof magic);
  out[7] = FORMAT_VERSION;
  out[8] = PRG_ID;
  out[9] = (uint8_t)s->punctured.depth;
  out[10] = out[11] = 0;
  store(out + 12, s->nodes, 4);
  out += HEADER_BYTES;
  for (uint64_t at = 0; opt_store_next(s, at, &n); at = opt_node_end(n)) {
    store(out, 2 * n.start + (UINT64_C(1) << n.height), width);
    store_seed(out + width, opt_store_seed(s, n));
    out += width + PPRF_SEED_BYTES;
  }
}

/* The node of an in-order id, 0 < id < 2^(depth + 1). */
static struct opt_node node_of_id(uint64_t id)
{
  return (struct opt_node){.start = (id & (id - 1)) >> 1, .height = opt_lsb(id)};
}

/* The records of a file, read one after the other. */
struct reader {
  const uint8_t *record; /* the next one */
  unsigned depth, width;
  uint64_t end; /* of the node read last, 0 at first; its height: */
  unsigned height;
};

static struct reader first_record(const uint8_t *buf, unsigned depth)
{
  return (struct reader){buf + HEADER_BYTES, depth, id_bytes(depth), 0, 0};
}

/* The node of the next record, whose seed then lies before r->record; 0 if encode would not have
 * written it after those before. */
static int next_node(struct reader *r, struct opt_node *n)
{
  uint64_t id = load_once(r->record, r->width);
  if (id == 0 || id >> (r->depth + 1) != 0)
    return 0;
  *n = node_of_id(id);
  if (n->start < r->end)
    return 0;
  if (r->end > 0 && n->start == r->end && n->height == r->height && (n->start >> r->height & 1) == 1)
    return 0; /* two siblings: their parent would be live */
  r->end = opt_node_end(*n);
  r->height = n->height;
  r->record += r->width + PPRF_SEED_BYTES;
  return 1;
}

/* Whether the header and the ids are what encode would have written; the digest is not looked at.
 * Sets the depth and the number of nodes. */
static int well_formed(const uint8_t *buf, size_t len, unsigned *depth, uint64_t *nodes)
{
  struct opt_node n;
  uint8_t header[HEADER_BYTES];
  if (len < FRAME_BYTES)
    return 0;
  for (unsigned i = 0; i < HEADER_BYTES; i++)
    header[i] = (uint8_t)load_once(buf + i, 1);
  if (memcmp(header, magic, sizeof magic) != 0 || header[7] != FORMAT_VERSION ||
      header[8] != PRG_ID || header[9] < PPRF_DEPTH_MIN || header[9] > PPRF_DEPTH_MAX ||
      header[10] != 0 || header[11] != 0)
    return 0;
  *depth = header[9];
  *nodes = load(header + 12, 4);
  if (*nodes > UINT64_C(1) << (*depth - 1) || len != file_bytes(*depth, *nodes))
    return 0;
  struct reader r = first_record(buf, *depth);
  for (uint64_t i = 0; i < *nodes; i++)
    if (!next_node(&r, &n))
      return 0;
  return 1;
}

/* Load the nodes of a well-formed file and the gaps between them.  Each node is checked again: the
 * bytes are the caller's, and memory that others share with it can change.  The store is whole at
 * the end, though with an error it lacks nodes. */
static PPRF_WORK int decode(struct opt_store *s, const uint8_t *buf, uint64_t nodes)
{
  unsigned depth = s->punctured.depth;
  struct reader r = first_record(buf, depth);
  struct opt_entry e = {.seed = {0, 0}};
  uint64_t i = 0, end = 0;
  for (; i < nodes && next_node(&r, &e.node); i++) {
    e.seed = load_seed(r.record - PPRF_SEED_BYTES);
    if (e.node.start > end)
      opt_store_load_gap(s, end, e.node.start - 1);
    opt_store_load_node(s, &e);
    end = r.end;
  }
  if (end >> depth == 0)
    opt_store_load_gap(s, end, (UINT64_C(1) << depth) - 1);
  explicit_bzero(&e, sizeof e);
  return i == nodes ? PPRF_OK : PPRF_ERR_FORMAT;
}

static int same_digest(const uint8_t *a, const uint8_t *b)
{
  uint8_t d = 0;
  for (unsigned i = 0; i < DIGEST_BYTES; i++)
    d |= a[i] ^ b[i];
  return d == 0;
}

/* ---- the work ---- */

/* The whole file, `bytes` of them. */
static PPRF_WORK int encode(const struct opt_store *s, uint8_t *buf, size_t bytes)
{
  encode_nodes(s, buf);
  int err = prg_digest(buf, bytes - DIGEST_BYTES, buf + bytes - DIGEST_BYTES);
  if (err != PPRF_OK)
    explicit_bzero(buf, bytes);
  return err;
}

/* Whether the digest at the end is that of what stands before. */
static PPRF_WORK int check_digest(const uint8_t *buf, size_t len)
{
  uint8_t digest[DIGEST_BYTES];
  int err = prg_digest(buf, len - DIGEST_BYTES, digest);
  return err == PPRF_OK && !same_digest(digest, buf + len - DIGEST_BYTES) ? PPRF_ERR_FORMAT : err;
}

/* The root's seed, which is at seed, or random if that is NULL. */
static inline int root_of(const uint8_t *seed, struct pprf_seed *root)
{
  if (seed == NULL)
    return prg_random(root);
  *root = load_seed(seed);
  return PPRF_OK;
}

/* Make a zero key with a packed store a fresh one; the store lies behind the key. */
static PPRF_WORK int start_packed(pprf_key *key, unsigned depth, const uint8_t *seed)
{
  struct pprf_seed root = {0, 0};
  int err = root_of(seed, &root);
  if (err == PPRF_OK)
    err = opt_store_open_packed(&key->store, depth, (struct opt_packed *)(void *)key->small, &root);
  wipe_seed(&root);
  return err;
}

/* Make an empty store a fresh key.  A shared store's leaves are all punctured, any other is zero. */
static PPRF_WORK int start_key(struct opt_store *s, const uint8_t *seed)
{
  struct pprf_seed root = {0, 0};
  int err = root_of(seed, &root);
  if (err == PPRF_OK && s->shared) {
    opt_store_clear(s);
    opt_store_start(s, root);
  } else if (err == PPRF_OK) {
    opt_store_load_root(s, &root);
  }
  wipe_seed(&root);
  return err;
}

/* ---- keys in memory ---- */

/* A key whose store is empty.  Not inlined, as opt_shared_new is not: clang's loops over the levels take
 * 3 kB of frame at -O3 -march=native, and that would be a frame of the API, which nobody wipes. */
static NOINLINE int new_key(pprf_key **key, unsigned depth)
{
  pprf_key *k = calloc(1, sizeof *k + opt_store_small_bytes(depth));
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  int err = pprf_process_claim(&k->maker);
  if (err == PPRF_OK)
    err = opt_store_open(&k->store, depth, k->small, 0);
  if (err != PPRF_OK) {
    free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

/* A fresh key with a packed store. */
static NOINLINE int new_packed_key(pprf_key **key, unsigned depth, const uint8_t *seed)
{
  pprf_key *k = calloc(1, sizeof *k + sizeof(struct opt_packed));
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  int err = pprf_process_claim(&k->maker);
  if (err == PPRF_OK)
    err = start_packed(k, depth, seed);
  if (err != PPRF_OK) {
    free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

/* Bytes of the mapping that a shared key itself takes. */
static size_t shared_bytes(const pprf_key *key)
{
  size_t page = key->store.page;
  return (sizeof *key + opt_store_small_bytes(depth_of(key)) + page - 1) / page * page;
}

NOINLINE int opt_shared_new(pprf_key **key, unsigned depth)
{
  size_t bytes = sizeof **key + opt_store_small_bytes(depth);
  *key = NULL;
  pprf_key *k = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (k == MAP_FAILED)
    return PPRF_ERR_NOMEM;
  int err = opt_store_open(&k->store, depth, k->small, 1);
  if (err != PPRF_OK) {
    (void)munmap(k, bytes);
    return err;
  }
  opt_store_clear(&k->store);
  *key = k;
  return PPRF_OK;
}

int opt_shared_start(pprf_key *key)
{
  int err = start_key(&key->store, NULL);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  return err;
}

void opt_shared_clear(pprf_key *key)
{
  opt_store_clear(&key->store);
}

void opt_shared_free(pprf_key *key)
{
  size_t bytes = shared_bytes(key);
  (void)munmap(key->store.slot, key->store.mapped);
  (void)munmap(key, bytes);
}

/* ---- the API ---- */

/* Whether there is a digest, without which no key can be exported. */
static int try_digest(void)
{
  uint8_t digest[DIGEST_BYTES] = {0};
  return prg_digest(digest, 0, digest);
}

/* A key of a few hundred nanoseconds: the digest is tried until it is found once. */
static int setup_packed(pprf_key **key, unsigned depth, const uint8_t *seed)
{
  static atomic_int found;
  int err = atomic_load_explicit(&found, memory_order_relaxed) ? PPRF_OK : try_digest();
  if (err != PPRF_OK)
    return err;
  atomic_store_explicit(&found, 1, memory_order_relaxed);
  err = new_packed_key(key, depth, seed);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + (seed == NULL ? PRG_LIBCRYPTO_STACK : 0)));
  return err;
}

static int setup(pprf_key **key, unsigned depth, const uint8_t *seed, unsigned flags, unsigned store)
{
  pprf_key *k;
  if (store == PPRF_STORE_PACKED)
    return setup_packed(key, depth, seed);
  int err = try_digest();
  if (err == PPRF_OK)
    err = flags & PPRF_SHARED ? opt_shared_new(&k, depth) : new_key(&k, depth);
  if (err != PPRF_OK)
    return err;
  err = start_key(&k->store, seed);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  if (err != PPRF_OK)
    pprf_free(k);
  else
    *key = k;
  return err;
}

int pprf_setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES])
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX)
    return PPRF_ERR_RANGE;
  return setup(key, depth, seed, 0, PPRF_STORE_SLOTS);
}

int pprf_setup_with(pprf_key **key, const struct pprf_options *options)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  struct pprf_options o;
  if (options == NULL)
    return PPRF_ERR_NULL;
  if (!pprf_options_read(&o, options) || o.depth < PPRF_DEPTH_MIN || o.depth > PPRF_DEPTH_MAX)
    return PPRF_ERR_RANGE;
  return setup(key, o.depth, o.seed, o.flags, o.store);
}

size_t pprf_memory_bytes(const pprf_key *key)
{
  if (key == NULL || pprf_is_copy(key->maker))
    return 0;
  /* glibc keeps the size of a block in the 8 bytes before it */
  size_t own = key->store.shared ? shared_bytes(key)
                                 : malloc_usable_size((void *)(uintptr_t)key) + sizeof(size_t);
  return own + opt_store_resident_bytes(&key->store);
}

unsigned pprf_depth(const pprf_key *key)
{
  return key == NULL || pprf_is_copy(key->maker) ? 0 : depth_of(key);
}

int pprf_memory_locked(const pprf_key *key)
{
  return key != NULL && !pprf_is_copy(key->maker) && opt_store_locked(&key->store);
}

int pprf_export(const pprf_key *key, uint8_t *buf, size_t *len)
{
  if (key == NULL || len == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  size_t need = (size_t)file_bytes(depth_of(key), key->store.nodes), size = *len;
  *len = need;
  if (buf == NULL)
    return PPRF_OK;
  if (size < need)
    return PPRF_ERR_BUFFER;
  int err = encode(&key->store, buf, need);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  return err;
}

int pprf_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  unsigned depth;
  uint64_t nodes;
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (buf == NULL)
    return PPRF_ERR_NULL;
  if (!well_formed(buf, len, &depth, &nodes))
    return PPRF_ERR_FORMAT;
  int err = check_digest(buf, len);
  if (err == PPRF_OK)
    err = new_key(key, depth);
  if (err == PPRF_OK)
    err = decode(&(*key)->store, buf, nodes);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  if (err != PPRF_OK) {
    pprf_free(*key);
    *key = NULL;
  }
  return err;
}

void pprf_free(pprf_key *key)
{
  if (key == NULL)
    return;
  if (key->store.shared) { /* others may hold it: it is theirs to wipe */
    opt_shared_free(key);
    return;
  }
  if (pprf_is_copy(key->maker)) /* perhaps of a moment amid a puncture: nothing in it counts */
    opt_store_drop(&key->store);
  else
    opt_store_close(&key->store);
  free(key);
}
