/* SPDX-License-Identifier: Apache-2.0 */
/* prg_wipe alone, and the plans that prg/choice.c makes for it.
 *
 * An operation leaves in the registers and on the stack only what this processor happened to use.
 * So here all registers and the stack are filled before each call of prg_wipe. Each length is
 * tried, on behalf of each kind of processor whose registers this one has too.
 *
 * The plans are tested with two threads. The second runs a whole operation at each atomic
 * operation of the first in turn. The plans must always cover every version that was used. */
#include "../../tools/meet.h"

#define prg_expand_evp may_fail
#define prg_expand_wide_evp may_fail_wide
#include "../../prg/choice.c"
#undef prg_expand_evp
#undef prg_expand_wide_evp

#include "registers.h"
#include "../../tools/tap.h"

/* ---- plans ---- */

static struct choice *const choices[] = {&sha3_choice, &aes_choice, &sha256_choice};
enum { CHOICES = 3, VERSIONS_MAX = 8, SUITES = 4 };

static int was_current[CHOICES][VERSIONS_MAX];
static int failing;       /* whether libcrypto does */
static unsigned met;      /* atomic operations of the first thread so far */
static unsigned other_at; /* the one before which the second thread's operation runs */
static int other = -1;    /* that operation; -1: none, or it has run */
static const char *ran, *ran_other;

static void run(unsigned op);

static int covered(const struct version *v)
{
  uint64_t one = prg_wipe_plan(0), many = opt_wipe_plan(0);
  return (one & WIPE_BYTES) >= v->stack && (many & WIPE_BYTES) >= v->stack_many &&
         (one & ~(uint64_t)WIPE_BYTES) == prg_wipe_flags() &&
         (many & ~(uint64_t)WIPE_BYTES) == prg_wipe_flags();
}

/* Look which versions are current; all that ever were must be covered. */
static void look(void)
{
  for (unsigned c = 0; c < CHOICES; c++) {
    const struct version *now = atomic_load_explicit(&choices[c]->current, MEET_ORDER);
    if (now != choices[c]->undecided)
      was_current[c][now - choices[c]->versions] = 1;
    for (const struct version *v = choices[c]->versions; v <= choices[c]->last; v++)
      tap_check(!was_current[c][v - choices[c]->versions] || covered(v),
                "%s, and %s before its atomic operation %u: the plans do not cover %s", ran,
                ran_other, other_at, v->name);
  }
}

static void meet(void)
{
  look();
  if (other >= 0 && ++met == other_at) {
    unsigned now = (unsigned)other;
    other = -1;
    run(now);
    look();
  }
}

static const struct pprf_seed callers = {0x1234, 0x5678};

struct pprf_children prg_expand_evp(struct pprf_family family, struct pprf_seed seed,
                                    uint64_t start, unsigned height);
struct pprf_wide_children prg_expand_wide_evp(struct pprf_family family, struct pprf_wide_seed seed,
                                              uint64_t start, unsigned height);

struct pprf_children may_fail(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                              unsigned height)
{
  if (same_seed(seed, callers))
    tap_check(covered(choice_of(family.suite)->last),
              "%s and %s: libcrypto's version is not covered", ran, ran_other);
  if (failing)
    return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
  return prg_expand_evp(family, seed, start, height);
}

struct pprf_wide_children may_fail_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                        uint64_t start, unsigned height)
{
  if (seed.lo == callers.lo)
    tap_check(covered(sha256_choice.last), "%s and %s: libcrypto's version is not covered", ran,
              ran_other);
  if (failing)
    return (struct pprf_wide_children){.err = PPRF_ERR_CRYPTO};
  return prg_expand_wide_evp(family, seed, start, height);
}

/* An operation: the selection of a version, or the use of a suite while libcrypto works or fails. */
enum { SELECTIONS = CHOICES * VERSIONS_MAX, OPERATIONS = SELECTIONS + 2 * SUITES };

static const char *name_of(unsigned op)
{
  static const char *const use[] = {"sha3-256",
                                    "sha3-256-salted",
                                    "aes-128",
                                    "mls-sha256",
                                    "sha3-256 without libcrypto",
                                    "sha3-256-salted without libcrypto",
                                    "aes-128 without libcrypto",
                                    "mls-sha256 without libcrypto"};
  const struct choice *c = choices[op / VERSIONS_MAX % CHOICES];
  const struct version *v = c->versions + op % VERSIONS_MAX;
  return op >= SELECTIONS ? use[op - SELECTIONS] : v <= c->last && v->usable() ? v->name : NULL;
}

