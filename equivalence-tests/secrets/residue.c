/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation erases is gone from the process. After each one, every readable mapping (heap
 * with freed blocks, stacks, libraries' data, anonymous mappings) is searched for the seeds of
 * erased nodes and the values of punctured leaves, as 8-byte words at any byte offset. Controls:
 * the search finds the seeds of live nodes, and planted copies of an erased seed on the heap, in a
 * freed block and on the stack.
 *
 * This process must not write what it searches for. A child computes all seeds and sends them
 * masked (XOR with a constant), and the search compares masked words. The root's seed and key files
 * pass through one buffer that is wiped, or stay in the child. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "impls.h"
#include "in_suite.h"
#include "prg.h"
#include "registers.h"
#include "../../tools/tap.h"
#include "wipe.h"

#define MASK 0x9d3f5ac7e1b20846u
#define DEPTH_MAX 12
#define NODES (2u << DEPTH_MAX)
#define SEED_MAX PPRF_VALUE_BYTES_MAX

/* Masked seeds by heap number: root 1, children 2n and 2n + 1; leaf x of depth d is 2^d + x. */
static uint64_t masked[NODES][4]; /* 16-byte seeds: two words */
static uint8_t wanted[NODES]; /* 1: must not be found */
static unsigned depth;

/* the child that knows the seeds */

static void write_all(int fd, const void *p, size_t n)
{
  for (ssize_t k; n > 0; p = (const char *)p + k, n -= (size_t)k)
    if ((k = write(fd, p, n)) <= 0)
      _exit(1);
}

static void read_all(int fd, void *p, size_t n)
{
  for (ssize_t k; n > 0; p = (char *)p + k, n -= (size_t)k)
    if ((k = read(fd, p, n)) <= 0) {
      printf("Bail out! the child is gone\n");
      exit(1);
    }
}

/* A child's seed in mls-sha256. */
static int expand_label(const uint8_t seed[32], const char *side, uint8_t out[32])
{
  char label[32] = "..\x0cMLS 1.0 tree";
  size_t len = 15;
  label[0] = 0;
  label[1] = 32;
  label[len++] = (char)strlen(side);
  memcpy(label + len, side, strlen(side));
  len += strlen(side);
  label[len++] = 1;
  return HMAC(EVP_sha256(), seed, 32, (const uint8_t *)label, len, out, NULL) != NULL;
}

/* The seeds of the children of the node with this heap number and seed. */
static void expand_one(const uint8_t *seed, unsigned d, unsigned n, uint8_t both[2 * SEED_MAX])
{
  if (in_suite() == PPRF_MLS_SHA256) {
    if (!expand_label(seed, "left", both) || !expand_label(seed, "right", both + 32))
      _exit(1);
    return;
  }
  unsigned level = 31 - (unsigned)__builtin_clz(n), height = d - level;
  uint64_t id = (2 * (uint64_t)(n - (1u << level)) + 1) << height;
  uint8_t in[40];
  int len, ok = 1;
  memcpy(in, seed, 16);
  memcpy(in + 16, in_suite_salt, 16);
  memcpy(in + 32, &id, 8);
  if (in_suite() != PPRF_AES_128) {
    ok = EVP_Digest(in, in_suite() == PPRF_SHA3_256 ? 16 : 40, both, NULL, EVP_sha3_256(), NULL);
  } else {
    uint8_t block[32];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    for (unsigned i = 0; i < 32; i++)
      block[i] = in[16 + i % 16] ^ (i % 16 < 8 ? in[32 + i % 16] : 0);
    block[16 + 8] ^= 1;
    ok = ctx != NULL && EVP_EncryptInit_ex(ctx, EVP_aes_128_ecb(), NULL, in, NULL) == 1 &&
         EVP_EncryptUpdate(ctx, both, &len, block, 32) == 1;
    EVP_CIPHER_CTX_free(ctx);
  }
  if (ok != 1)
    _exit(1);
}

static void expand(uint8_t (*seed)[SEED_MAX], unsigned d)
{
  for (unsigned n = 1; n < 1u << d; n++) {
    uint8_t both[2 * SEED_MAX];
    expand_one(seed[n], d, n, both);
    memcpy(seed[2 * n], both, in_suite_bytes());
    memcpy(seed[2 * n + 1], both + in_suite_bytes(), in_suite_bytes());
  }
}

/* Run f in a child that has a pipe to this process. */
static int child(void (*f)(int fd, uint64_t arg), uint64_t arg, pid_t *pid)
{
  int fd[2];
  fflush(stdout);
  if (pipe(fd) != 0 || (*pid = fork()) < 0) {
    printf("Bail out! no child: %s\n", strerror(errno));
    exit(1);
  }
  if (*pid == 0) {
    close(fd[0]);
    f(fd[1], arg);
    _exit(0);
  }
  close(fd[1]);
  return fd[0];
}

static void root_of(uint64_t tag, uint8_t seed[SEED_MAX])
{
  for (unsigned i = 0; i < SEED_MAX; i += 8) {
    uint64_t v = tap_random(&tag);
    memcpy(seed + i, &v, 8);
  }
}

static void send_masked(int fd, uint64_t tag)
{
  static uint8_t seed[NODES][SEED_MAX];
  root_of(tag, seed[1]);
  expand(seed, depth);
  for (unsigned n = 1; n < 2u << depth; n++) {
    uint64_t word[4];
    memcpy(word, seed[n], SEED_MAX);
    for (unsigned i = 0; i < 4; i++)
      word[i] ^= MASK;
    write_all(fd, word, sizeof word);
  }
}

static void send_root(int fd, uint64_t tag)
{
  uint8_t seed[SEED_MAX];
  root_of(tag, seed);
  write_all(fd, seed, SEED_MAX);
}

/* Send a key file with some leaves punctured; the last digest byte is wrong if arg's top bit is
 * set. */
static void send_file(int fd, uint64_t arg)
{
  uint8_t seed[SEED_MAX], file[4096];
  size_t len = sizeof file;
  pprf_key *key;
  root_of(arg & 0xffff, seed);
  if (setup_in_suite(&impl_ref, &key, depth, seed) != PPRF_OK ||
      impl_ref.punct(key, 5) != PPRF_OK || impl_ref.punct(key, 40) != PPRF_OK ||
      impl_ref.export_key(key, file, &len) != PPRF_OK)
    _exit(1);
  file[len - 1] ^= (uint8_t)(arg >> 63);
  if (arg >> 62 & 1) { /* a correct digest, but two records exchanged */
    uint8_t t[2 + SEED_MAX], *record = file + (in_suite() == PPRF_SHA3_256 ? 16 : 36);
    size_t bytes = 2 + in_suite_bytes();
    memcpy(t, record, bytes);
    memcpy(record, record + bytes, bytes);
    memcpy(record + bytes, t, bytes);
    if (EVP_Digest(file, len - 32, file + len - 32, NULL, EVP_sha3_256(), NULL) != 1)
      _exit(1);
  }
  write_all(fd, &len, sizeof len);
  write_all(fd, file, len);
}

static void get_masked(uint64_t tag)
{
  pid_t pid;
  int fd = child(send_masked, tag, &pid);
  read_all(fd, masked[1], sizeof masked[1] * ((2u << depth) - 1));
  close(fd);
  waitpid(pid, NULL, 0);
}

static pprf_key *fresh(const struct pprf_impl *impl, uint64_t tag)
{
  pid_t pid;
  pprf_key *key = NULL;
  uint8_t seed[SEED_MAX];
  int fd = child(send_root, tag, &pid);
  read_all(fd, seed, SEED_MAX);
  close(fd);
  waitpid(pid, NULL, 0);
  int err = setup_in_suite(impl, &key, depth, seed);
  save_registers();
  if (err != PPRF_OK) {
    printf("Bail out! setup\n");
    exit(1);
  }
  explicit_bzero(seed, sizeof seed);
  return key;
}

/* Import a file from the child, wipe the file, and return the result. */
static int import(const struct pprf_impl *impl, uint64_t arg, pprf_key **key)
{
  static uint8_t file[4096];
  size_t len;
  pid_t pid;
  int fd = child(send_file, arg, &pid);
  read_all(fd, &len, sizeof len);
  read_all(fd, file, len);
  close(fd);
  waitpid(pid, NULL, 0);
  int err = import_any(impl, key, file, len);
  save_registers();
  explicit_bzero(file, sizeof file);
  return err;
}

/* ---------------------------------------------------------------- the search */

struct place {
  unsigned node;
  uintptr_t at;
  char mapping[80];
};

/* What is searched for: masked words in ascending order, and a filter on their low 16 bits. */
static struct {
  uint64_t word;
  unsigned node;
} sought[4 * NODES];
static unsigned sought_count;
static unsigned char filter[1 << 13];
static uint64_t bytes_searched;
static unsigned long searches;

static int by_word(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void prepare(void)
{
  memset(filter, 0, sizeof filter);
  sought_count = 0;
  for (unsigned n = 1; n < 2u << depth; n++)
    for (size_t i = 0; i < in_suite_bytes() / 8; i++)
      if (wanted[n]) {
        uint64_t word = masked[n][i];
        filter[(word & 0xffff) >> 3] |= (unsigned char)(1 << (word & 7));
        sought[sought_count].word = word;
        sought[sought_count++].node = n;
      }
  qsort(sought, sought_count, sizeof *sought, by_word);
}

static unsigned look_up(uint64_t word)
{
  unsigned low = 0, high = sought_count;
  while (low < high) {
    unsigned mid = (low + high) / 2;
    if (sought[mid].word < word)
      low = mid + 1;
    else
      high = mid;
  }
  return low < sought_count && sought[low].word == word ? sought[low].node : 0;
}

/* Search a piece of memory. */
static unsigned search_in(const char *name, uintptr_t from, uintptr_t to, struct place *place)
{
  unsigned found = 0;
  bytes_searched += to - from;
  for (uintptr_t at = from; at + 8 <= to; at++) {
    uint64_t word;
    memcpy(&word, (const void *)at, 8);
    word ^= MASK;
    if ((filter[(word & 0xffff) >> 3] >> (word & 7) & 1) == 0)
      continue;
    unsigned n = look_up(word);
    if (n != 0 && found++ == 0) {
      place->node = n;
      place->at = at;
      snprintf(place->mapping, sizeof place->mapping, "%.70s", name);
      place->mapping[strcspn(place->mapping, "\n")] = '\0';
    }
  }
  return found;
}

/* The search runs in its own thread, so that it does not overwrite the dead stack below the
 * function that requests it. */
static struct place memory_place, register_place;
static unsigned in_memory, in_registers;
static volatile int asked;

static void *searcher(void *unused)
{
  (void)unused;
  for (;;) {
    while (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
      usleep(50);
    char line[400];
    FILE *maps = fopen("/proc/self/maps", "r");
    prepare();
    searches++;
    uintptr_t from = (uintptr_t)&registers, to = from + sizeof registers;
    in_registers = search_in("registers", from, to, &register_place);
    register_place.at -= from;
    memset(&registers, 0, sizeof registers);
    in_memory = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
      unsigned long first, end;
      char access[8];
      struct place place;
      if (sscanf(line, "%lx-%lx %7s", &first, &end, access) != 3 || access[0] != 'r' ||
          access[1] != 'w' || strstr(line, "[vvar") != NULL)
        continue;
      unsigned found = search_in(line, first, end, &place);
      if (in_memory == 0)
        memory_place = place;
      in_memory += found;
    }
    if (maps != NULL)
      fclose(maps);
    __atomic_store_n(&asked, 0, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* The number of finds in memory. It waits without making a call. */
__attribute__((noinline)) static unsigned search(void)
{
  __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
    __asm__ volatile("" : : : "memory");
  return in_memory;
}

static void want_none(void)
{
  memset(wanted, 0, sizeof wanted);
}

static void want_path(uint64_t leaf)
{
  for (uint64_t n = (uint64_t)1 << depth | leaf; n > 0; n /= 2)
    wanted[n] = 1;
}

static void want_subtree(unsigned node)
{
  wanted[node] = 1;
  if (node < 1u << depth) {
    want_subtree(2 * node);
    want_subtree(2 * node + 1);
  }
}

static int registers_clean;
#define NO_REGISTERS " # SKIP registers cannot be searched on this processor"

/* Name the register that an offset in the saved image belongs to. */
static void name_register(uintptr_t at, char name[80])
{
  static const char *const general[9] = {"rax", "rcx", "rdx", "rsi", "rdi",
                                         "r8",  "r9",  "r10", "r11"};
#if defined(__aarch64__)
  (void)general;
  if (at < 192)
    snprintf(name, 80, "x%u", (unsigned)at / 8);
  else
    snprintf(name, 80, "q%u", (unsigned)(at - 192) / 16);
  return;
#endif
  if (at < 72)
    snprintf(name, 80, "%s", general[at / 8]);
  else if (at >= 128 + 160 && at < 128 + 416)
    snprintf(name, 80, "xmm%u", (unsigned)(at - 128 - 160) / 16);
  else if (at >= 128 + 576 && at < 128 + 832)
    snprintf(name, 80, "ymm%u, upper half", (unsigned)(at - 128 - 576) / 16);
  else if (at >= 128 + 1152 && at < 128 + 1664)
    snprintf(name, 80, "zmm%u, upper half", (unsigned)(at - 128 - 1152) / 32);
  else if (at >= 128 + 1664 && at < 128 + 2688)
    snprintf(name, 80, "zmm%u", 16 + (unsigned)(at - 128 - 1664) / 64);
  else
    snprintf(name, 80, "the XSAVE image, byte %u", (unsigned)at - 128);
}

static void report(const char *when, const char *name, unsigned found, const struct place *place)
{
  tap_note("%s, %s: %u finds; first: node %u of %u, at 0x%lx in %s", name, when, found, place->node,
           2u << depth, (unsigned long)place->at, place->mapping);
}

/* 1 if nothing wanted is in memory; clears registers_clean if something is in a register. */
static int gone(const char *when, const struct pprf_impl *impl)
{
  unsigned found = search();
  if (found > 0)
    report(when, impl->name, found, &memory_place);
  if (in_registers > 0)
    name_register(register_place.at, register_place.mapping);
  if (in_registers > 0 && registers_clean)
    report(when, impl->name, in_registers, &register_place);
  registers_clean &= in_registers == 0;
  return found == 0;
}

/* ---------------------------------------------------------------- the operations */

struct job {
  const struct pprf_impl *impl;
  uint64_t tag;
  int ok;
};

/* ref's, renamed */
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);

static int eval_batch(const struct pprf_impl *impl, const pprf_key *key, const uint64_t *leaf,
                      size_t n, uint8_t *out)
{
  return (impl == &impl_ref ? ref_pprf_eval_batch : pprf_eval_batch)(key, leaf, n, out, NULL);
}

static int ignore(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)leaf;
  (void)n;
  (void)values;
  return 0;
}

static int expand_all(const struct pprf_impl *impl, const pprf_key *key)
{
  return (impl == &impl_ref ? ref_pprf_expand : pprf_expand)(key, 0, ((uint64_t)1 << depth) - 1,
                                                             ignore, NULL);
}

static int punct_batch(const struct pprf_impl *impl, pprf_key *key, const uint64_t *leaf, size_t n)
{
  return (impl == &impl_ref ? ref_pprf_punct_batch : pprf_punct_batch)(key, leaf, n, NULL);
}

static void *punctures(void *arg)
{
  struct job *job = arg;
  const struct pprf_impl *impl = job->impl;
  uint64_t state = job->tag, size = (uint64_t)1 << depth;
  uint8_t out[SEED_MAX];
  pprf_key *key = fresh(impl, job->tag);
  want_none();
  for (unsigned i = 0; i < 24 && job->ok; i++) {
    uint64_t leaf = i < 4 ? i : tap_random(&state) % size;
    int err = i % 2 ? impl->punct(key, leaf) : impl->eval_punct(key, leaf, out);
    save_registers();
    explicit_bzero(out, sizeof out);
    want_path(leaf);
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      job->ok = 0;
    job->ok &= gone(i % 2 ? "after punct" : "after eval_punct", impl);
  }
  uint64_t batch[40];
  for (unsigned i = 0; i < 40; i++) {
    batch[i] = tap_random(&state) % size;
    want_path(batch[i]);
  }
  int err = punct_batch(impl, key, batch, 40);
  save_registers();
  job->ok &= err == PPRF_OK;
  job->ok &= gone("after punct_batch", impl);
  impl->free(key);
  save_registers();
  want_subtree(1);
  job->ok &= gone("after free", impl);
  return NULL;
}

static void *ranges(void *arg)
{
  struct job *job = arg;
  const struct pprf_impl *impl = job->impl;
  uint64_t state = job->tag, size = (uint64_t)1 << depth;
  pprf_key *key = fresh(impl, job->tag);
  want_none();
  (void)impl->punct(key, 77 % size);
  want_path(77 % size);
  for (unsigned i = 0; i < 10 && job->ok; i++) {
    uint64_t a = tap_random(&state) % size, b = a + tap_random(&state) % (size - a) / (10 - i);
    if (i == 9) {
      a = 0;
      b = size - 1;
    }
    int err = impl->punct_range(key, a, b);
    save_registers();
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      job->ok = 0;
    for (uint64_t x = a; x <= b; x++)
      want_path(x);
    job->ok &= gone("after punct_range", impl);
  }
  impl->free(key);
  save_registers();
  return NULL;
}

/* A delegated key has no seed of a node that covers a leaf outside of its range, though the nodes of the key
 * that it is made from do; and it is wiped as a whole. */
static void *delegations(void *arg)
{
  struct job *job = arg;
  const struct pprf_impl *impl = job->impl;
  uint64_t state = job->tag, size = (uint64_t)1 << depth;
  for (unsigned i = 0; i < 6 && job->ok; i++) {
    uint64_t a = i == 0 ? 0 : tap_random(&state) % size, b = a + tap_random(&state) % (size - a);
    uint64_t hole = tap_random(&state) % size;
    pprf_key *key = fresh(impl, job->tag), *sub = NULL;
    want_none();
    if (i % 2)
      job->ok &= impl->punct(key, hole) == PPRF_OK;
    int err = impl->delegate(key, a, b, &sub);
    save_registers();
    job->ok &= err == PPRF_OK || (err == PPRF_ERR_PUNCTURED && i % 2 && a == b && a == hole);
    for (int freed = 0; freed < 2; freed++) { /* the seeds of the first key, as long as it lives */
      for (unsigned n = 1; n < 2u << depth; n++) {
        unsigned h = depth - (31 - (unsigned)__builtin_clz(n));
        uint64_t first = (uint64_t)n << h & (size - 1), last = first + ((uint64_t)1 << h) - 1;
        uint64_t holed = (size | hole) >> h;
        int lives = i % 2 ? n != holed && (n ^ 1) == holed : n == 1;
        wanted[n] = (first < a || last > b) && (freed || !lives);
      }
      job->ok &= gone(freed ? "after delegate and free" : "after delegate", impl);
      if (!freed)
        impl->free(key);
      save_registers();
    }
    impl->free(sub);
    save_registers();
    want_subtree(1);
    job->ok &= gone("after free of a delegated key", impl);
  }
  return NULL;
}

/* Reading leaves only the live seeds; the seeds above and below them are not found. */
static void *reads(void *arg)
{
  struct job *job = arg;
  const struct pprf_impl *impl = job->impl;
  uint64_t state = job->tag, size = (uint64_t)1 << depth;
  static uint8_t file[4096];
  size_t len = sizeof file;
  uint8_t out[SEED_MAX];
  pprf_key *key = fresh(impl, job->tag);
  want_subtree(1);
  wanted[1] = 0;
  for (unsigned i = 0; i < 6; i++) {
    int err = impl->eval(key, tap_random(&state) % size, out);
    save_registers();
    job->ok &= err == PPRF_OK;
    explicit_bzero(out, sizeof out);
    job->ok &= gone("after eval", impl);
  }
  int err = impl->export_key(key, file, &len);
  save_registers();
  job->ok &= err == PPRF_OK;
  explicit_bzero(file, sizeof file);
  job->ok &= gone("after export", impl);
  uint64_t batch[40];
  for (unsigned i = 0; i < 40; i++)
    batch[i] = tap_random(&state) % size;
  err = eval_batch(impl, key, batch, 40, file);
  save_registers();
  job->ok &= err == PPRF_OK;
  explicit_bzero(file, sizeof file);
  job->ok &= gone("after eval_batch", impl);
  err = expand_all(impl, key);
  save_registers();
  job->ok &= err == PPRF_OK;
  job->ok &= gone("after expand", impl);
  impl->free(key);
  save_registers();
  want_subtree(1);
  job->ok &= gone("after free of a fresh key", impl);
  return NULL;
}

static void *imports(void *arg)
{
  struct job *job = arg;
  const struct pprf_impl *impl = job->impl;
  pprf_key *key = NULL;
  want_subtree(1);
  job->ok &= import(impl, job->tag | (uint64_t)1 << 63, &key) == PPRF_ERR_FORMAT;
  job->ok &= gone("after a failed import (digest)", impl);
  job->ok &= import(impl, job->tag | (uint64_t)1 << 62, &key) == PPRF_ERR_FORMAT;
  job->ok &= gone("after a failed import (order)", impl);
  job->ok &= import(impl, job->tag, &key) == PPRF_OK;
  want_none();
  want_path(5);
  want_path(40);
  job->ok &= gone("after import", impl);
  want_none();
  want_subtree(1);
  job->ok &= search() > 0; /* control: live seeds are found */
  impl->free(key);
  save_registers();
  job->ok &= gone("after free of an imported key", impl);
  return NULL;
}

static pthread_attr_t small_stack; /* a small stack is quicker to search */

/* Run f in this thread, or in a new one, whose stack is searched while it lives. */
static int in_this_thread(void *(*f)(void *), struct job *job)
{
  (void)f(job);
  return job->ok;
}

static int in_a_thread(void *(*f)(void *), struct job *job)
{
  pthread_t thread;
  if (pthread_create(&thread, &small_stack, f, job) != 0 || pthread_join(thread, NULL) != 0)
    return 0;
  return job->ok && gone("after the thread", job->impl);
}

static void test(const struct pprf_impl *impl, const char *claim, void *(*f)(void *), int full)
{
  static uint64_t tag;
  static const unsigned depths[] = {3, 7, 12};
  for (int thread = 0; thread < 2; thread++) {
    int ok = 1;
    registers_clean = 1;
    for (unsigned d = 0; d < 3; d++)
      for (unsigned n = 0; n < (full ? 20u : 1u); n++) {
        depth = depths[d];
        if (f == imports && depth < 7)
          continue;
        struct job job = {impl, ++tag & 0xffff, 1};
        want_none();
        get_masked(job.tag);
        ok &= thread ? in_a_thread(f, &job) : in_this_thread(f, &job);
      }
    tap_ok(ok, "%s_%s%s", impl->name, claim, thread ? "_in_a_thread" : "");
    tap_ok(registers_clean, "%s_%s%s_nor_in_a_register%s", impl->name, claim,
           thread ? "_in_a_thread" : "", SEES_REGISTERS ? "" : NO_REGISTERS);
  }
}

/* ---------------------------------------------------------------- the whole stack */

/* Everything that an API function leaves below its own frame is zero, as deep as any call went:
 * the wipe is as deep as the work. The function runs on a painted stack. */
#define PAINT 0xa5
#define OWN_FRAMES 512 /* of the caller and of the function itself, which contain no secret */
#ifdef __x86_64__ /* a return address; elsewhere arguments, too: the wipe begins below */
#define OWN_CALL 8
#else
#define OWN_CALL 48
#endif
#define WIPED 5000

enum painted_op {
  SETUP,
  SETUP_RANDOM,
  SETUP_SALT,
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
  WIPE,
  DIRTY,
  PAINTED_OPS
};

static const char *const painted_name[] = {
  "setup",       "setup_at_random", "setup_with_a_random_salt",
  "eval",        "punct",           "eval_punct",
  "punct_range", "eval_batch",      "punct_batch",
  "expand",      "export",          "import",
  "delegate",    "prg_wipe"};

struct painted {
  const struct pprf_impl *impl;
  enum painted_op op;
  unsigned depth;
  int unwiped;            /* suppress the wipe, to see how much of it was needed */
  volatile uint8_t *base; /* of the painted stack */
  size_t deepest, dirty;  /* bytes below the caller's frame: written; and not zero */
  size_t reach;           /* how deep a wipe would have gone */
};

/* The lowest address that the suppressed wipes would have reached; 0 if none is suppressed. */
static _Thread_local uintptr_t wipe_end;

/* Missing if the linker has no name to wrap: the library is one file. */
__attribute__((weak)) void __real_prg_wipe(uint64_t plan);
void __wrap_prg_wipe(uint64_t plan);
void __wrap_prg_wipe(uint64_t plan)
{
  if (wipe_end == 0) {
    __real_prg_wipe(plan);
    return;
  }
  uintptr_t end = (uintptr_t)__builtin_frame_address(0) - (plan & WIPE_BYTES);
  if (end < wipe_end)
    wipe_end = end;
}

__attribute__((noinline)) static int make_dirty(void)
{
  volatile uint8_t frame[40000];
  for (size_t i = 0; i < sizeof frame; i++)
    frame[i] = (uint8_t)(i | 1);
  return 0;
}

/* One call; only the API function's frames are below the caller. */
#define CALL(p, key, leaves, bytes, len)                                                           \
  ((p)->op == SETUP          ? setup_in_suite((p)->impl, &fresh_key, (p)->depth, root)             \
   : (p)->op == SETUP_RANDOM ? setup_in_suite((p)->impl, &fresh_key, (p)->depth, NULL)             \
   : (p)->op == SETUP_SALT   ? (p)->impl->setup(&fresh_key, (p)->depth, NULL)                      \
   : (p)->op == EVAL         ? (p)->impl->eval(key, 77, bytes)                                     \
   : (p)->op == PUNCT        ? (p)->impl->punct(key, (leaves)[0])                                  \
   : (p)->op == EVAL_PUNCT   ? (p)->impl->eval_punct(key, (leaves)[0], bytes)                      \
   : (p)->op == RANGE        ? (p)->impl->punct_range(key, (leaves)[0], (leaves)[0] + 40)           \
   : (p)->op == EVAL_BATCH   ? batch_eval(key, leaves, 40, bytes, NULL)                              \
   : (p)->op == PUNCT_BATCH  ? batch_punct(key, leaves, 40, NULL)                                    \
   : (p)->op == EXPAND       ? expand_range(key, 0, 2000, ignore, NULL)                              \
   : (p)->op == EXPORT       ? (p)->impl->export_key(key, bytes, len)                                \
   : (p)->op == IMPORT       ? (p)->impl->import_with(&fresh_key, bytes, *(len), &any)               \
   : (p)->op == DELEGATE     ? (p)->impl->delegate(key, (leaves)[0], (leaves)[0] + 1500, &fresh_key) \
   : (p)->op == WIPE         ? (prg_wipe(prg_wipe_flags() | WIPED), 0)                               \
                             : make_dirty())

static void *run_painted(void *arg)
{
  static const uint8_t root[SEED_MAX] = {1};
  static uint8_t bytes[1 << 16];
  struct painted *p = arg;
  int ref = p->impl == &impl_ref, ok = 1;
  int (*batch_eval)(const pprf_key *, const uint64_t *, size_t, uint8_t *, int *) =
    ref ? ref_pprf_eval_batch : pprf_eval_batch;
  int (*batch_punct)(pprf_key *, const uint64_t *, size_t, int *) =
    ref ? ref_pprf_punct_batch : pprf_punct_batch;
  int (*expand_range)(const pprf_key *, uint64_t, uint64_t, pprf_each *, void *) =
    ref ? ref_pprf_expand : pprf_expand;
  const struct pprf_import_options any = any_key(p->impl, p->depth);
  pprf_key *key, *volatile first_key = NULL, *fresh_key = NULL;
  volatile uint8_t *top = NULL;
  ok &= setup_in_suite(p->impl, &key, p->depth, root) == PPRF_OK;
  for (int round = 0; round < 2; round++) { /* the first is a warm-up */
    uint64_t leaves[40];
    size_t len = sizeof bytes;
    for (unsigned i = 0; i < 40; i++)
      leaves[i] = 1000 * (unsigned)round + 97 * i % 1000;
    for (unsigned i = 0; i < 40 && p->depth > 12; i++) /* below the highest possible node */
      leaves[i] += (uint64_t)round << (p->depth - 1);
    if (p->op == IMPORT)
      ok &= p->impl->export_key(key, bytes, &len) == PPRF_OK;
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(top) : : "memory");
#elif defined(__i386__)
    __asm__ volatile("mov %%esp, %0" : "=r"(top) : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(top) : : "memory");
#endif
    if (round == 1)
      for (volatile uint8_t *at = top - 1; at >= p->base; at--)
        *at = PAINT;
    wipe_end = p->unwiped && round == 1 ? UINTPTR_MAX : 0;
    ok &= CALL(p, key, leaves, bytes, &len) == PPRF_OK;
    if (round == 0) {
      first_key = fresh_key;
      fresh_key = NULL;
    }
  }
  p->reach = wipe_end == 0 ? 0 : (uintptr_t)top - wipe_end;
  wipe_end = 0;
  size_t own = p->op == WIPE ? OWN_CALL : OWN_FRAMES;
  p->deepest = p->dirty = 0;
  for (volatile uint8_t *at = p->base; at < top; at++)
    if (*at != PAINT && p->deepest == 0)
      p->deepest = (size_t)(top - at);
    else if (p->deepest != 0 && *at != 0 && (size_t)(top - at) > own && p->dirty == 0)
      p->dirty = (size_t)(top - at);
  if (p->deepest != 0 && *(top - p->deepest) != 0)
    p->dirty = p->deepest;
  explicit_bzero(bytes, sizeof bytes);
  p->impl->free(key);
  p->impl->free(first_key);
  p->impl->free(fresh_key);
  if (!ok)
    p->dirty = 1;
  return NULL;
}

/* Run an operation on its own stack. */
static void paint(struct painted *p)
{
  enum { SIZE = 1 << 18 };
  pthread_attr_t attr;
  pthread_t thread;
  void *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  p->base = stack;
  if (stack == MAP_FAILED || pthread_attr_init(&attr) != 0 ||
      pthread_attr_setstack(&attr, stack, SIZE) != 0 ||
      pthread_create(&thread, &attr, run_painted, p) != 0 || pthread_join(thread, NULL) != 0) {
    printf("Bail out! no thread on a stack of its own\n");
    exit(1);
  }
  munmap(stack, SIZE);
}

/* 1 if only zeros are left; *deepest: bytes of stack that were written. */
static int leaves_zeros(const struct pprf_impl *impl, unsigned levels, enum painted_op op,
                        size_t *deepest)
{
  struct painted p = {.impl = impl, .op = op, .depth = levels};
  paint(&p);
  *deepest = p.deepest;
  if (p.dirty != 0 && op != DIRTY)
    tap_note("%s, depth %u, %s: the stack is not wiped %zu bytes down; %zu bytes were written",
             impl->name, levels, painted_name[op], p.dirty, p.deepest);
  return p.dirty == 0 && p.deepest > 0;
}

/* 1 if the wipe is deeper than the work by at least an eighth, since code from another compiler
 * may need more. */
static int has_reserve(const struct pprf_impl *impl, unsigned levels, enum painted_op op)
{
  struct painted p = {.impl = impl, .op = op, .depth = levels, .unwiped = 1};
  paint(&p);
  int ok = p.deepest + p.deepest / 8 <= p.reach;
  if (!ok || getenv("PPRF_SHOW") != NULL)
    tap_note("%s, depth %u, %s: %zu bytes of stack are written, %zu would be wiped", impl->name,
             levels, painted_name[op], p.deepest, p.reach);
  return ok;
}

static void whole_stack(const struct pprf_impl *impl)
{
#if SEES_REGISTERS
  size_t deepest, most = 0;
  int ok = 1;
  for (enum painted_op op = SETUP; op < WIPE; op++) {
    ok &= leaves_zeros(impl, 12, op, &deepest);
    most = deepest > most ? deepest : most;
  }
  tap_ok(ok, "%s_all_that_was_written_below_a_function_is_zero", impl->name);
  ok = 1;
  for (enum painted_op op = SETUP; op < WIPE; op++)
    ok &= leaves_zeros(impl, PPRF_DEPTH_MAX, op, &deepest);
  tap_ok(ok, "%s_all_that_was_written_below_a_function_of_a_deep_key_is_zero", impl->name);
  if (impl == &impl_ref) {
    ok = leaves_zeros(impl, 12, WIPE, &deepest);
    tap_ok(ok && deepest >= WIPED && deepest < WIPED + 128 + 32 + OWN_CALL,
           "a_wipe_begins_at_its_return_address_and_is_as_long_as_asked");
  }
  tap_note("%s wipes up to %zu bytes of stack", impl->name, most);
  ok = 1;
  for (enum painted_op op = SETUP; __real_prg_wipe != NULL && op < WIPE; op++)
    ok &= has_reserve(impl, 12, op) & has_reserve(impl, PPRF_DEPTH_MAX, op);
  tap_ok(ok, "%s_a_wipe_goes_deeper_than_the_work_by_an_eighth%s", impl->name,
         __real_prg_wipe != NULL ? "" : " # SKIP the library is one file");
  tap_ok(!leaves_zeros(impl, 12, DIRTY, &deepest) && deepest > 40000,
         "control_%s_a_deeper_frame_is_noticed", impl->name);
#else
  tap_note("%s: the stack is not painted on this processor", impl->name);
#endif
}

/* ---------------------------------------------------------------- the PRG's version changes */

/* from opt's PRG, if that is linked */
__attribute__((weak)) int pprf_prg_select(const char *name);
__attribute__((weak)) const char *pprf_prg_name(void);

static volatile int toggling;

static void *toggle(void *unused)
{
  (void)unused;
  for (unsigned i = 0; toggling; i++)
    (void)pprf_prg_select(i % 2 ? "scalar" : "avx512");
  return NULL;
}

static int toggle_in_between(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  (void)n;
  (void)values;
  ++*(unsigned *)arg;
  return pprf_prg_select("scalar");
}

static int clean_registers(void)
{
  unsigned found = search_in("registers", (uintptr_t)&registers,
                             (uintptr_t)&registers + sizeof registers, &register_place);
  register_place.at -= (uintptr_t)&registers;
  memset(&registers, 0, sizeof registers);
  if (found > 0) {
    name_register(register_place.at, register_place.mapping);
    tap_note("%u finds; first: node %u in %s", found, register_place.node, register_place.mapping);
  }
  return found == 0;
}

/* An operation begins with the version that uses the most registers, and ends after another is
 * chosen. */
static void versions_change(void)
{
  if (pprf_prg_select == NULL)
    return;
  const char *before = pprf_prg_name();
  if (pprf_prg_select("avx512") != PPRF_OK) {
    tap_note(
      "this processor has no AVX-512; other versions use no registers that their wipes miss");
    return;
  }
  unsigned runs = 0, bad = 0, changed = 0;
  depth = 12;
  get_masked(7700);
  pprf_key *key = fresh(&impl_slots, 7700);
  want_subtree(1);
  wanted[1] = 0;
  prepare();
  int ok = 1;
  for (unsigned i = 0; i < 20; i++) {
    ok &= pprf_prg_select("avx512") == PPRF_OK;
    int err = pprf_expand(key, i, (1u << depth) - 1 - i, toggle_in_between, &runs);
    save_registers();
    ok &= err == PPRF_OK && clean_registers();
  }
  tap_ok(ok && runs >= 20, "opt_registers_are_wiped_when_a_callback_chooses_another_version");
  pthread_t thread;
  toggling = 1;
  if (pthread_create(&thread, &small_stack, toggle, NULL) != 0) {
    printf("Bail out! no thread\n");
    exit(1);
  }
  uint8_t out[SEED_MAX];
  /* the other thread may sleep on a busy machine, so count the calls in which it made a change */
  for (unsigned i = 0; (i < 3000 || changed < 100) && i < 300000 && bad < 5; i++) {
    const char *chosen = pprf_prg_name();
    int err = pprf_eval(key, i % (1u << depth), out);
    save_registers();
    explicit_bzero(out, sizeof out);
    bad += err != PPRF_OK || !clean_registers();
    changed += pprf_prg_name() != chosen;
  }
  toggling = 0;
  (void)pthread_join(thread, NULL);
  tap_note("another version was chosen during %u calls", changed);
  tap_ok(bad == 0 && changed >= 100,
         "opt_registers_are_wiped_when_a_thread_chooses_other_versions");
  impl_slots.free(key);
  (void)pprf_prg_select(before);
}

/* ---------------------------------------------------------------- a callback's stack */

static void unmask(volatile uint64_t *to, unsigned node)
{
  to[0] = masked[node][0] ^ MASK;
  to[1] = masked[node][1] ^ MASK;
}

__attribute__((noinline)) static void plant_below(unsigned node)
{
  volatile uint64_t stack[64]; /* 64 words: below the frame of search() */
  unmask(stack, node);
}

/* What a callback finds below its own frame, where the library's functions ran. */
static int search_below(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  unsigned *found = arg;
  struct place place;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  (void)leaf;
  (void)n;
  (void)values;
  *found += search_in("stack", here - (1 << 14), here, &place);
  return 0;
}

static void callbacks(const struct pprf_impl *impl)
{
  int (*expand_range)(const pprf_key *, uint64_t, uint64_t, pprf_each *, void *) =
    impl == &impl_ref ? ref_pprf_expand : pprf_expand;
  unsigned found = 0, planted = 0;
  depth = 12;
  get_masked(7800);
  pprf_key *key = fresh(impl, 7800);
  want_subtree(1);
  prepare();
  int err = expand_range(key, 0, (1u << depth) - 1, search_below, &found);
  plant_below(2000);
  (void)search_below(&planted, 0, 0, NULL);
  tap_ok(err == PPRF_OK && found == 0 && planted > 0, "%s_expands_callback_finds_no_seed_below_it",
         impl->name);
  impl->free(key);
}

/* ---------------------------------------------------------------- a core dump */

/* The number of finds in what a core dump of a stopped process would contain: its writable
 * mappings, except those that madvise(MADV_DONTDUMP) omits ("dd"). */
static unsigned search_image(pid_t pid)
{
  enum { CHUNK = 1 << 20 };
  static uint8_t chunk[CHUNK];
  char path[64], line[400], access[8] = "";
  unsigned long first = 0, end = 0;
  unsigned found = 0;
  struct place place;
  snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
  int mem = open(path, O_RDONLY);
  snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
  FILE *maps = fopen(path, "r");
  if (mem < 0 || maps == NULL) {
    printf("Bail out! the child's memory cannot be read: %s\n", strerror(errno));
    exit(1);
  }
  prepare();
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long a, b;
    if (sscanf(line, "%lx-%lx %7s", &a, &b, access) == 3) {
      first = a;
      end = b;
    }
    if (strncmp(line, "VmFlags:", 8) != 0 || access[1] != 'w' || strstr(line, " dd") != NULL)
      continue;
    ssize_t n;
    for (unsigned long at = first; at + 8 <= end; at += (unsigned long)n - 7) {
      n = pread(mem, chunk, end - at < CHUNK ? end - at : CHUNK, (off_t)at);
      if (n < 8)
        break;
      found += search_in("the image", (uintptr_t)chunk, (uintptr_t)chunk + (size_t)n, &place);
    }
  }
  explicit_bzero(chunk, sizeof chunk);
  fclose(maps);
  close(mem);
  return found;
}

/* Whether madvise(MADV_DONTDUMP) omits a mapping: in qemu's user mode it succeeds and does
 * nothing. */
static int dumps_leave_out(void)
{
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  FILE *maps = fopen("/proc/self/smaps", "r");
  char line[400];
  int inside = 0, left_out = 0;
  if (page == MAP_FAILED || maps == NULL || madvise(page, bytes, MADV_DONTDUMP) != 0) {
    printf("Bail out! cannot map a page: %s\n", strerror(errno));
    exit(1);
  }
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long a, b;
    if (sscanf(line, "%lx-%lx ", &a, &b) == 2)
      inside = a <= (uintptr_t)page && (uintptr_t)page < b;
    if (inside && strncmp(line, "VmFlags:", 8) == 0)
      left_out = strstr(line, " dd") != NULL;
  }
  fclose(maps);
  munmap(page, bytes);
  return left_out;
}

