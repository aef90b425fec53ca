/* SPDX-License-Identifier: Apache-2.0 */
/* What memory contains when it is released. The test remembers every seed that the PRG reads or
 * makes (masked, so that it is not in the test's own memory). No freed block, no released page and
 * no used stack may contain one, after success and after a failure at each call of the PRG, the
 * digest and the allocator in turn. Also tested: memory_bytes against what the allocator was asked
 * for, how often ref's array moves, and the kernel's view of the pages of opt's keys.
 *
 * The calls are caught with the linker's --wrap (rules.mk).  Operations run on their own stack
 * (swapcontext), which is searched after they return. */
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../../opt/key.h"
#include "../../prg/lanes.h"
#include "../../opt/shared.h"
#include "impls.h"
#include "prg.h"
#include "../../tools/tap.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* Linux 5.18 */
#endif

#define ARRAY(a) (sizeof(a) / sizeof *(a))

/* ref's function, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);

/* the seeds that have existed */

#define MASK 0x6b1d9ef3c8a25047u
static uint64_t known[1 << 17]; /* a hash table of masked halves; 0: free */
static unsigned char filter[1 << 15];
static unsigned known_count;
static int knowing; /* only while a key's seeds are few */
static uint64_t bytes_searched;

static void forget_all(void)
{
  memset(known, 0, sizeof known);
  memset(filter, 0, sizeof filter);
  known_count = 0;
  knowing = 1;
}

static void know(uint64_t half)
{
  if (half == 0 || !knowing)
    return;
  uint64_t word = half ^ MASK;
  size_t at = word % ARRAY(known);
  while (known[at] != 0 && known[at] != word)
    at = (at + 1) % ARRAY(known);
  if (known[at] == 0 && ++known_count > ARRAY(known) / 2) {
    printf("Bail out! too many seeds\n");
    _exit(1);
  }
  known[at] = word;
  filter[(word >> 3) & (sizeof filter - 1)] |= (unsigned char)(1 << (word & 7));
}

static void know_seed(struct pprf_seed s)
{
  know(s.lo);
  know(s.hi);
}

static int is_known(uint64_t half)
{
  uint64_t word = half ^ MASK;
  if ((filter[(word >> 3) & (sizeof filter - 1)] >> (word & 7) & 1) == 0)
    return 0;
  size_t at = word % ARRAY(known);
  while (known[at] != 0 && known[at] != word)
    at = (at + 1) % ARRAY(known);
  return known[at] == word;
}

/* The number of halves of known seeds in a piece of memory, at any byte offset. */
static unsigned seeds_in(const void *p, size_t bytes)
{
  const unsigned char *b = p;
  unsigned found = 0;
  for (size_t at = 0; at + 8 <= bytes; at++) {
    uint64_t word;
    memcpy(&word, b + at, 8);
    if (word != 0 && is_known(word))
      found++;
  }
  bytes_searched += bytes;
  return found;
}

/* the calls, intercepted */

static int watching;      /* whether released memory is searched */
static int in_a_call;     /* whether an operation runs */
static unsigned in_freed, in_unmapped, in_advised; /* seeds found in released memory */
static unsigned calls, fail_at; /* calls in an operation that can fail; the one that fails */
static const char *failed_call;
static size_t block_bytes; /* of blocks in use, including the allocator's 8 bytes each */
static size_t block_peak;  /* its maximum */
static unsigned blocks_made;
static int expands;        /* it expands a range, and its mapping is kept for the next one */
static struct {
  const void *at;
  size_t bytes;
} kept;
static int refused_advice = -1, refused_errno, refuse_lock;
static int advice_seen[32];

static int fails(const char *name)
{
  if (!in_a_call || ++calls != fail_at)
    return 0;
  failed_call = name;
  return 1;
}

static void *made(void *p)
{
  if (in_a_call && p != NULL) {
    block_bytes += malloc_usable_size(p) + 8;
    block_peak = block_bytes > block_peak ? block_bytes : block_peak;
    blocks_made++;
  }
  return p;
}

#define WRAP(type, name, parameters)                                                               \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters

WRAP(void *, malloc, (size_t n))
{
  return fails("malloc") ? NULL : made(__real_malloc(n));
}
WRAP(void *, calloc, (size_t n, size_t size))
{
  return fails("calloc") ? NULL : made(__real_calloc(n, size));
}
WRAP(void, free, (void *p))
{
  if (in_a_call && p != NULL) {
    block_bytes -= malloc_usable_size(p) + 8;
    if (watching)
      in_freed += seeds_in(p, malloc_usable_size(p));
  }
  __real_free(p);
}
WRAP(int, munmap, (void *p, size_t len))
{
  if (in_a_call && watching)
    in_unmapped += seeds_in(p, len);
  kept.bytes = p == kept.at ? 0 : kept.bytes;
  return __real_munmap(p, len);
}
WRAP(int, madvise, (void *p, size_t len, int advice))
{
  advice_seen[advice & 31]++;
  if (expands && advice == MADV_DONTDUMP) {
    kept.at = p;
    kept.bytes = len;
  }
  if (advice == refused_advice) {
    errno = refused_errno;
    return -1;
  }
  if (in_a_call && watching &&
      (advice == MADV_DONTNEED || advice == MADV_DONTNEED_LOCKED || advice == MADV_REMOVE))
    in_advised += seeds_in(p, len);
  return __real_madvise(p, len, advice);
}
static struct {
  const void *at;
  size_t len;
  unsigned flags;
} locks[64];
static unsigned lock_count;
WRAP(int, mlock2, (const void *p, size_t len, unsigned flags))
{
  if (refuse_lock)
    return errno = ENOMEM, -1;
  if (lock_count < ARRAY(locks)) {
    locks[lock_count].at = p;
    locks[lock_count].len = len;
    locks[lock_count++].flags = flags;
  }
  return __real_mlock2(p, len, flags);
}

