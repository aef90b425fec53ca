/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as a whole: set-up, size, export, import, delegation and freeing.  core.c evaluates and
 * punctures. */
#include "pprf.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "key.h"
#include "common/options.h"
#include "common/prepare.h"
#include "shared.h"

static const char magic[7] = {'P', 'P', 'R', 'F', 'K', 'E', 'Y'};

_Static_assert(offsetof(struct pprf_key, family) == PPRF_FAMILY_AT, "in either width");

/* ---- the key file ---- */

static unsigned header_bytes(unsigned suite, unsigned depth)
{
  return pprf_in_version2(suite, depth) ? 36 : 16;
}
#define HEADER_BYTES_MAX 36

/* Length of a node's in-order id in a file. */
static unsigned id_bytes(unsigned depth)
{
  return depth / 8 + 1;
}

static uint64_t file_bytes(unsigned suite, unsigned depth, uint64_t nodes)
{
  return header_bytes(suite, depth) + nodes * (id_bytes(depth) + PPRF_SEED_BYTES) + DIGEST_BYTES;
}

static void encode_header(const pprf_key *key, uint8_t *out)
{
  int version2 = pprf_in_version2(key->family.suite, depth_of(key));
  memcpy(out, magic, sizeof magic);
  out[7] = version2 ? 2 : 1;
  out[8] = (uint8_t)key->family.suite;
  out[9] = (uint8_t)depth_of(key);
  out[10] = out[11] = 0;
  store(out + 12, opt_store_nodes(&key->store), version2 ? 8 : 4);
  if (version2) {
    store(out + 20, key->family.salt_lo, 8);
    store(out + 28, key->family.salt_hi, 8);
  }
}

/* Write everything before the digest.  An id is written as 8 bytes; the seed then overwrites
 * those beyond its length. */
static void encode_nodes(const pprf_key *key, uint8_t *out)
{
  struct opt_reader reader = opt_store_reader(&key->store);
  struct opt_entry e = {.seed = {0, 0}};
  unsigned width = id_bytes(depth_of(key));
  encode_header(key, out);
  out += header_bytes(key->family.suite, depth_of(key));
  while (opt_store_read(&reader, &e)) {
    store(out, 2 * e.node.start + (UINT64_C(1) << e.node.height), 8);
    store_seed(out + width, e.seed);
    out += width + PPRF_SEED_BYTES;
  }
  explicit_bzero(&e, sizeof e);
}

/* The node with in-order id 0 < id < 2^(depth + 1); at depth 63 that is every id but 0. */
static struct opt_node node_of_id(uint64_t id)
{
  return (struct opt_node){.start = (id & (id - 1)) >> 1, .height = opt_lsb(id)};
}

/* Contents of a file's header. */
struct header {
  struct pprf_family family;
  unsigned depth;
  uint64_t nodes;
};

/* Reads the nodes of a new key one after the other: the records of a well-formed file, or the nodes
 * of another key's store that end after leaf `end`. */
struct reader {
  struct header h;       /* h.nodes: number of nodes left */
  const uint8_t *record; /* next record; NULL: the nodes are in a store */
  struct opt_reader store;
  unsigned width, height; /* bytes of an id in a file; height of the last node read */
  uint64_t end;           /* end of the last node read */
};

static struct reader first_record(const uint8_t *buf, const struct header *h)
{
  return (struct reader){
    .h = *h, .record = buf + header_bytes(h->family.suite, h->depth), .width = id_bytes(h->depth)};
}

/* Read the next record's node; its seed then lies just before r->record.  Returns 0 at the end,
 * or if encode would not have written this node after the previous ones: then r->h.nodes is not
 * 0. */
static int next_node(struct reader *r, struct opt_node *n)
{
  if (r->h.nodes == 0)
    return 0;
  uint64_t id = load_once(r->record, r->width);
  if (id == 0 || id >> r->h.depth > 1)
    return 0;
  *n = node_of_id(id);
  if (n->start < r->end)
    return 0;
  if (r->end > 0 && n->start == r->end && n->height == r->height &&
      (n->start >> r->height & 1) == 1)
    return 0; /* two siblings: the encoder would have written their parent */
  r->end = opt_node_end(*n);
  r->height = n->height;
  r->record += r->width + PPRF_SEED_BYTES;
  r->h.nodes--;
  return 1;
}

