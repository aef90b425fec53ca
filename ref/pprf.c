/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions above the proven core: argument checks, memory, conversion of bytes.
 *
 * Secrets: a public function holds none in its own frame. It checks arguments, calls a PPRF_WORK
 * function that does the work, and then wipes the stack below itself. */
#include "pprf.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bytes.h"
#include "codec.h"
#include "core.h"
#include "common/fork.h"
#include "key.h"
#include "common/options.h"
#include "common/prepare.h"
#include "version2.h"

static inline int is_copy(const pprf_key *key)
{
  return pprf_is_copy(key->maker);
}

_Static_assert(offsetof(struct pprf_key, family) == PPRF_FAMILY_AT, "in either width");

/* ---- memory ---- */

static size_t in_pages(size_t bytes)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* A private key with room for cap nodes. */
static int key_new(pprf_key **key, unsigned depth, size_t cap)
{
  pprf_key *k = malloc(sizeof *k);
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  *k = (pprf_key){.depth = depth,
                  .family = PRG_BARE,
                  .cap = cap,
                  .nodes = calloc(cap > 0 ? cap : 1, sizeof *k->nodes)};
  int err = k->nodes == NULL ? PPRF_ERR_NOMEM : pprf_process_claim(&k->maker);
  if (err != PPRF_OK) {
    free(k->nodes);
    free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

/* A shared key.  Several processes cannot grow one mapping together, so it has room for every
 * node that a key of this depth can have; unused pages cost nothing. */
static int key_new_shared(pprf_key **key, unsigned depth)
{
  uint64_t cap = (UINT64_C(1) << (depth - 1)) + REF_GROWTH(depth);
  if (cap > (SIZE_MAX / 2 - sizeof(pprf_key)) / sizeof(struct ref_node))
    return PPRF_ERR_NOMEM;
  size_t bytes = in_pages(sizeof(pprf_key) + (size_t)cap * sizeof(struct ref_node));
  pprf_key *k =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (k == MAP_FAILED)
    return PPRF_ERR_NOMEM;
  *k = (pprf_key){.depth = depth,
                  .family = PRG_BARE,
                  .cap = (size_t)cap,
                  .mapped = bytes,
                  .nodes = (struct ref_node *)(void *)(k + 1)};
  *key = k;
  return PPRF_OK;
}

/* Make room for the nodes that one puncture can add.  Never realloc: it may leave a copy of the
 * seeds. The key always has a complete array, so that a child forked at any moment can free its
 * copy. */
static PPRF_WORK int grow(pprf_key *key)
{
  size_t cap = 2 * key->cap + REF_GROWTH(key->depth);
  if (cap > CODEC_NODES_MAX)
    return PPRF_ERR_NOMEM; /* the key file cannot count more */
  struct ref_node *nodes = calloc(cap, sizeof *nodes), *before = key->nodes;
  if (nodes == NULL)
    return PPRF_ERR_NOMEM;
  ref_copy(nodes, 0, before, 0, key->count);
  key->nodes = nodes;
  atomic_thread_fence(memory_order_release);
  key->cap = cap;
  ref_wipe(before, 0, key->count);
  free(before);
  return PPRF_OK;
}

void ref_key_take(pprf_key *key, pprf_key *from)
{
  if (key->mapped == 0) {
    pprf_key t = *key;
    *key = *from;
    *from = t;
  } else { /* shared: other processes expect the nodes at their address; the family is the same */
    if (key->count > from->count)
      ref_wipe(key->nodes, from->count, key->count);
    ref_copy(key->nodes, 0, from->nodes, 0, from->count);
    key->count = from->count;
  }
}

/* ---- bytes ---- */

static void put_value(uint8_t out[PPRF_SEED_BYTES], struct pprf_seed *value)
{
  ref_put_bytes(out, 0, 8, value->lo);
  ref_put_bytes(out, 8, 8, value->hi);
#ifdef PPRF_WIDE
  ref_put_bytes(out, 16, 8, value->third);
  ref_put_bytes(out, 24, 8, value->fourth);
#endif
  ref_wipe_seed(value);
}

/* ---- the work ---- */

/* Set the seed to the given bytes, or to random ones if given is NULL. */
static int given_or_random(struct pprf_seed *seed, const uint8_t *given)
{
  if (given == NULL)
    return prg_random(seed);
  *seed = (struct pprf_seed){ref_get_bytes(given, 0, 8), ref_get_bytes(given, 8, 8)};
#ifdef PPRF_WIDE
  seed->third = ref_get_bytes(given, 16, 8);
  seed->fourth = ref_get_bytes(given, 24, 8);
#endif
  return PPRF_OK;
}

static PPRF_WORK int setup(pprf_key *key, const struct pprf_options *o)
{
  struct pprf_seed salt = {0, 0}, root = {0, 0};
  int err = pprf_has_salt(o->suite) ? given_or_random(&salt, o->salt) : PPRF_OK;
  if (err == PPRF_OK)
    err = given_or_random(&root, o->seed);
  key->family = (struct pprf_family){o->suite, salt.lo, salt.hi};
  if (err == PPRF_OK) {
    ref_setup(key->nodes, key->depth, root);
    key->count = 1;
  }
  ref_wipe_seed(&root);
  return err;
}

static PPRF_WORK int eval(const pprf_key *key, uint64_t leaf, uint8_t *out)
{
  struct pprf_seed value = {0, 0};
  int err = ref_eval(key->nodes, key->count, key->depth, key->family, leaf, &value);
  put_value(out, &value);
  return err;
}

/* out is NULL if the caller does not want the value. */
static PPRF_WORK int eval_punct(pprf_key *key, uint64_t leaf, uint8_t *out)
{
  struct pprf_seed value = {0, 0};
  int err =
    ref_eval_punct(key->nodes, &key->count, key->cap, key->depth, key->family, leaf, &value);
  if (err == PPRF_ERR_BUFFER) {
    err = grow(key);
    if (err == PPRF_OK)
      err =
        ref_eval_punct(key->nodes, &key->count, key->cap, key->depth, key->family, leaf, &value);
  }
  if (out != NULL)
    put_value(out, &value);
  ref_wipe_seed(&value);
  return err;
}

static PPRF_WORK int punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  int err =
    ref_punct_range(key->nodes, &key->count, key->cap, key->depth, key->family, first, last);
  if (err == PPRF_ERR_BUFFER) {
    err = grow(key);
    if (err == PPRF_OK)
      err =
        ref_punct_range(key->nodes, &key->count, key->cap, key->depth, key->family, first, last);
  }
  return err;
}

/* Number of bytes by which this key's file exceeds the same nodes in version 1. */
static size_t more_bytes(const pprf_key *key)
{
  return pprf_in_version2(key->family.suite, key->depth) ? VERSION2_MORE_BYTES : 0;
}

static PPRF_WORK int encode(const pprf_key *key, uint8_t *buf, size_t bytes)
{
  const size_t more = more_bytes(key);
  int err = ref_encode(buf + more, key->nodes, key->count, key->depth);
  if (err == PPRF_OK && more != 0)
    return ref_to_version2(buf, bytes, key->family);
  if (err != PPRF_OK)
    explicit_bzero(buf, more); /* ref_encode zeroed the rest */
  return err;
}

static PPRF_WORK int decode(pprf_key *key, size_t n, const uint8_t *buf)
{
  int err = ref_decode(key->nodes, n, key->depth, buf);
  if (err == PPRF_OK)
    key->count = n;
  return err;
}

/* ---- the API ---- */

/* Make a key from options that were validated; *key is NULL on error. */
static int make_key(pprf_key **key, const struct pprf_options *o)
{
  pprf_key *k;
  *key = NULL;
  int err = pprf_prepare(o->suite);
  if (err == PPRF_OK)
    err = o->flags & PPRF_SHARED ? key_new_shared(&k, o->depth) : key_new(&k, o->depth, 1);
  if (err != PPRF_OK)
    return err;
  err = setup(k, o);
  prg_wipe(prg_wipe_plan(OWN_STACK + PRG_LIBCRYPTO_STACK));
  if (err != PPRF_OK) {
    pprf_free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

#ifdef PPRF_WIDE
int ref_wide_key_setup(pprf_key **key, const struct pprf_options *options)
{
  return make_key(key, options);
}
#else
int pprf_setup_with(pprf_key **key, const struct pprf_options *options)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (options == NULL)
    return PPRF_ERR_NULL;
  struct pprf_options o;
  int err = pprf_options_read(&o, options);
  if (err != PPRF_OK)
    return err;
  if (!pprf_suite_is_wide(o.suite))
    return make_key(key, &o);
  pprf_wide_key *wide;
  err = ref_wide_key_setup(&wide, &o);
  *key = PPRF_KEY_OF_WIDE(wide);
  return err;
}

int pprf_setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES])
{
  struct pprf_options options = {.size = sizeof options, .seed = seed, .depth = depth};
  return pprf_setup_with(key, &options);
}
#endif

int pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  PPRF_IF_WIDE(key, return ref_wide_key_eval(wide, leaf, PPRF_LONGER(out));)
  if (out == NULL)
    return PPRF_ERR_NULL;
  memset(out, 0, PPRF_SEED_BYTES);
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (is_copy(key))
    return PPRF_ERR_FORKED;
  int err = eval(key, leaf, out);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  PPRF_IF_WIDE(key, return ref_wide_key_eval_punct(wide, leaf, PPRF_LONGER(out));)
  if (out == NULL)
    return PPRF_ERR_NULL;
  memset(out, 0, PPRF_SEED_BYTES);
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (is_copy(key))
    return PPRF_ERR_FORKED;
  int err = eval_punct(key, leaf, out);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

int pprf_punct(pprf_key *key, uint64_t leaf)
{
  PPRF_IF_WIDE(key, return ref_wide_key_punct(wide, leaf);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (is_copy(key))
    return PPRF_ERR_FORKED;
  int err = eval_punct(key, leaf, NULL);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  PPRF_IF_WIDE(key, return ref_wide_key_punct_range(wide, first, last);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (is_copy(key))
    return PPRF_ERR_FORKED;
  int err = punct_range(key, first, last);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

/* Write the leaves first .. last of a key to a private one, *sub, which is made here. */
static PPRF_WORK int delegate(const pprf_key *key, uint64_t first, uint64_t last, pprf_key **sub)
{
  pprf_key *k;
  size_t room;
  int err =
    ref_delegate(key->nodes, key->count, key->depth, key->family, first, last, NULL, 0, &room);
  if (err != PPRF_ERR_BUFFER)
    return err;
  err = key_new(&k, key->depth, room);
  if (err != PPRF_OK)
    return err;
  k->family = key->family;
  err = ref_delegate(key->nodes, key->count, key->depth, key->family, first, last, k->nodes, k->cap,
                     &k->count);
  if (err != PPRF_OK)
    pprf_free(k);
  else
    *sub = k;
  return err;
}

#ifndef PPRF_WIDE
static int delegate_wide(const pprf_wide_key *key, uint64_t first, uint64_t last, pprf_key **sub)
{
  pprf_wide_key *part;
  int err = ref_wide_key_delegate(key, first, last, &part);
  *sub = PPRF_KEY_OF_WIDE(part);
  return err;
}
#endif

int pprf_delegate(const pprf_key *key, uint64_t first, uint64_t last, pprf_key **sub)
{
  if (sub == NULL)
    return PPRF_ERR_NULL;
  *sub = NULL;
  PPRF_IF_WIDE(key, return delegate_wide(wide, first, last, sub);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (is_copy(key))
    return PPRF_ERR_FORKED;
  int err = delegate(key, first, last, sub);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

size_t pprf_node_count(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return ref_wide_key_node_count(wide);)
  return key == NULL || is_copy(key) ? 0 : key->count;
}

/* Number of bytes of the mapping that are backed by memory. */
static size_t resident(const pprf_key *key)
{
  unsigned char there[4096];
  size_t bytes = 0, page = (size_t)sysconf(_SC_PAGESIZE), step = sizeof there * page;
  for (size_t at = 0; at < key->mapped; at += step) {
    size_t len = key->mapped - at < step ? key->mapped - at : step;
    if (mincore((unsigned char *)(uintptr_t)key + at, len, there) != 0)
      return key->mapped;
    for (size_t i = 0; i < len / page; i++)
      bytes += (there[i] & 1u) * page;
  }
  return bytes;
}

/* malloc_usable_size leaves out the 8 bytes in front of each block. */
size_t pprf_memory_bytes(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return ref_wide_key_memory_bytes(wide);)
  if (key == NULL || is_copy(key))
    return 0;
  if (key->mapped != 0)
    return resident(key);
  return malloc_usable_size((void *)(uintptr_t)key) + malloc_usable_size(key->nodes) + 2 * 8;
}

unsigned pprf_depth(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return ref_wide_key_depth(wide);)
  return key == NULL || is_copy(key) ? 0 : key->depth;
}

unsigned pprf_suite(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return ref_wide_key_suite(wide);)
  return key == NULL || is_copy(key) ? 0 : key->family.suite;
}

size_t pprf_value_bytes(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return ref_wide_key_value_bytes(wide);)
  return key == NULL || is_copy(key) ? 0 : PPRF_SEED_BYTES;
}