/* Puncture, evaluate, refuse a file, then stop at a point where a core dump might be written. */
static void work_and_stop(int fd, uint64_t arg)
{
  const struct pprf_impl *impl = stores[arg >> 16];
  uint64_t tag = arg & 0xffff;
  uint8_t out[SEED_MAX];
  pprf_key *key = fresh(impl, tag), *none;
  (void)fd;
  int ok = impl->punct(key, 5) == PPRF_OK && impl->eval_punct(key, 77, out) == PPRF_OK &&
           impl->punct_range(key, 100, 120) == PPRF_OK;
  explicit_bzero(out, sizeof out);
  ok = ok && import(impl, tag | (uint64_t)1 << 63, &none) == PPRF_ERR_FORMAT;
  if (ok)
    (void)raise(SIGSTOP);
  _exit(1);
}

static void core_dumps(unsigned i)
{
  const struct pprf_impl *impl = stores[i];
  uint64_t tag = 7300 + i;
  pid_t pid;
  int status;
  depth = 7;
  get_masked(tag);
  int fd = child(work_and_stop, (uint64_t)i << 16 | tag, &pid);
  int stopped = waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
  want_none();
  want_path(5);
  want_path(77);
  for (uint64_t x = 100; x <= 120; x++)
    want_path(x);
  unsigned erased = stopped ? search_image(pid) : 1;
  want_none();
  wanted[(1u << depth) + 4] = 1; /* the sibling of leaf 5 */
  unsigned live = stopped ? search_image(pid) : 0;
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  close(fd);
  tap_ok(stopped && erased == 0, "%s_a_core_dump_has_nothing_of_what_was_erased", impl->name);
  if (impl == &impl_ref)
    tap_ok(live > 0, "control_ref_a_core_dump_has_a_live_seed");
  else {
    int can = dumps_leave_out();
    tap_ok(stopped && (live == 0 || !can), "%s_a_core_dump_has_no_live_seed_either%s", impl->name,
           can ? "" : " # SKIP core dumps cannot omit memory here");
  }
}

