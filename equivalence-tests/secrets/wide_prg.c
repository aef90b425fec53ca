/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG for 32-byte seeds, called as the API calls it: its residue in each version, and its
 * results when libcrypto fails (the linker's --wrap, rules.mk). */
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "pprf.h"
#include "prg.h"
#include "registers.h"
#include "../../tools/tap.h"
#include "wide.h"

/* from the PRG that ships, if it is linked */
__attribute__((weak)) int pprf_prg_select(const char *name);
__attribute__((weak)) const char *pprf_sha256_name(void);
/* if that is not linked, from lanes.c */
__attribute__((weak)) uint64_t opt_wipe_plan(unsigned own);

#define FAMILY ((struct pprf_family){PRG_MLS_SHA256, 0, 0})
#define MANY 5

/* what is searched for, masked */

/* The calls' seeds are masked words from a generator, unmasked only where they are used. */
#define MASK UINT64_C(0x9d3f5ac7e1b20846)
/* The words of a step's parent, left and right child; and each as SHA-256 stores it: two 32-bit
 * words in either order, byte-swapped, and XORed with HMAC's pads. */
static uint64_t masked[MANY][12], sought[MANY * 12 * 9];

static uint64_t generated(unsigned step, unsigned word)
{
  uint64_t state = 1000 * step + word + 7;
  return tap_random(&state);
}

static uint64_t turned(uint64_t v)
{
  v = (v >> 8 & UINT64_C(0x00ff00ff00ff00ff)) | (v & UINT64_C(0x00ff00ff00ff00ff)) << 8;
  return (v >> 16 & UINT64_C(0x0000ffff0000ffff)) | (v & UINT64_C(0x0000ffff0000ffff)) << 16;
}

static uint64_t exchanged(uint64_t v)
{
  return v << 32 | v >> 32;
}

/* From a masked word only masked words are made; an unmasked one never exists. */
static void seek_all(void)
{
  static const uint64_t pads[] = {0, UINT64_C(0x3636363636363636), UINT64_C(0x5c5c5c5c5c5c5c5c)};
  uint64_t *to = sought;
  const uint64_t turn = turned(MASK) ^ MASK, exchange = exchanged(MASK) ^ MASK;
  for (unsigned i = 0; i < MANY; i++)
    for (unsigned k = 0; k < 12; k++)
      for (unsigned p = 0; p < 3; p++) {
        uint64_t big_endian = turned(masked[i][k]) ^ (turn ^ pads[p]);
        *to++ = masked[i][k] ^ pads[p];
        *to++ = big_endian;
        *to++ = exchanged(big_endian) ^ exchange;
      }
}

static int leave_it; /* a control: leave what the wipe would remove */

static unsigned search(const char *where, uintptr_t from, uintptr_t to)
{
  static uint8_t filter[1 << 16];
  unsigned found = 0;
  memset(filter, 0, sizeof filter);
  for (unsigned k = 0; k < sizeof sought / sizeof *sought; k++)
    filter[sought[k] & 0xffff] = 1;
  for (uintptr_t at = from; at + 8 <= to; at++) {
    uint64_t word;
    memcpy(&word, (const void *)at, 8);
    word ^= MASK;
    if (!filter[word & 0xffff])
      continue;
    for (unsigned k = 0; k < sizeof sought / sizeof *sought; k++)
      if (word == sought[k] && found++ == 0 && !leave_it)
        tap_note("word %u at 0x%lx in %s", k, (unsigned long)at, where);
  }
  return found;
}

/* How often one of the words is in writable memory or in a register. */
static unsigned search_all(void)
{
  char line[400], access[8];
  unsigned long from, to;
  unsigned found =
    search("registers", (uintptr_t)&registers, (uintptr_t)&registers + sizeof registers);
  FILE *maps = fopen("/proc/self/maps", "r");
  memset(&registers, 0, sizeof registers);
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && access[0] == 'r' &&
        access[1] == 'w' && strstr(line, "[vvar") == NULL)
      found += search(line, from, to);
  if (maps != NULL)
    fclose(maps);
  return found;
}

/* ---------------------------------------------------------------- the calls, on a painted stack */