WRAP(struct pprf_children, prg_expand,
     (struct pprf_family family, struct pprf_seed seed, uint64_t start, unsigned height))
{
  know_seed(seed);
  if (fails("prg_expand"))
    return (struct pprf_children){{0, 0}, {0, 0}, PPRF_ERR_CRYPTO};
  struct pprf_children c = __real_prg_expand(family, seed, start, height);
  know_seed(c.left);
  know_seed(c.right);
  return c;
}
/* The same for many: it fails after k of them, as the default does. */
WRAP(int, opt_expand_many, (struct pprf_family family, const struct opt_step *step, unsigned n))
{
  for (unsigned i = 0; i < n; i++) {
    struct pprf_children c =
      __wrap_prg_expand(family, *step[i].seed, step[i].start, step[i].height);
    *step[i].left = c.left;
    *step[i].right = c.right;
    if (c.err != PPRF_OK)
      return c.err;
  }
  return PPRF_OK;
}
WRAP(int, prg_digest, (const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]))
{
  if (fails("prg_digest")) {
    memset(out, 0, DIGEST_BYTES);
    return PPRF_ERR_CRYPTO;
  }
  return __real_prg_digest(bytes, len, out);
}
/* A key with a random root draws its salt first. The salt is public and need not be wiped. */
static int salt_is_due;
static struct pprf_seed salt;
WRAP(int, prg_random, (struct pprf_seed * seed))
{
  if (fails("prg_random")) {
    *seed = (struct pprf_seed){0, 0};
    return PPRF_ERR_CRYPTO;
  }
  int err = __real_prg_random(seed);
  if (salt_is_due)
    salt = *seed;
  else
    know_seed(*seed);
  salt_is_due = 0;
  return err;
}

/* ---------------------------------------------------------------- operations on their own stack */

enum kind {
  EVAL,
  PUNCT,
  EVAL_PUNCT,
  RANGE,
  EVAL_BATCH,
  PUNCT_BATCH,
  EXPAND,
  EXPORT,
  IMPORT,
  DELEGATE,
  BAD_DIGEST,
  BAD_ORDER,
  SETUP,
  RANDOM_SETUP,
  FREE,
  KINDS
};
static const char *const kind_name[KINDS] = {
  [EVAL] = "eval",
  [PUNCT] = "punct",
  [EVAL_PUNCT] = "eval_punct",
  [RANGE] = "punct_range",
  [EVAL_BATCH] = "eval_batch",
  [PUNCT_BATCH] = "punct_batch",
  [EXPAND] = "expand",
  [EXPORT] = "export",
  [IMPORT] = "import",
  [DELEGATE] = "delegate",
  [BAD_DIGEST] = "import with a wrong digest",
  [BAD_ORDER] = "import of unordered nodes",
  [SETUP] = "setup",
  [RANDOM_SETUP] = "setup, random",
  [FREE] = "free",
};

#define LEAVES 48
#define FILE_MAX 70000
static struct {
  const struct pprf_impl *impl;
  enum kind kind;
  pprf_key *key, *made;
  unsigned depth;
  uint64_t leaf[LEAVES], first, last;
  size_t n, file_len;
  int err;
  uint8_t root[16], out[16], values[LEAVES * 16], file[FILE_MAX], exported[FILE_MAX];
} op;
static ucontext_t here, there;
static unsigned char stack[256 << 10] __attribute__((aligned(4096)));

static int ignore(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)leaf;
  (void)n;
  (void)values;
  return 0;
}

static int operate(void)
{
  int ref = op.impl == &impl_ref;
  size_t len = sizeof op.exported;
  switch (op.kind) {
  case EVAL:
    return op.impl->eval(op.key, op.leaf[0], op.out);
  case PUNCT:
    return op.impl->punct(op.key, op.leaf[0]);
  case EVAL_PUNCT:
    return op.impl->eval_punct(op.key, op.leaf[0], op.out);
  case RANGE:
    return op.impl->punct_range(op.key, op.first, op.last);
  case EVAL_BATCH:
    return (ref ? ref_pprf_eval_batch : pprf_eval_batch)(op.key, op.leaf, op.n, op.values, NULL);
  case PUNCT_BATCH:
    return (ref ? ref_pprf_punct_batch : pprf_punct_batch)(op.key, op.leaf, op.n, NULL);
  case EXPAND:
    return (ref ? ref_pprf_expand : pprf_expand)(op.key, op.first, op.last, ignore, NULL);
  case EXPORT:
    return op.impl->export_key(op.key, op.exported, &len);
  case IMPORT:
  case BAD_DIGEST:
  case BAD_ORDER:
    return op.impl->import_key(&op.made, op.file, op.file_len);
  case DELEGATE:
    return op.impl->delegate(op.key, op.first, op.last, &op.made);
  case SETUP:
    return op.impl->setup(&op.made, op.depth, op.root);
  case RANDOM_SETUP:
    return op.impl->setup(&op.made, op.depth, NULL);
  case FREE:
    op.impl->free(op.key);
    return PPRF_OK;
  default:
    abort();
  }
}