/* Read the next node of a store. */
static int next_in_store(struct reader *r, struct opt_entry *e)
{
  if (r->h.nodes == 0)
    return 0;
  do
    if (!opt_store_read(&r->store, e))
      return 0;
  while (opt_node_end(e->node) <= r->end);
  r->end = opt_node_end(e->node);
  r->h.nodes--;
  return 1;
}

/* Read the next node with its seed: an opt_packed_source. */
static int next_entry(void *reader, struct opt_entry *e)
{
  struct reader *r = reader;
  if (r->record == NULL)
    return next_in_store(r, e);
  if (!next_node(r, &e->node))
    return 0;
  e->seed = load_seed(r->record - PPRF_SEED_BYTES);
  return 1;
}

/* Read a header, each byte once; suites: the accepted ones.
 * @retval PPRF_OK, PPRF_ERR_FORMAT, or PPRF_ERR_SUITE if the suite is not accepted. */
static int decode_header(const uint8_t *buf, size_t len, uint64_t suites, struct header *h)
{
  uint8_t bytes[HEADER_BYTES_MAX] = {0};
  if (len < 16 + DIGEST_BYTES)
    return PPRF_ERR_FORMAT;
  for (unsigned i = 0; i < 16; i++)
    bytes[i] = (uint8_t)load_once(buf + i, 1);
  unsigned suite = bytes[8], depth = bytes[9];
  int version2 = pprf_in_version2(suite, depth);
  if (memcmp(bytes, magic, sizeof magic) != 0 || bytes[7] < 1 || bytes[7] > 2 ||
      depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX || bytes[10] != 0 || bytes[11] != 0 ||
      (bytes[7] == 2) != version2)
    return PPRF_ERR_FORMAT;
  if (len < header_bytes(suite, depth) + DIGEST_BYTES)
    return PPRF_ERR_FORMAT;
  if (!pprf_is_among(suites, suite))
    return PPRF_ERR_SUITE;
  for (unsigned i = 16; i < header_bytes(suite, depth); i++)
    bytes[i] = (uint8_t)load_once(buf + i, 1);
  *h = (struct header){
    {suite, load(bytes + 20, 8), load(bytes + 28, 8)}, depth, load(bytes + 12, version2 ? 8 : 4)};
  if (!pprf_has_salt(suite) && (h->family.salt_lo | h->family.salt_hi) != 0)
    return PPRF_ERR_FORMAT;
  return PPRF_OK;
}

/* Whether the ids are those that encode would have written after this header; ignores the
 * digest. */
static int well_formed(const uint8_t *buf, size_t len, const struct header *h)
{
  struct opt_node n;
  if (h->nodes > UINT64_C(1) << (h->depth - 1) || h->nodes > len / PPRF_SEED_BYTES ||
      len != file_bytes(h->family.suite, h->depth, h->nodes))
    return 0;
  struct reader r = first_record(buf, h);
  while (next_node(&r, &n))
    ;
  return r.h.nodes == 0;
}

/* Load the nodes and the gaps between them.  Each node of a file is checked again, because the
 * bytes are the caller's and may be in memory that others change.  On error the store lacks nodes,
 * but its invariants hold. */
static PPRF_WORK int decode(struct opt_slots *s, const struct reader *from)
{
  struct reader r = *from;
  struct opt_entry e = {.seed = {0, 0}};
  uint64_t end = 0;
  while (next_entry(&r, &e)) {
    if (e.node.start > end)
      opt_slots_load_gap(s, end, e.node.start - 1);
    opt_slots_load_node(s, &e);
    end = r.end;
  }
  if (end >> r.h.depth == 0)
    opt_slots_load_gap(s, end, (UINT64_C(1) << r.h.depth) - 1);
  explicit_bzero(&e, sizeof e);
  return r.h.nodes == 0 ? PPRF_OK : PPRF_ERR_FORMAT;
}