/* ---------------------------------------------------------------- controls */

static unsigned control(int kind, unsigned node)
{
  volatile uint64_t *block = malloc(4096);
  volatile char *half = malloc(64);
  unsigned found;
  if (kind == 0) /* on the heap */
    unmask(block + 100, node);
  if (kind == 1) { /* in a freed block */
    unmask(block + 100, node);
    free((void *)(uintptr_t)block);
    block = NULL;
  }
  if (kind == 2) /* only the second half, at an odd address */
    for (int i = 0; i < 8; i++)
      half[13 + i] = (char)((masked[node][1] ^ MASK) >> 8 * i);
  if (kind == 3) /* in dead stack */
    plant_below(node);
  found = search();
  if (kind == 4) { /* in a vector register */
#if defined(__x86_64__) || defined(__i386__)
    uint64_t word = masked[node][0] ^ MASK;
    __asm__ volatile("movq %0, %%xmm5" : : "m"(word));
    save_registers();
    __asm__ volatile("pxor %%xmm5, %%xmm5" : :);
    word = 0;
    __asm__ volatile("" : : "m"(word));
    (void)search();
    found = in_registers;
#elif defined(__aarch64__)
    uint64_t word = masked[node][0] ^ MASK;
    __asm__ volatile("fmov d9, %0" : : "r"(word) : "v9");
    save_registers();
    __asm__ volatile("movi v9.2d, #0" : : : "v9");
    (void)search();
    found = in_registers;
#endif
  }
  if (block != NULL)
    explicit_bzero((void *)(uintptr_t)block, 4096);
  explicit_bzero((void *)(uintptr_t)half, 64);
  free((void *)(uintptr_t)half);
  free((void *)(uintptr_t)block);
  return found;
}