/* Only the operation's frames may be below this one. */
__attribute__((noinline)) static void entry(void)
{
  in_a_call = 1;
  expands = op.kind == EXPAND;
  op.err = operate();
  in_a_call = expands = 0;
  swapcontext(&there, &here);
}

static unsigned problems;
static unsigned long trials;

static void problem(const char *what, unsigned n)
{
  if (problems++ < 5)
    tap_note("%s %s at depth %u, %s %u: %s (%u halves of seeds), result %s", op.impl->name,
             kind_name[op.kind], op.depth, fail_at > 0 ? failed_call : "no failure; call", fail_at,
             what, n, result_name(op.err));
}

/* Run the operation once, with a failure at one call, or none (0). */
static void once(unsigned at)
{
  memset(stack, 0, sizeof stack);
  calls = in_freed = in_unmapped = in_advised = 0;
  fail_at = at;
  failed_call = NULL;
  op.made = NULL;
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = NULL;
  makecontext(&there, entry, 0);
  salt_is_due = op.kind == RANDOM_SETUP;
  watching = 1;
  swapcontext(&here, &there);
  watching = salt_is_due = 0;
  unsigned on_stack = seeds_in(stack, sizeof stack);
  if (on_stack > 0)
    problem("on the stack", on_stack);
  if (in_freed > 0)
    problem("in a freed block", in_freed);
  if (in_unmapped > 0)
    problem("in unmapped pages", in_unmapped);
  if (in_advised > 0)
    problem("in released pages", in_advised);
  unsigned in_kept = op.kind == EXPAND ? seeds_in(kept.at, kept.bytes) : 0;
  if (in_kept > 0)
    problem("in memory kept for another expansion", in_kept);
  trials++;
}

static pprf_key *key_of(const struct pprf_impl *impl, unsigned depth, const uint8_t root[16])
{
  pprf_key *key = NULL;
  struct pprf_seed seed = {load(root, 8), load(root + 8, 8)};
  know_seed(seed);
  if (impl->setup(&key, depth, root) != PPRF_OK) {
    printf("Bail out! setup\n");
    exit(1);
  }
  return key;
}

static size_t export(const struct pprf_impl *impl, const pprf_key *key, uint8_t *file)
{
  size_t len = FILE_MAX;
  if (impl->export_key(key, file, &len) != PPRF_OK) {
    printf("Bail out! export\n");
    exit(1);
  }
  return len;
}

/* Whether the first draw is the salt in the key's file. */
static int has_salt(const struct pprf_impl *impl, const pprf_key *key)
{
  static uint8_t file[FILE_MAX];
  (void)export(impl, key, file);
  return file[7] == 2 && load(file + 20, 8) == salt.lo && load(file + 28, 8) == salt.hi;
}

/* Run a kind of operation on copies of a key: each call fails in turn, until the operation runs
 * without a failure. */