static void run(unsigned op)
{
  unsigned suite = PRG_SHA3_256 + (op - SELECTIONS) % SUITES;
  struct pprf_family family = {suite, 0, 0};
  int before = failing;
  failing = op >= SELECTIONS + SUITES;
  if (op < SELECTIONS)
    tap_check(pprf_prg_select(name_of(op)) == PPRF_OK, "%s cannot be selected", name_of(op));
  else if (suite == PRG_MLS_SHA256)
    (void)prg_expand_wide(family, (struct pprf_wide_seed){callers.lo, callers.hi, 3, 4}, 0, 1);
  else
    (void)prg_expand(family, callers, 0, 1);
  failing = before;
}

static void from_the_beginning(void)
{
  for (unsigned c = 0; c < CHOICES; c++)
    atomic_store_explicit(&choices[c]->current, choices[c]->undecided, MEET_ORDER);
  atomic_store_explicit(&used, 0, MEET_ORDER);
  atomic_store_explicit(&used_many, 0, MEET_ORDER);
  memset(was_current, 0, sizeof was_current);
}

/* Each pair of operations: the second before each atomic operation of the first, and after it. */
static void plans(void)
{
  unsigned pairs = 0;
  for (unsigned a = 0; a < OPERATIONS; a++)
    for (unsigned b = 0; b < OPERATIONS && (ran = name_of(a)) != NULL; b++)
      for (int within = (ran_other = name_of(b)) != NULL; within; pairs++) {
        other_at = within++;
        met = 0;
        other = (int)b;
        from_the_beginning();
        run(a);
        if (other >= 0) { /* the first one has no more of them */
          within = 0;
          other = -1;
          run(b);
        }
        look();
      }
  tap_check(pairs > 500, "%u pairs", pairs);
  tap_end_test("plans_cover_each_version_that_callers_used_while_another_thread_chooses");
}

/* ---- prg_wipe ---- */

#if defined(__x86_64__) || defined(__i386__)

enum { PAINT = 0xa5, LENGTH_MAX = 9000, REACH = LENGTH_MAX + 256 };
#ifdef __x86_64__
enum { CALL = 8, UNSEEN = CALL }; /* a return address */
#else
enum { CALL = 4, UNSEEN = 32 }; /* and perhaps arguments */
#endif

/* XSAVE's state components: SSE, AVX, and AVX-512's masks, upper halves and upper registers. */
enum { SSE = 1 << 1, AVX = 1 << 2, MASKS = 1 << 5, HALVES = 1 << 6, UPPER = 1 << 7 };

static struct {
  uint8_t bytes[sizeof registers.vector];
} image __attribute__((aligned(64)));
static volatile uint8_t *below;        /* the stack pointer at the call */
static uint8_t stack_after[REACH + 1]; /* byte k below it, as the call left it */
static unsigned from[8], size[8],
  has; /* of the components in an image; those that the processor has */

static void find_components(void)
{
  unsigned a, b, c, d;
  from[1] = 160;
  size[1] = sizeof(void *) == 8 ? 256 : 128;
  has = SSE;
  for (unsigned i = 2; i < 8; i++)
    if (__get_cpuid_count(0xd, i, &a, &b, &c, &d) && a > 0 && b + a <= sizeof image) {
      from[i] = b;
      size[i] = a;
    }
  uint64_t flags = prg_wipe_flags();
  has |= flags & WIPE_AVX ? AVX : 0;
  has |= flags & WIPE_AVX512 ? MASKS | HALVES | UPPER : 0;
}