static void controls(void)
{
  static const char *const where[] = {"on_the_heap", "in_a_freed_block", "half_at_an_odd_address",
                                      "in_dead_stack", "in_a_register"};
  depth = 7;
  for (int kind = 0; kind < 5; kind++) {
    get_masked(7000 + (uint64_t)kind);
    want_none();
    wanted[200] = 1;
    unsigned before = search();
    unsigned found = control(kind, 200);
    int skip = kind == 4 && !SEES_REGISTERS;
    tap_ok(before == 0 && (found > 0 || skip), "control_a_planted_seed_is_found_%s%s", where[kind],
           skip ? NO_REGISTERS : "");
  }
  for (int i = 0; i < STORES; i++) {
    uint64_t tag = 7100 + (uint64_t)i;
    get_masked(tag);
    pprf_key *key = fresh(stores[i], tag);
    int ok = stores[i]->punct(key, 0) == PPRF_OK;
    unsigned found = 0;
    for (unsigned n = 1; n < 1u << depth; n *= 2) { /* the siblings right of the path */
      want_none();
      wanted[2 * n + 1] = 1;
      found += search() > 0;
    }
    tap_ok(ok && found == depth, "control_%s_live_seeds_are_found", stores[i]->name);
    stores[i]->free(key);
  }
}