static void every_call(const struct pprf_impl *impl, enum kind kind, unsigned depth,
                       unsigned punctures, uint64_t state)
{
  static uint8_t before[FILE_MAX], after[FILE_MAX];
  uint64_t size = (uint64_t)1 << depth;
  forget_all();
  memset(&op, 0, sizeof op);
  op.impl = impl;
  op.kind = kind;
  op.depth = depth;
  for (unsigned i = 0; i < 16; i++)
    op.root[i] = (uint8_t)tap_random(&state);
  op.key = key_of(impl, depth, op.root);
  for (unsigned i = 0; i < punctures; i++)
    (void)impl->punct(op.key, tap_random(&state) % size);
  op.n = 1 + tap_random(&state) % (impl == &impl_ref ? 8 : LEAVES);
  for (size_t i = 0; i < LEAVES; i++)
    op.leaf[i] = i % 4 == 1 ? op.leaf[i - 1] ^ 1 : tap_random(&state) % size;
  op.first = op.leaf[0] < op.leaf[2] ? op.leaf[0] : op.leaf[2];
  op.last = op.leaf[0] ^ op.leaf[2] ^ op.first;
  /* ref does the work leaf by leaf, and each of its calls fails */
  unsigned most = depth > PPRF_SLOTS_DEPTH_MAX ? 4 : 20;
  if (kind == EXPAND && op.last - op.first > most)
    op.last = op.first + most;
  op.file_len = export(impl, op.key, op.file);
  size_t len = export(impl, op.key, before);
  if (kind == BAD_DIGEST)
    op.file[op.file_len - 1] ^= 1;
  /* make the last node equal to the first: everything before it is decoded by then */
  if (kind == BAD_ORDER) {
    size_t nodes = impl->node_count(op.key), width = depth / 8 + 1,
           body = op.file_len - DIGEST_BYTES;
    memcpy(op.file + body - 16 - width, op.file + (op.file[7] == 2 ? 36 : 16),
           nodes > 1 ? width : 0);
    if (nodes > 1 && __real_prg_digest(op.file, body, op.file + body) != PPRF_OK)
      problem("no digest", 0);
  }
  for (unsigned at = 1;; at++) {
    once(at);
    int done = failed_call == NULL;
    if (op.err != PPRF_OK && op.made != NULL)
      problem("a key was returned with an error", 0);
    if (op.made != NULL && kind == RANDOM_SETUP && !has_salt(impl, op.made))
      problem("the first draw is not the salt", 0);
    if (op.made != NULL)
      impl->free(op.made);
    if (kind == FREE)
      break;
    if (op.err != PPRF_OK &&
        (export(impl, op.key, after) != len || memcmp(before, after, len) != 0))
      problem("the key changed", 0);
    int refused = kind == BAD_DIGEST || (kind == BAD_ORDER && impl->node_count(op.key) > 1);
    if (done && op.err != (refused                        ? PPRF_ERR_FORMAT
                           : op.err == PPRF_ERR_PUNCTURED ? op.err
                                                          : PPRF_OK))
      problem("another result", 0);
    if (done || op.err == PPRF_OK)
      break;
  }
  if (kind != FREE)
    impl->free(op.key);
}

static unsigned every_operation(const struct pprf_impl *impl, int full)
{
  static const unsigned depths[] = {1, 2, 5, 8, 12, 21, 40};
  uint64_t state = tap_seed();
  problems = 0;
  for (size_t d = 0; d < ARRAY(depths); d++)
    for (enum kind kind = 0; kind < KINDS; kind++)
      for (unsigned i = 0; i < (full ? 12 : 3); i++) {
        unsigned depth = depths[d], punctures = 3 * i * i, node_bytes = 16 + depth / 8 + 1;
        if (depth > 12 && 64 + punctures * depth * node_bytes > FILE_MAX)
          break;
        if (kind != FREE || depth <= 12 ||
            depth > PPRF_SLOTS_DEPTH_MAX) /* all of a mapping is read when it is unmapped */
          every_call(impl, kind, depth, punctures, tap_random(&state));
      }
  return problems;
}

/* ---------------------------------------------------------------- accounting */

/* Run an operation and count its blocks. */
static int counted(enum kind kind)
{
  op.kind = kind;
  calls = fail_at = 0;
  op.made = NULL;
  in_a_call = 1;
  int err = operate();
  in_a_call = 0;
  return err;
}

/* Resident bytes of opt's mapping, according to the kernel. */
static size_t resident(const pprf_key *key)
{
  const struct opt_slots *s = &key->store.slots;
  static unsigned char there_[1 << 16];
  size_t pages = s->mapped / s->page, n = 0;
  if (pages > sizeof there_ || mincore(s->slot, s->mapped, there_) != 0)
    return 0;
  for (size_t i = 0; i < pages; i++)
    n += there_[i] & 1;
  return n * s->page;
}

/* memory_bytes equals what the allocator gave and the kernel backs, after each of many
 * punctures; ref's array moves seldom, and is never much larger than its peak needs. */
static unsigned accounting(const struct pprf_impl *impl, unsigned depth)
{
  knowing = 0;
  uint64_t size = (uint64_t)1 << depth, state = 7;
  unsigned bad = 0, moves = 0;
  size_t peak = 1;
  memset(&op, 0, sizeof op);
  op.impl = impl;
  op.depth = depth;
  block_bytes = 0;
  bad += counted(SETUP) != PPRF_OK;
  op.key = op.made;
  for (unsigned i = 0; i < 3000; i++) {
    op.leaf[0] = i < 1500 ? (uint64_t)i * 2 % size : tap_random(&state) % size;
    unsigned before = blocks_made;
    (void)counted(i % 2 ? PUNCT : EVAL_PUNCT);
    moves += blocks_made != before;
    size_t nodes = impl->node_count(op.key), bytes = impl->memory_bytes(op.key);
    peak = nodes > peak ? nodes : peak;
    if (bytes != block_bytes + (impl == &impl_ref ? 0 : resident(op.key))) {
      if (bad++ == 0)
        tap_note("%s depth %u, after %u punctures: %zu bytes, not %zu", impl->name, depth, i, bytes,
                 block_bytes + (impl == &impl_ref ? 0 : resident(op.key)));
    }
    /* a node of ref takes 32 bytes; the array doubles and keeps room for one puncture */
    if (impl == &impl_ref && bytes > 32 * (2 * peak + 4 * (size_t)depth + 4) + 64) {
      if (bad++ == 0)
        tap_note("ref depth %u: %zu bytes for at most %zu nodes", depth, bytes, peak);
    }
    if (impl == &impl_ref && nodes * 32 > bytes)
      bad++;
  }
  if (moves > (impl == &impl_ref ? 14 : 0)) { /* about log2 3000 */
    tap_note("%s depth %u: memory was allocated %u times", impl->name, depth, moves);
    bad++;
  }
  op.file_len = 0;
  size_t len = sizeof op.file;
  if (impl->export_key(op.key, op.file, &len) == PPRF_OK) { /* no larger than its nodes need */
    size_t one = block_bytes, nodes = impl->node_count(op.key);
    op.file_len = len;
    bad += counted(IMPORT) != PPRF_OK;
    size_t bytes = impl->memory_bytes(op.made);
    if (bytes != block_bytes - one + (impl == &impl_ref ? 0 : resident(op.made)) ||
        (impl == &impl_ref && bytes > 32 * nodes + 160)) {
      tap_note("%s depth %u: an imported key reports %zu bytes, not %zu", impl->name, depth, bytes,
               block_bytes - one);
      bad++;
    }
    pprf_key *copy = op.made;
    op.leaf[0] = 1;
    op.key = (bad += op.key == NULL, op.key);
    impl->free(copy);
  } else
    bad += depth <= 10;
  impl->free(op.key);
  return bad;
}