#define PAINT 0xa5
#define OWN 256 /* a caller's own frame, which holds no secret */

static int many;
static unsigned own_stack; /* stack bytes that work itself uses */

__attribute__((noinline)) static uintptr_t here(void)
{
  return (uintptr_t)__builtin_frame_address(0);
}

/* Like an API function, it has seeds in its frame. */
PPRF_WORK static int work(uintptr_t caller)
{
  struct pprf_wide_seed seed[MANY], right[MANY];
  struct opt_wide_step step[MANY];
  int err = 0;
  own_stack = (unsigned)(caller - here());
  for (unsigned i = 0; i < MANY; i++) {
    seed[i] = (struct pprf_wide_seed){generated(i, 0) ^ MASK, generated(i, 1) ^ MASK,
                                      generated(i, 2) ^ MASK, generated(i, 3) ^ MASK};
    step[i] = (struct opt_wide_step){&seed[i], &seed[i], &right[i], 2 * i, 1};
  }
  if (many)
    err = opt_expand_many_wide(FAMILY, step, MANY);
  for (unsigned i = 0; i < MANY; i++) {
    if (!many) {
      struct pprf_wide_children c = prg_expand_wide(FAMILY, seed[i], 2 * i, 1);
      seed[i] = c.left;
      right[i] = c.right;
      err |= c.err;
    }
    const uint64_t word[8] = {seed[i].lo,  seed[i].hi,  seed[i].third,  seed[i].fourth,
                              right[i].lo, right[i].hi, right[i].third, right[i].fourth};
    for (unsigned k = 0; k < 4; k++)
      masked[i][k] = generated(i, k);
    for (unsigned k = 0; k < 8; k++)
      masked[i][4 + k] = word[k] ^ MASK;
  }
  return err;
}

__attribute__((noinline)) static int api(void)
{
  int err = work((uintptr_t)__builtin_frame_address(0));
  if (!leave_it)
    prg_wipe(many ? opt_wipe_plan(own_stack) : prg_wipe_plan(own_stack));
  return err;
}

static struct {
  volatile uint8_t *base;
  size_t size, deepest, dirty; /* bytes below the caller's frame */
  unsigned rounds, found;
  int err;
} painted;

static void *on_painted_stack(void *unused)
{
  volatile uint8_t *top = __builtin_frame_address(0);
  (void)unused;
  top -= OWN;
  for (unsigned round = 0; round < painted.rounds; round++) { /* the first one warms up */
    for (volatile uint8_t *at = top - 1; at >= painted.base; at--)
      *at = PAINT;
    painted.err |= api();
    save_registers();
  }
  painted.deepest = painted.dirty = 0;
  for (volatile uint8_t *at = painted.base; at < top; at++)
    if (painted.deepest == 0 && *at != PAINT)
      painted.deepest = (size_t)(top - at);
  for (volatile uint8_t *at = top - painted.deepest; at < top && painted.dirty == 0; at++)
    if (*at != 0)
      painted.dirty = (size_t)(top - at);
  seek_all();
  painted.found = search_all();
  return NULL;
}