/* Load the nodes into a packed store, which derives the gaps; on error no store is left. */
static PPRF_WORK int decode_packed(pprf_key *key, const struct reader *from)
{
  struct reader r = *from;
  int err = opt_store_load_packed(&key->store, r.h.depth, r.h.nodes,
                                  (struct opt_packed *)(void *)key->small, next_entry, &r);
  if (err == PPRF_OK && r.h.nodes != 0) {
    opt_store_close(&key->store);
    err = PPRF_ERR_FORMAT;
  }
  return err;
}

static int same_digest(const uint8_t *a, const uint8_t *b)
{
  uint8_t d = 0;
  for (unsigned i = 0; i < DIGEST_BYTES; i++)
    d |= a[i] ^ b[i];
  return d == 0;
}

/* ---- the work ---- */

/* Write the whole file of `bytes` bytes. */
static PPRF_WORK int encode(const pprf_key *key, uint8_t *buf, size_t bytes)
{
  encode_nodes(key, buf);
  int err = prg_digest(buf, bytes - DIGEST_BYTES, buf + bytes - DIGEST_BYTES);
  if (err != PPRF_OK)
    explicit_bzero(buf, bytes);
  return err;
}

/* Compare the digest at the end with that of all bytes before it: the first step to read the
 * seeds. */
static PPRF_WORK int check_digest(const uint8_t *buf, size_t len, const struct header *h)
{
  uint8_t digest[DIGEST_BYTES];
  int err = pprf_prepare(h->family.suite);
  if (err == PPRF_OK)
    err = prg_digest(buf, len - DIGEST_BYTES, digest);
  return err == PPRF_OK && !same_digest(digest, buf + len - DIGEST_BYTES) ? PPRF_ERR_FORMAT : err;
}

/* Set the root's seed from the given bytes, or at random if seed is NULL. */
static inline int root_of(const uint8_t *seed, struct pprf_seed *root)
{
  if (seed == NULL)
    return prg_random(root);
  *root = load_seed(seed);
  return PPRF_OK;
}

/* Start a fresh key with a packed store, in a zeroed key; the store lies after the key. */
static PPRF_WORK int start_packed(pprf_key *key, unsigned depth, const uint8_t *seed)
{
  struct pprf_seed root = {0, 0};
  int err = root_of(seed, &root);
  if (err == PPRF_OK)
    err = opt_store_open_packed(&key->store, depth, (struct opt_packed *)(void *)key->small, &root);
  wipe_seed(&root);
  return err;
}

/* Start a fresh key in a store that has just been opened, or that is in any state. */
static PPRF_WORK int start_key(struct opt_slots *s, const uint8_t *seed, int just_opened)
{
  struct pprf_seed root = {0, 0};
  int err = root_of(seed, &root);
  if (err == PPRF_OK && just_opened)
    opt_slots_set_up(s, &root);
  else if (err == PPRF_OK)
    opt_slots_start(s, &root);
  wipe_seed(&root);
  return err;
}

/* Set the family of a new key; a salt that is not given is random.  The suite with 32-byte seeds
 * has none. */
static PPRF_WORK int new_family(struct pprf_family *family, unsigned suite, const uint8_t *salt)
{
  struct pprf_seed drawn = {0, 0};
  int err = PPRF_OK;
  if (salt != NULL)
    drawn = load_seed(salt);
  else if (pprf_has_salt(suite))
    err = prg_random(&drawn);
  *family = (struct pprf_family){suite, drawn.lo, drawn.hi};
  return err;
}

/* ---- keys in memory ---- */

/* Allocate a key with empty pair slots.  Not inlined, like new_shared: clang's loops over the levels
 * take 3 kB of frame at -O3 -march=native, which would become part of an API function's frame,
 * which nobody wipes. */