#ifndef PPRF_WIDE
int pprf_memory_locked(const pprf_key *key)
{
  (void)key;
  return 0;
}
#endif

int pprf_export(const pprf_key *key, uint8_t *buf, size_t *len)
{
  PPRF_IF_WIDE(key, return ref_wide_key_export(wide, buf, len);)
  if (key == NULL || len == NULL)
    return PPRF_ERR_NULL;
  if (is_copy(key))
    return PPRF_ERR_FORKED;
  size_t room = *len;
  *len = ref_encoded_bytes(key->depth, key->count) + more_bytes(key);
  if (buf == NULL)
    return PPRF_OK;
  if (room < *len)
    return PPRF_ERR_BUFFER;
  int err = encode(key, buf, *len);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

/* Import a version 1 file, or the version 1 image of a version 2 file, whose header gave depth
 * and n. */
static int import_nodes(pprf_key **key, const uint8_t *buf, size_t len, unsigned depth, size_t n)
{
  if (n > len / CODEC_RECORD_BYTES(depth))
    return PPRF_ERR_FORMAT; /* with a 32-bit size_t the length of so many nodes wraps */
  pprf_key *k;
  int err = key_new(&k, depth, n);
  if (err != PPRF_OK)
    return err;
  err = decode(k, n, buf);
  if (err != PPRF_OK) {
    pprf_free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

/* ref_decode_header for the version 1 image of a version 2 file, whose depth may exceed version
 * 1's limit. */
static int decode_image_header(const uint8_t *image, size_t len, unsigned *depth, size_t *n)
{
  if (image[9] <= CODEC_DEPTH_MAX)
    return ref_decode_header(image, len, depth, n);
  *depth = image[9];
  *n = (size_t)ref_get_bytes(image, 12, 4); /* less than 2^32, so not more than 2^(depth - 1) */
  return len == ref_encoded_bytes(*depth, *n) ? PPRF_OK : PPRF_ERR_FORMAT;
}

/* suites: the accepted suites, as bits. */
static PPRF_WORK int import_version2(pprf_key **key, const uint8_t *buf, size_t len,
                                     uint64_t suites)
{
  struct pprf_family family;
  uint8_t *image;
  unsigned depth;
  size_t bytes, n;
  int err = ref_from_version2(buf, len, suites, &image, &bytes, &family);
  if (err != PPRF_OK)
    return err;
  err = decode_image_header(image, bytes, &depth, &n);
  if (err == PPRF_OK)
    err = import_nodes(key, image, bytes, depth, n);
  if (err == PPRF_OK)
    (*key)->family = family;
  explicit_bzero(image, bytes);
  free(image);
  return err;
}

#ifdef PPRF_WIDE
int ref_wide_key_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  *key = NULL;
  int err = import_version2(key, buf, len, PPRF_SUITES_32_BYTES);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}
#else
static int import_version1(pprf_key **key, const uint8_t *buf, size_t len)
{
  unsigned depth;
  size_t n;
  int err = ref_decode_header(buf, len, &depth, &n);
  return err == PPRF_OK ? import_nodes(key, buf, len, depth, n) : err;
}

/* Import a key of one of the accepted suites. */
static int import_among(pprf_key **key, const uint8_t *buf, size_t len, uint64_t suites)
{
  unsigned suite, version;
  int err;
  if (!ref_file_begins(buf, len, &suite, &version))
    return PPRF_ERR_FORMAT;
  if (!pprf_is_among(suites, suite))
    return PPRF_ERR_SUITE;
  err = pprf_prepare(suite);
  if (err != PPRF_OK)
    return err;
  if (pprf_suite_is_wide(suite)) {
    pprf_wide_key *wide;
    err = ref_wide_key_import(&wide, buf, len);
    *key = PPRF_KEY_OF_WIDE(wide);
    return err;
  }
  err = version == 2 ? import_version2(key, buf, len, suites & PPRF_SUITES_16_BYTES)
                     : import_version1(key, buf, len);
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

int pprf_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  return buf == NULL ? PPRF_ERR_NULL : import_among(key, buf, len, PPRF_SUITES_16_BYTES);
}

int pprf_import_with(pprf_key **key, const uint8_t *buf, size_t len,
                     const struct pprf_import_options *options)
{
  struct pprf_import_options o;
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (buf == NULL || options == NULL)
    return PPRF_ERR_NULL;
  int err = pprf_import_options_read(&o, options);
  if (err == PPRF_OK)
    err = import_among(key, buf, len, o.suites);
  if (err == PPRF_OK && o.store == PPRF_STORE_SLOTS && pprf_depth(*key) > PPRF_SLOTS_DEPTH_MAX) {
    pprf_free(*key); /* ref has one store, but refuses what opt would refuse */
    *key = NULL;
    err = PPRF_ERR_RANGE;
  }
  return err;
}
#endif

void pprf_free(pprf_key *key)
{
  PPRF_IF_WIDE(key, ref_wide_key_free(wide); return;)
  if (key == NULL)
    return;
  if (key->mapped != 0) { /* others may use it: the kernel frees it after the last unmapping */
    (void)munmap(key, key->mapped);
    return;
  }
  explicit_bzero(key->nodes, key->cap * sizeof *key->nodes); /* the count may be stale after fork */
  free(key->nodes);
  explicit_bzero(key, sizeof *key);
  free(key);
}