int main(int argc, char **argv)
{
  int full = tap_full(argc, argv);
  pthread_t thread;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (pthread_attr_init(&small_stack) != 0 ||
      pthread_attr_setstacksize(&small_stack, 1 << 18) != 0 ||
      pthread_create(&thread, &small_stack, searcher, NULL) != 0) {
    printf("Bail out! no thread\n");
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], "--chosen") == 0) { /* the chosen version of the PRG */
    puts(pprf_prg_name != NULL ? pprf_prg_name() : "");
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "--stack") == 0) { /* takes one second instead of ten */
    for (int i = 0; i < STORES; i++) {
      whole_stack(stores[i]);
      callbacks(stores[i]);
    }
    versions_change();
    return tap_end();
  }
  for (int i = 0; i < STORES; i++) {
    test(stores[i], "punctures_leave_nothing_of_path_or_value", punctures, full);
    test(stores[i], "ranges_leave_nothing_of_what_they_cover", ranges, full);
    test(stores[i], "delegated_keys_have_nothing_outside_of_their_range", delegations, full);
    test(stores[i], "reads_leave_nothing_but_live_seeds", reads, full);
    test(stores[i], "imports_leave_nothing_of_a_rejected_file", imports, full);
  }
  for (int i = 0; i < STORES; i++) {
    whole_stack(stores[i]);
    callbacks(stores[i]);
  }
  versions_change();
  for (unsigned i = 0; i < STORES; i++)
    core_dumps(i);
  controls();
  tap_note("%lu searches, %llu MB", searches, (unsigned long long)(bytes_searched >> 20));
  return tap_end();
}