static NOINLINE int new_key(pprf_key **key, unsigned depth)
{
  pprf_key *k = calloc(1, sizeof *k + opt_slots_small_bytes(depth));
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  k->family = PRG_BARE;
  int err = pprf_process_claim(&k->maker);
  if (err == PPRF_OK)
    err = opt_slots_open(&k->store.slots, depth, k->small, 0);
  if (err != PPRF_OK) {
    free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

/* Allocate a key with a packed store: a fresh key, or if o is NULL one of these nodes. */
static NOINLINE int new_packed_key(pprf_key **key, const struct pprf_options *o,
                                   const struct reader *from)
{
  pprf_key *k = calloc(1, sizeof *k + sizeof(struct opt_packed));
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  int err = pprf_process_claim(&k->maker);
  if (err == PPRF_OK && o != NULL) {
    err = new_family(&k->family, o->suite, o->salt);
    if (err == PPRF_OK)
      err = start_packed(k, o->depth, o->seed);
  } else if (err == PPRF_OK) {
    k->family = from->h.family;
    err = decode_packed(k, from);
  }
  if (err != PPRF_OK) {
    free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

/* Bytes of the mapping that holds a shared key itself, without its slots. */
static size_t shared_bytes(const pprf_key *key)
{
  size_t page = key->store.slots.page;
  return (sizeof *key + opt_slots_small_bytes(depth_of(key)) + page - 1) / page * page;
}

/* Allocate a key in shared memory with empty pair slots.  They are not zeroed, because the
 * mapping is new; zeroing would write all of it where locked pages cannot be removed, as under
 * AddressSanitizer, whose munlock does nothing. */
static NOINLINE int new_shared(pprf_key **key, unsigned depth)
{
  size_t bytes = sizeof **key + opt_slots_small_bytes(depth);
  *key = NULL;
  pprf_key *k = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (k == MAP_FAILED)
    return PPRF_ERR_NOMEM;
  int err = opt_slots_open(&k->store.slots, depth, k->small, 1);
  if (err != PPRF_OK) {
    (void)munmap(k, bytes);
    return err;
  }
  k->family = PRG_BARE;
  *key = k;
  return PPRF_OK;
}

#ifndef PPRF_WIDE /* tickets use 16-byte seeds */
int opt_shared_new(pprf_key **key, unsigned depth)
{
  int err = new_shared(key, depth);
  if (err == PPRF_OK)
    opt_slots_load_gap(&(*key)->store.slots, 0, (UINT64_C(1) << depth) - 1);
  return err;
}

int opt_shared_start(pprf_key *key)
{
  int err = start_key(&key->store.slots, NULL, 0);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  return err;
}

void opt_shared_clear(pprf_key *key)
{
  opt_slots_clear(&key->store.slots);
}
#endif

void opt_shared_free(pprf_key *key)
{
  size_t bytes = shared_bytes(key);
  (void)munmap(key->store.slots.slot, key->store.slots.mapped);
  (void)munmap(key, bytes);
}

/* ---- the API ---- */

/* Set up a packed key, which takes a few hundred nanoseconds. */
static int setup_packed(pprf_key **key, const struct pprf_options *o)
{
  int random = o->seed == NULL || (o->salt == NULL && pprf_has_salt(o->suite));
  int err = new_packed_key(key, o, NULL);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + (random ? PRG_LIBCRYPTO_STACK : 0)));
  return err;
}

static int setup(pprf_key **key, const struct pprf_options *o)
{
  pprf_key *k;
  int err = pprf_prepare(o->suite);
  if (err != PPRF_OK)
    return err;
  if (o->store != PPRF_STORE_SLOTS && !(o->flags & PPRF_SHARED))
    return setup_packed(key, o);
  err = o->flags & PPRF_SHARED ? new_shared(&k, o->depth) : new_key(&k, o->depth);
  if (err != PPRF_OK)
    return err;
  err = new_family(&k->family, o->suite, o->salt);
  if (err == PPRF_OK)
    err = start_key(&k->store.slots, o->seed, 1);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  if (err != PPRF_OK)
    pprf_free(k);
  else
    *key = k;
  return err;
}

#ifdef PPRF_WIDE
int opt_wide_key_setup(pprf_key **key, const struct pprf_options *options)
{
  return setup(key, options);
}
#else
int pprf_setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES])
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX)
    return PPRF_ERR_RANGE;
  struct pprf_options o = {.seed = seed, .depth = depth, .suite = pprf_default_suite(seed)};
  return setup(key, &o);
}