static void run_painted(unsigned rounds)
{
  pthread_attr_t attr;
  pthread_t thread;
  painted.size = 1 << 18;
  painted.rounds = rounds;
  painted.err = 0;
  void *stack =
    mmap(NULL, painted.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  painted.base = stack;
  if (stack == MAP_FAILED || pthread_attr_init(&attr) != 0 ||
      pthread_attr_setstack(&attr, stack, painted.size) != 0 ||
      pthread_create(&thread, &attr, on_painted_stack, NULL) != 0 ||
      pthread_join(thread, NULL) != 0) {
    printf("Bail out! no thread on a stack of its own\n");
    exit(1);
  }
  munmap(stack, painted.size);
}

static void leaves_nothing(const char *version)
{
  for (many = 0; many < 2; many++) {
    run_painted(2);
    if (painted.dirty > 0)
      tap_note("the stack is not wiped %zu bytes down; %zu bytes were written", painted.dirty,
               painted.deepest);
    tap_ok(painted.err == 0 && painted.dirty == 0 && painted.deepest > 0,
           "%s_%s_all_that_was_written_below_a_function_is_zero (%zu bytes)", version,
           many ? "side_by_side" : "alone", painted.deepest);
    tap_ok(painted.found == 0, "%s_%s_leaves_no_word_of_a_seed", version,
           many ? "side_by_side" : "alone");
    leave_it = 1;
    run_painted(2);
    leave_it = 0;
    tap_ok(painted.dirty > 0 && painted.found > 0,
           "control_%s_%s_without_the_wipe_it_does (%zu bytes, %u of the caller's)", version,
           many ? "side_by_side" : "alone", painted.deepest, own_stack);
  }
}

/* One version in a new process, where the wipe is only as deep as this version needs. */
static void leaves_nothing_apart(const char *version)
{
  enum { TESTS = 6, NOT_HERE = 77 };
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (pprf_prg_select(version) != PPRF_OK)
      _exit(NOT_HERE);
    leaves_nothing(version);
    _exit(tap_failed > 0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
    printf("Bail out! %s: no result\n", version);
    exit(1);
  }
  if (WEXITSTATUS(status) == NOT_HERE) {
    tap_note("this processor cannot run %s", version);
    return;
  }
  tap_count += TESTS;
  tap_failed += WEXITSTATUS(status);
}

/* In a new process: choosing a version uses as much stack as libcrypto. */
static void first_use(void)
{
  int status, fd[2];
  for (many = 0; many < 2; many++) {
    fflush(stdout);
    pid_t child = pipe(fd) == 0 ? fork() : -1;
    if (child == 0) {
      run_painted(1);
      _exit(painted.err != 0 || painted.found > 0);
    }
    tap_ok(child > 0 && waitpid(child, &status, 0) == child && status == 0,
           "the_first_use_%s_leaves_no_word_of_a_seed", many ? "side_by_side" : "alone");
  }
}

/* ---------------------------------------------------------------- libcrypto fails */

static int failing; /* the call that fails, from 1 */
static enum { NO_FAULT, CTX_NEW, DERIVE, RANDOM } fault;

static int fails(int what)
{
  return fault == (unsigned)what && --failing == 0;
}

EVP_KDF_CTX *__real_EVP_KDF_CTX_new(EVP_KDF *kdf);
EVP_KDF_CTX *__wrap_EVP_KDF_CTX_new(EVP_KDF *kdf);
EVP_KDF_CTX *__wrap_EVP_KDF_CTX_new(EVP_KDF *kdf)
{
  return fails(CTX_NEW) ? NULL : __real_EVP_KDF_CTX_new(kdf);
}

int __real_EVP_KDF_derive(EVP_KDF_CTX *ctx, unsigned char *key, size_t len,
                          const OSSL_PARAM params[]);
int __wrap_EVP_KDF_derive(EVP_KDF_CTX *ctx, unsigned char *key, size_t len,
                          const OSSL_PARAM params[]);
int __wrap_EVP_KDF_derive(EVP_KDF_CTX *ctx, unsigned char *key, size_t len,
                          const OSSL_PARAM params[])
{
  return fails(DERIVE) ? 0 : __real_EVP_KDF_derive(ctx, key, len, params);
}

int __real_RAND_priv_bytes(unsigned char *bytes, int n);
int __wrap_RAND_priv_bytes(unsigned char *bytes, int n);
int __wrap_RAND_priv_bytes(unsigned char *bytes, int n)
{
  return fails(RANDOM) ? 0 : __real_RAND_priv_bytes(bytes, n);
}

static int is_zero(struct pprf_wide_seed s)
{
  return s.lo == 0 && s.hi == 0 && s.third == 0 && s.fourth == 0;
}

static int same(struct pprf_wide_seed a, struct pprf_wide_seed b)
{
  return a.lo == b.lo && a.hi == b.hi && a.third == b.third && a.fourth == b.fourth;
}

static struct pprf_wide_children one_call(void)
{
  return prg_expand_wide(FAMILY, (struct pprf_wide_seed){1, 2, 3, 4}, 0, 1);
}

static int fails_with(int what, int call, int want)
{
  fault = what;
  failing = call;
  struct pprf_wide_children c = one_call();
  fault = NO_FAULT;
  return c.err == want && is_zero(c.left) && is_zero(c.right);
}

static void libcrypto_fails(void)
{
  struct pprf_wide_children good = one_call();
  int ok = good.err == 0 && !is_zero(good.left) && !is_zero(good.right);
  ok &= fails_with(CTX_NEW, 1, PPRF_ERR_NOMEM);
  ok &= fails_with(DERIVE, 1, PPRF_ERR_CRYPTO) && fails_with(DERIVE, 2, PPRF_ERR_CRYPTO);
  struct pprf_wide_children again = one_call();
  ok &= again.err == 0 && same(good.left, again.left) && same(good.right, again.right);
  tap_ok(ok, "an_error_of_libcrypto_gives_zeros_and_its_own_result");
  struct pprf_wide_seed seed[MANY], left[MANY], right[MANY];
  struct opt_wide_step step[MANY];
  for (unsigned i = 0; i < MANY; i++) {
    seed[i] = (struct pprf_wide_seed){i, 2, 3, 4};
    step[i] = (struct opt_wide_step){&seed[i], &left[i], &right[i], 0, 1};
  }
  ok = 1;
  for (int call = 1; call <= 2 * MANY; call++) {
    fault = DERIVE;
    failing = call;
    ok &= opt_expand_many_wide(FAMILY, step, MANY) == PPRF_ERR_CRYPTO;
  }
  fault = NO_FAULT;
  ok &= opt_expand_many_wide(FAMILY, step, MANY) == PPRF_OK;
  tap_ok(ok, "no_error_is_lost_among_parallel_calls");
  ok = prg_expand_wide(PRG_BARE, seed[0], 0, 1).err == PPRF_ERR_CRYPTO &&
       prg_expand((struct pprf_family){PRG_MLS_SHA256, 0, 0}, (struct pprf_seed){1, 2}, 0, 1).err ==
         PPRF_ERR_CRYPTO;
  tap_ok(ok, "a_suite_has_seeds_of_its_own_length_alone");
}

/* ---------------------------------------------------------------- seeds that are drawn */

static int all_differ(const struct pprf_wide_seed *a, const struct pprf_wide_seed *b)
{
  return a->lo != b->lo && a->hi != b->hi && a->third != b->third && a->fourth != b->fourth &&
         a->lo != a->third && a->hi != a->fourth && a->lo != a->hi;
}

static void drawn_seeds(void)
{
  struct pprf_wide_seed a = {0, 0, 0, 0}, b = a, c = {1, 1, 1, 1}, d = a;
  int fd[2], status;
  int ok = prg_random_wide(&a) == 0 && prg_random_wide(&b) == 0 && all_differ(&a, &b);
  fault = RANDOM;
  failing = 1;
  ok &= prg_random_wide(&c) == PPRF_ERR_CRYPTO && is_zero(c);
  tap_ok(ok, "a_seed_is_drawn_and_without_a_generator_it_is_zero");
  fflush(stdout);
  pid_t child = pipe(fd) == 0 ? fork() : -1;
  if (child == 0) { /* in a child libcrypto's generator may be locked, so it is not called */
    failing = 1;
    ok = prg_random_wide(&c) == 0 && write(fd[1], &c, sizeof c) == sizeof c;
    _exit(!ok);
  }
  fault = NO_FAULT;
  ok = child > 0 && waitpid(child, &status, 0) == child && status == 0 &&
       read(fd[0], &d, sizeof d) == sizeof d && all_differ(&d, &a) && all_differ(&d, &b);
  tap_ok(ok, "a_child_that_fork_made_asks_the_system");
}

int main(void)
{
  static const char *const names[] = {"sha256-ni", "sha256-armv8", "sha256-scalar", "sha256-evp"};
  if (pprf_prg_select == NULL) {
    leaves_nothing("libcrypto");
  } else {
    first_use();
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
      leaves_nothing_apart(names[i]);
    if (pprf_prg_select("sha256-evp") != PPRF_OK)
      return 1;
  }
  libcrypto_fails();
  drawn_seeds();
  return tap_end();
}