/* Bytes that pprf_punct_batch allocates with malloc for every step-th of n leaves (0: random
 * leaves). *said: the figure of pprf.h, which counts for each node that is split one new node
 * more than the key gains. The pages of a packed key and of pair slots do not come from malloc. */
static size_t batch_bytes(unsigned store, unsigned suite, uint64_t n, uint64_t step, size_t *said)
{
  enum { MOST = 4000, DEPTH = 30, PUNCTURED = 300, ROUNDED_UP = 512 };
  static uint64_t leaf[MOST];
  static const uint8_t seed[32] = {9};
  struct pprf_options options = {.size = sizeof options,
                                 .seed = suite == PPRF_MLS_SHA256 ? seed : NULL,
                                 .depth = DEPTH,
                                 .store = store,
                                 .suite = suite};
  uint64_t state = 5;
  pprf_key *key;
  if (n > MOST || pprf_setup_with(&key, &options) != PPRF_OK)
    return SIZE_MAX;
  for (unsigned i = 0; i < PUNCTURED; i++)
    (void)pprf_punct(key, tap_random(&state) >> (64 - DEPTH));
  for (uint64_t i = 0; i < n; i++)
    leaf[i] = step > 0 ? i * step : tap_random(&state) >> (64 - DEPTH);
  size_t before = pprf_node_count(key);
  size_t split = n < before ? n : before;
  block_bytes = block_peak = 0;
  calls = fail_at = 0;
  in_a_call = 1;
  int err = pprf_punct_batch(key, leaf, n, NULL);
  in_a_call = 0;
  size_t after = pprf_node_count(key) + split, made = after > before ? after - before : 0;
  size_t wide = suite == PPRF_MLS_SHA256 ? 16 : 0;
  *said = n * (76 + wide) + made * (32 + wide) + ROUNDED_UP;
  if (store == PPRF_STORE_PACKED)
    *said += n * 32 + before;
  pprf_free(key);
  return err == PPRF_OK ? block_peak : SIZE_MAX;
}

static int batches_take_what_is_said(void)
{
  static const struct {
    uint64_t n, step;
  } cases[] = {{1, 0}, {30, 0}, {4000, 0}, {4000, 1}, {4000, 2}, {4000, 16}, {4000, 1 << 12}};
  int good = 1;
  for (unsigned i = 0; i < 4 * ARRAY(cases); i++) {
    unsigned store = i & 1 ? PPRF_STORE_PACKED : PPRF_STORE_SLOTS;
    unsigned suite = i & 2 ? PPRF_MLS_SHA256 : PPRF_SHA3_256_SALTED;
    size_t said = 0, bytes = batch_bytes(store, suite, cases[i / 4].n, cases[i / 4].step, &said);
    if (bytes > said || (cases[i / 4].n > 1 && bytes < said / 3)) {
      tap_note("store %u, suite %u, %u leaves %u apart: %zu bytes, pprf.h says %zu", store, suite,
               (unsigned)cases[i / 4].n, (unsigned)cases[i / 4].step, bytes, said);
      good = 0;
    }
  }
  return good;
}

/* ---------------------------------------------------------------- the kernel's view of pages */

enum { DONTDUMP = 1, NOHUGEPAGE = 2, LOCKED = 4, SHARED = 8, ANY = 15 };

/* Which of these flags the VmFlags of all mappings that meet [from, to) have; 0 if there is no
 * mapping. */