int pprf_setup_with(pprf_key **key, const struct pprf_options *options)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  struct pprf_options o;
  if (options == NULL)
    return PPRF_ERR_NULL;
  int err = pprf_options_read(&o, options);
  if (err != PPRF_OK || !pprf_suite_is_wide(o.suite))
    return err == PPRF_OK ? setup(key, &o) : err;
  pprf_wide_key *wide;
  err = opt_wide_key_setup(&wide, &o);
  if (err == PPRF_OK)
    *key = PPRF_KEY_OF_WIDE(wide);
  return err;
}
#endif

size_t pprf_memory_bytes(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_memory_bytes(wide);)
  if (key == NULL || pprf_is_copy(key->maker))
    return 0;
  /* glibc keeps the size of a block in the 8 bytes before it */
  size_t own = key->store.slots.shared
                 ? shared_bytes(key)
                 : malloc_usable_size((void *)(uintptr_t)key) + sizeof(size_t);
  return own + opt_store_resident_bytes(&key->store);
}

unsigned pprf_depth(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_depth(wide);)
  return key == NULL || pprf_is_copy(key->maker) ? 0 : depth_of(key);
}

unsigned pprf_suite(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_suite(wide);)
  return key == NULL || pprf_is_copy(key->maker) ? 0 : key->family.suite;
}

size_t pprf_value_bytes(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_value_bytes(wide);)
  return key == NULL || pprf_is_copy(key->maker) ? 0 : PPRF_SEED_BYTES;
}

int pprf_memory_locked(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_memory_locked(wide);)
  return key != NULL && !pprf_is_copy(key->maker) && opt_store_locked(&key->store);
}

int pprf_export(const pprf_key *key, uint8_t *buf, size_t *len)
{
  PPRF_IF_WIDE(key, return opt_wide_key_export(wide, buf, len);)
  if (key == NULL || len == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  size_t need = (size_t)file_bytes(key->family.suite, depth_of(key), opt_store_nodes(&key->store)),
         size = *len;
  *len = need;
  if (buf == NULL)
    return PPRF_OK;
  if (size < need)
    return PPRF_ERR_BUFFER;
  int err = encode(key, buf, need);
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  return err;
}

/* Load the nodes into a key with empty pair slots. */
static int fill(pprf_key *key, const struct reader *from)
{
  key->family = from->h.family;
  return decode(&key->store.slots, from);
}

/* Make a key with pair slots. */
static int load_slots(pprf_key **key, const struct reader *from)
{
  int err = new_key(key, from->h.depth);
  return err == PPRF_OK ? fill(*key, from) : err;
}

/* Load the nodes into a new key. */
static int load_key(pprf_key **key, const struct reader *from, unsigned store)
{
  return store == PPRF_STORE_SLOTS ? load_slots(key, from) : new_packed_key(key, NULL, from);
}

/* Wipe the stack after a key was loaded; *key is NULL after an error. */
static int end_load(pprf_key **key, int err)
{
  prg_wipe(prg_wipe_plan(PUNCT_STACK + PRG_LIBCRYPTO_STACK));
  if (err != PPRF_OK) {
    pprf_free(*key);
    *key = NULL;
  }
  return err;
}

/* Check the nodes after a header and load them.  Not inlined, so that its frame is wiped too. */
static NOINLINE int read_file(pprf_key **key, const uint8_t *buf, size_t len,
                              const struct header *h, unsigned store)
{
  if (!well_formed(buf, len, h))
    return PPRF_ERR_FORMAT;
  int err = check_digest(buf, len, h);
  if (err == PPRF_OK && h->depth > PPRF_SLOTS_DEPTH_MAX && store == PPRF_STORE_SLOTS)
    err = PPRF_ERR_RANGE;
  const struct reader from = first_record(buf, h);
  return err == PPRF_OK ? load_key(key, &from, store) : err;
}

/* Import the nodes after a header.  Not inlined, as new_key is not: the frames above the wipe hold
 * no secret, but residue.c checks that they are small. */
static NOINLINE int import(pprf_key **key, const uint8_t *buf, size_t len, const struct header *h,
                           unsigned store)
{
  return end_load(key, read_file(key, buf, len, h, store));
}

#ifdef PPRF_WIDE
int opt_wide_key_import(pprf_key **key, const uint8_t *buf, size_t len, unsigned store)
{
  struct header h;
  *key = NULL;
  int err = decode_header(buf, len, PPRF_SUITES_32_BYTES, &h);
  return err == PPRF_OK ? import(key, buf, len, &h, store) : err;
}
#else
/* Import a key of one of the suites that the options accept. */
static int import_among(pprf_key **key, const uint8_t *buf, size_t len,
                        const struct pprf_import_options *o)
{
  struct header h;
  int err = decode_header(buf, len, o->suites, &h);
  if (err != PPRF_OK || !pprf_suite_is_wide(h.family.suite))
    return err == PPRF_OK ? import(key, buf, len, &h, o->store) : err;
  pprf_wide_key *wide;
  err = opt_wide_key_import(&wide, buf, len, o->store);
  if (err == PPRF_OK)
    *key = PPRF_KEY_OF_WIDE(wide);
  return err;
}

int pprf_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  return buf == NULL ? PPRF_ERR_NULL : import_among(key, buf, len, &IMPORT_DEFAULTS);
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
  return err == PPRF_OK ? import_among(key, buf, len, &o) : err;
}
#endif