__attribute__((noinline)) static void fill_and_wipe(uint64_t plan, int wipes)
{
  volatile uint8_t *stack;
#ifdef __x86_64__
  __asm__ volatile("mov %%rsp, %0" : "=r"(stack));
#else
  __asm__ volatile("mov %%esp, %0" : "=r"(stack));
#endif
  for (unsigned k = 1; k <= REACH; k++)
    stack[-(int)k] = PAINT;
#ifdef __x86_64__
  __asm__ volatile(
    "movq %%rsp, %0\n\tmovl $-1, %%eax\n\tmovl $-1, %%edx\n\txrstor64 %1\n\tmovq $-1, %%r8\n\t"
    "movq $-1, %%r9\n\tmovq $-1, %%r10\n\tmovq $-1, %%r11"
    : "=m"(below)
    : "m"(image)
    : "rax", "rdx", "r8", "r9", "r10", "r11", "memory");
#else
  __asm__ volatile("movl %%esp, %0\n\tmovl $-1, %%eax\n\tmovl $-1, %%edx\n\txrstor %1"
                   : "=m"(below)
                   : "m"(image)
                   : "eax", "edx", "memory");
#endif
  if (wipes)
    prg_wipe(plan);
  save_registers();
  for (unsigned k = 1; k <= REACH; k++)
    stack_after[k] = below[-(int)k];
}

/* The components of which a byte is not zero. */
static unsigned left_in_registers(void)
{
  unsigned left = 0;
  for (unsigned i = 1; i < 8; i++)
    for (unsigned k = 0; k < size[i] && (has >> i & 1) != 0; k++)
      left |= registers.vector[from[i] + k] != 0 ? 1u << i : 0;
  return left;
}

static void check_wipe(const char *processor, uint64_t flags, unsigned wiped, unsigned bytes,
                       unsigned odd)
{
  (void)memset(__builtin_alloca(16 * odd + 1), 0,
               1); /* the stack is aligned to 16 bytes, the wipe to 32 */
  fill_and_wipe(flags | bytes, 1);
  unsigned left = left_in_registers() & wiped, dirty = 0;
  for (unsigned k = UNSEEN + 1; k <= CALL + bytes; k++)
    dirty = stack_after[k] != 0 ? k : dirty;
  tap_check(left == 0, "%s, %u bytes: registers %x are left", processor, bytes, left);
  tap_check(dirty == 0, "%s, %u bytes: the byte %u down the stack is left", processor, bytes,
            dirty);
#ifdef __x86_64__
  for (unsigned i = 0; i < 9; i++)
    tap_check(i == 1 || registers.general[i] != UINT64_MAX, "%s: general register %u is left",
              processor, i);
#endif
}

static void wipes(void)
{
  static const struct {
    const char *name;
    uint64_t flags;
    unsigned wiped;
  } processors[] = {{"a_processor_without_avx", WIPE_SSE, SSE},
                    {"a_processor_without_avx512", WIPE_SSE | WIPE_AVX, SSE | AVX},
                    {"a_processor_with_avx512", WIPE_SSE | WIPE_AVX | WIPE_AVX512,
                     SSE | AVX | MASKS | HALVES | UPPER}};
  find_components();
  save_registers();
  memcpy(&image, registers.vector, sizeof image);
  image.bytes[512] |= (uint8_t)has;
  for (unsigned i = 1; i < 8; i++)
    if (has >> i & 1)
      memset(&image.bytes[from[i]], 0xff, size[i]);
  fill_and_wipe(0, 0);
  tap_ok(left_in_registers() == has, "control_all_registers_are_filled (%x)", has);
  for (unsigned i = 0; i < 3; i++) {
    int can = (processors[i].flags & ~prg_wipe_flags()) == 0;
    unsigned wiped =
      processors[i].wiped & (sizeof(void *) == 8 ? ~0u : ~(unsigned)(HALVES | UPPER));
    for (unsigned bytes = 1; bytes < LENGTH_MAX && can; bytes += bytes < 600 ? 1 : 97)
      for (unsigned odd = 0; odd < 2; odd++)
        check_wipe(processors[i].name, processors[i].flags, wiped, bytes, odd);
    tap_ok(tap_missed == 0, "a_wipe_clears_registers_and_each_byte_on_%s%s", processors[i].name,
           can ? "" : " # SKIP this one has less");
    tap_missed = 0;
  }
}

#else

static void wipes(void)
{
  tap_ok(
    1,
    "a_wipe_clears_all # SKIP wide_prg sees it here: all processors of this kind have the same registers");
}

#endif

int main(void)
{
  wipes();
  plans();
  return tap_end();
}