static unsigned flags_of(const void *from, const void *to)
{
  static const char *const name[] = {" dd ", " nh ", " lo ", " sh "};
  char line[512];
  FILE *f = fopen("/proc/self/smaps", "r");
  unsigned inside = 0, mappings = 0, flags = ANY;
  while (f != NULL && fgets(line, sizeof line, f) != NULL) {
    unsigned long first, end;
    if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
      inside = first < (uintptr_t)to && end > (uintptr_t)from;
    else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
      line[strcspn(line, "\n")] = ' ';
      mappings++;
      for (unsigned k = 0; k < ARRAY(name); k++)
        if (strstr(line, name[k]) == NULL)
          flags &= ~(1u << k);
    }
  }
  if (f != NULL)
    fclose(f);
  return mappings == 0 ? 0 : flags;
}

static const uint8_t root[16] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3};

static const unsigned char *slots_end(const pprf_key *key)
{
  return (const unsigned char *)(key->store.slots.slot +
                                 ((size_t)1 << (key->store.slots.punctured.depth - 1)));
}

/* Pages are left out of core dumps, not huge, and the slots locked; and the library reports that
 * correctly. */
static int pages_are_marked(const pprf_key *key, const char *when)
{
  const struct opt_slots *s = &key->store.slots;
  unsigned all = flags_of(s->slot, (const unsigned char *)s->slot + s->mapped);
  unsigned slots = flags_of(s->slot, slots_end(key));
  unsigned want = DONTDUMP | NOHUGEPAGE | (s->shared ? SHARED : 0);
  int ok =
    (all & ~(unsigned)LOCKED) == want && slots == (want | (pprf_memory_locked(key) ? LOCKED : 0));
  if (!ok)
    tap_note("%s: memory_locked is %d, shared %d; flags of all pages %u, of the slots %u", when,
             pprf_memory_locked(key), s->shared, all, slots);
  return ok;
}

/* Whether this process may lock that much memory. */
static int may_lock(void)
{
  static int may = -1;
  if (may < 0) {
    size_t len = 4 << 20;
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    may = p != MAP_FAILED && __real_mlock2(p, len, MLOCK_ONFAULT) == 0;
    __real_munmap(p, len);
  }
  return may;
}

static int fresh_pages(void)
{
  static const unsigned depths[] = {1, 9, 13, 16, 18};
  int ok = 1;
  for (size_t d = 0; d < ARRAY(depths); d++) {
    lock_count = 0;
    pprf_key *key = key_of(&impl_slots, depths[d], root);
    ok &= pages_are_marked(key, "a new key");
    ok &= pprf_memory_locked(key) == may_lock();
    /* locks exactly the slots, before they are touched */
    ok &= lock_count == 1 && locks[0].at == key->store.slots.slot &&
          locks[0].flags == MLOCK_ONFAULT &&
          locks[0].len == (size_t)(slots_end(key) - (unsigned char *)key->store.slots.slot);
    ok &= resident(key) <= 2 * key->store.slots.page;
    pprf_free(key);
  }
  refuse_lock = 1;
  pprf_key *key = key_of(&impl_slots, 13, root);
  ok &= pprf_memory_locked(key) == 0 && pages_are_marked(key, "a key that cannot be locked");
  refuse_lock = 0;
  pprf_free(key);
  return ok;
}

/* The blocks of a packed store, compared with the memory that it reports. */
static int packed_blocks(void)
{
  const struct pprf_options o = {
    .size = sizeof o, .seed = root, .depth = 20, .store = PPRF_STORE_PACKED};
  pprf_key *key;
  if (pprf_setup_with(&key, &o) != PPRF_OK)
    return 0;
  for (uint64_t leaf = 0; leaf < 2000; leaf++)
    (void)pprf_punct(key, leaf * 500);
  const struct opt_packed *p = key->store.packed;
  unsigned flags = ANY;
  for (size_t i = 0; i < p->pages; i++)
    flags &= flags_of(p->page[i], (const unsigned char *)p->page[i] + p->page[i]->bytes);
  int ok = p->pages > 10 && (flags & DONTDUMP) != 0 &&
           pprf_memory_locked(key) == ((flags & LOCKED) != 0) &&
           pprf_memory_locked(key) == may_lock();
  if (!ok)
    tap_note("%zu blocks, flags %u, memory_locked is %d", p->pages, flags, pprf_memory_locked(key));
  pprf_free(key);
  return ok;
}

/* Resident pages among [from, to). */
static size_t pages_in(const void *from, const void *to)
{
  static unsigned char there_[1 << 14];
  size_t page = (size_t)sysconf(_SC_PAGESIZE), n = 0;
  uintptr_t a = (uintptr_t)from / page * page;
  size_t pages = ((uintptr_t)to - a + page - 1) / page;
  if (pages > sizeof there_ || mincore((void *)a, pages * page, there_) != 0)
    return (size_t)-1;
  for (size_t i = 0; i < pages; i++)
    n += there_[i] & 1;
  return n;
}

/* Slots of 2^12 punctured leaves, and the bits of 2^18, are returned to the system, whether
 * punctured one by one or as a range, locked or not; adjacent ones stay. */