/* A reader before the node of a store that covers a leaf, or else before the next one; of a packed
 * store it begins with the leaf's page. */
static struct opt_reader reader_at(const struct opt_store *s, uint64_t leaf)
{
  struct opt_reader r = {.store = s, .slots = {.slots = &s->slots, .at = leaf}};
  if (s->packed != NULL) {
    r.cursor.page = opt_page_of(s->packed, leaf);
    r.cursor.at.start = s->packed->first[r.cursor.page];
  }
  return r;
}

/* Number of nodes that meet leaves first .. last. */
static PPRF_WORK uint64_t nodes_in(const struct opt_store *s, uint64_t first, uint64_t last)
{
  struct reader r = {.h.nodes = UINT64_MAX, .store = reader_at(s, first), .end = first};
  struct opt_entry e = {.seed = {0, 0}};
  uint64_t nodes = 0;
  while (next_entry(&r, &e) && e.node.start <= last)
    nodes++;
  explicit_bzero(&e, sizeof e);
  return nodes;
}

#ifndef PPRF_WIDE
static int delegate_wide(const pprf_wide_key *key, uint64_t first, uint64_t last, pprf_key **sub)
{
  pprf_wide_key *part;
  int err = opt_wide_key_delegate(key, first, last, &part);
  *sub = PPRF_KEY_OF_WIDE(part);
  return err;
}
#endif

/* The nodes that meet the range become a new key, which is punctured outside of the range. */
int pprf_delegate(const pprf_key *key, uint64_t first, uint64_t last, pprf_key **sub)
{
  if (sub == NULL)
    return PPRF_ERR_NULL;
  *sub = NULL;
  PPRF_IF_WIDE(key, return delegate_wide(wide, first, last, sub);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  if (first > last || last >> depth_of(key) != 0)
    return PPRF_ERR_RANGE;
  const struct reader from = {.h = {key->family, depth_of(key), nodes_in(&key->store, first, last)},
                              .store = reader_at(&key->store, first),
                              .end = first};
  prg_wipe(prg_wipe_plan(PUNCT_STACK));
  if (from.h.nodes == 0)
    return PPRF_ERR_PUNCTURED;
  int err = end_load(sub, load_key(sub, &from, PPRF_STORE_DEFAULT));
  if (err == PPRF_OK)
    err = opt_puncture_outside(*sub, first, last);
  if (err != PPRF_OK) {
    pprf_free(*sub);
    *sub = NULL;
  }
  return err;
}

void pprf_free(pprf_key *key)
{
  PPRF_IF_WIDE(key, opt_wide_key_free(wide); return;)
  if (key == NULL)
    return;
  if (key->store.slots.shared) { /* others may hold it: it is theirs to wipe */
    opt_shared_free(key);
    return;
  }
  if (pprf_is_copy(key->maker)) /* perhaps copied during a puncture: only free it */
    opt_store_drop(&key->store);
  else
    opt_store_close(&key->store);
  free(key);
}