static int given_back(int locked, int by_range, int shared)
{
  const unsigned depth = 19;
  const uint64_t half = (uint64_t)1 << 18;
  pprf_key *key;
  refuse_lock = !locked;
  if (!shared)
    key = key_of(&impl_slots, depth, root);
  else if (opt_shared_new(&key, depth) != PPRF_OK || opt_shared_start(key) != PPRF_OK)
    return 0;
  refuse_lock = 0;
  const struct opt_slots *s = &key->store.slots;
  int ok = pprf_memory_locked(key) == (locked && may_lock());
  /* the last leaf of the upper half: pages stay there */
  ok &= pprf_punct(key, 2 * half - 1) == PPRF_OK;
  uint8_t before[16], after[16];
  ok &= pprf_eval(key, half + 5, before) == PPRF_OK;
  const uint64_t *leaves = s->punctured.leaves;
  size_t most = 0;
  if (by_range) {
    for (uint64_t x = 77; x < half; x += 300) /* so that there are pages to release */
      ok &= pprf_punct(key, x) == PPRF_OK;
    ok &= pages_in(leaves, leaves + half / 64) >= half / 64 * 8 / s->page;
    ok &= pprf_punct_range(key, 0, half - 1) == PPRF_OK;
  } else
    for (uint64_t x = 0; x < half; x++) {
      ok &= pprf_punct(key, x) == PPRF_OK;
      if (x % 4096 == 4095) { /* all slots so far are released, except a page at each end */
        size_t now = pages_in(s->slot, s->slot + half / 2);
        most = now > most ? now : most;
      }
    }
  size_t slots = pages_in(s->slot, s->slot + half / 2), bits = pages_in(leaves, leaves + half / 64);
  /* shared by two blocks: a page at each end */
  if (slots > 1 || bits > 1 || most > 8 * 1 + 8) {
    tap_note("%s, %s, %s: %zu pages of slots, %zu of bits are left, %zu of slots on the way",
             shared ? "shared" : "private", locked ? "locked" : "not locked",
             by_range ? "as a range" : "one by one", slots, bits, most);
    ok = 0;
  }
  ok &= pages_are_marked(key, "after pages were released");
  ok &= pprf_eval(key, half + 5, after) == PPRF_OK && memcmp(before, after, 16) == 0;
  ok &= pprf_eval(key, half - 1, after) == PPRF_ERR_PUNCTURED;
  ok &= pprf_eval(key, 2 * half - 1, after) == PPRF_ERR_PUNCTURED;
  ok &= pprf_punct_range(key, 0, 2 * half - 1) == PPRF_OK && pprf_node_count(key) == 0;
  ok &= resident(key) == 0; /* an empty key has no resident pages */
  ok &= pages_are_marked(key, "after all pages were released");
  pprf_free(key);
  return ok;
}

/* A key whose slots are smaller than a block releases its pages when it is empty. */
static int small_key(void)
{
  pprf_key *key = key_of(&impl_slots, 10, root);
  int ok = 1;
  for (uint64_t x = 0; x < 1024; x++)
    ok &= pprf_punct(key, x) == PPRF_OK && (resident(key) > 0) == (x < 1023);
  pprf_free(key);
  return ok;
}

/* If the system refuses a prefault, nothing changes: pages are still released later. If it does
 * not know the advice, the library touches the pages itself, and they stay. */
static int prefaults(void)
{
  int ok = 1;
  static const int errors[] = {ENOMEM, EFAULT, EINTR, EINVAL, 0};
  for (size_t i = 0; i < ARRAY(errors); i++) {
    pprf_key *key = key_of(&impl_slots, 16, root);
    refused_advice = errors[i] == 0 ? -1 : MADV_POPULATE_WRITE;
    refused_errno = errors[i];
    int done = errors[i] == 0 || errors[i] == EINVAL;
    ok &= pprf_prefault(key) == (done ? PPRF_OK : PPRF_ERR_NOMEM);
    refused_advice = -1;
    ok &=
      done ? resident(key) == key->store.slots.mapped : resident(key) <= 2 * key->store.slots.page;
    for (uint64_t x = 5; x < 65536; x += 256)
      ok &= pprf_punct(key, x) == PPRF_OK;
    ok &= pprf_punct_range(key, 0, 65535) == PPRF_OK;
    ok &= resident(key) == (done ? key->store.slots.mapped : 0);
    if (!ok)
      tap_note("prefault with errno %d: %zu of %zu bytes are there", errors[i], resident(key),
               key->store.slots.mapped);
    pprf_free(key);
  }
  return ok;
}

/* A cleared shared key contains no seed, whether or not the system takes its pages. */
static int cleared(int advice)
{
  pprf_key *key;
  int ok = 1;
  forget_all();
  if (opt_shared_new(&key, 13) != PPRF_OK)
    return 0;
  for (int round = 0; round < 3; round++) {
    ok &= opt_shared_start(key) == PPRF_OK && pprf_node_count(key) == 1;
    for (uint64_t x = 0; x < 4000; x += 3)
      ok &= pprf_punct(key, x) == PPRF_OK;
    refused_advice = advice;
    refused_errno = EINVAL;
    opt_shared_clear(key);
    refused_advice = -1;
    uint8_t out[16];
    ok &= pprf_node_count(key) == 0 && pprf_eval(key, 4001, out) == PPRF_ERR_PUNCTURED;
    ok &= seeds_in(key->store.slots.slot, key->store.slots.mapped) == 0;
    ok &= pages_are_marked(key, "a shared key that was cleared");
  }
  opt_shared_free(key);
  return ok;
}

/* No 32-byte seed of a freed key (known from its file) is in the memory that it released. */
static int freed_wide_key(const struct pprf_impl *impl, unsigned store)
{
  enum { HEADER = 36, RECORD = 1 + 32 };
  static const uint8_t wide_root[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2,
                                        2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  struct pprf_options options = {.size = sizeof options,
                                 .seed = wide_root,
                                 .depth = 7,
                                 .store = store,
                                 .suite = PPRF_MLS_SHA256};
  uint8_t file[HEADER + 7 * RECORD + 32];
  pprf_key *key;
  if (impl->setup_with(&key, &options) != PPRF_OK)
    return 0;
  size_t len = sizeof file;
  int ok = impl->punct(key, 77) == PPRF_OK && impl->export_key(key, file, &len) == PPRF_OK &&
           len == sizeof file;
  forget_all();
  for (unsigned i = 0; i < 7 && ok; i++)
    for (unsigned at = 1; at < RECORD; at += 8)
      know(load(file + HEADER + i * RECORD + at, 8));
  in_freed = in_unmapped = 0;
  in_a_call = watching = 1;
  KEEP_STORES(key);
  impl->free(key);
  in_a_call = watching = 0;
  knowing = 0; /* the tests after this one make too many seeds */
  if (in_freed + in_unmapped > 0)
    tap_note("%s, store %u: %u words in freed blocks, %u in unmapped pages", impl->name, store,
             in_freed, in_unmapped);
  return ok && in_freed + in_unmapped == 0;
}

/* tests of the test */

static uint64_t planted;

__attribute__((noinline)) static void leave_it(void)
{
  volatile uint64_t left[4] = {0, planted, 0, 0};
  (void)left[1];
}

static void plant_on_stack(void)
{
  leave_it();
  swapcontext(&there, &here);
}

static int planted_are_found(void)
{
  forget_all();
  planted = load(root, 8);
  know(planted);
  uint8_t *block = malloc(64);
  if (block == NULL)
    return 0;
  memcpy(block + 13, root, 8);
  KEEP_STORES(block);
  in_a_call = watching = 1;
  in_freed = 0;
  KEEP_STORES(block); /* a compiler knows that free reads none of these variables */
  free(block);
  in_a_call = watching = 0;
  memset(stack, 0, sizeof stack);
  getcontext(&there);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = NULL;
  makecontext(&there, plant_on_stack, 0);
  swapcontext(&here, &there);
  unsigned on_stack = seeds_in(stack, sizeof stack);
  if (in_freed != 1 || on_stack == 0)
    tap_note("%u in the block, %u on the stack", in_freed, on_stack);
  return in_freed == 1 && on_stack > 0;
}

int main(int argc, char **argv)
{
  int full = tap_full(argc, argv);
  tap_ok(planted_are_found(), "control_a_seed_in_a_freed_block_and_on_the_stack_is_found");
  for (int i = 0; i < STORES; i++)
    tap_ok(every_operation(stores[i], full) == 0,
           "%s_leaves_no_seed_in_freed_memory_or_on_the_stack_whatever_fails", stores[i]->name);
  for (int i = 0; i < IMPLS; i++) {
    unsigned bad = 0;
    for (unsigned depth = 1; depth <= 20; depth += depth < 5 ? 1 : 5)
      bad += accounting(impls[i], depth);
    tap_ok(bad == 0, "%s_memory_bytes_is_what_the_key_holds", impls[i]->name);
  }
  tap_ok(batches_take_what_is_said(), "a_batch_takes_the_memory_that_pprf_h_says");
  for (int i = 0; i < IMPLS; i++)
    tap_ok(freed_wide_key(impls[i], PPRF_STORE_SLOTS) &&
             freed_wide_key(impls[i], PPRF_STORE_PACKED),
           "%s_leaves_nothing_of_32_byte_seeds_in_what_a_freed_key_gives_back", impls[i]->name);
  tap_ok(packed_blocks(), "blocks_of_a_packed_store_are_out_of_dumps_and_swap");
  tap_ok(fresh_pages(), "pages_are_out_of_dumps_and_swap_and_not_huge");
  if (!may_lock())
    tap_note("4 MB cannot be locked here: keys are tested unlocked");
  for (int k = 0; k < 8; k++)
    tap_ok(given_back(k & 1, k & 2, k & 4), "pages_go_back_%s_%s_%s", k & 1 ? "locked" : "unlocked",
           k & 2 ? "by_range" : "one_by_one", k & 4 ? "shared" : "private");
  tap_ok(small_key(), "the_last_puncture_of_a_small_key_gives_its_page_back");
  tap_ok(prefaults(), "a_refused_prefault_changes_nothing");
  tap_ok(cleared(-1) && cleared(MADV_REMOVE), "a_cleared_shared_key_holds_no_seed");
  tap_note("%lu trials, %llu MB searched", trials, (unsigned long long)bytes_searched >> 20);
  return tap_end();
}
