/* SPDX-License-Identifier: Apache-2.0 */
/* prg_expand of the library that ships: one of the versions of keccak.h, or libcrypto's.
 * ref/prg.c is compiled beside it with its functions of these names renamed to *_evp. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "keccak.h"

opt_expand prg_expand_evp;
int prg_digest_evp(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
void prg_wipe_stack_evp(void);

static int always(void)
{
  return 1;
}

#if OPT_KECCAK_X86
static int have_avx2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

static int have_avx512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#endif

static const struct version {
  const char *name;
  opt_expand *expand;
  int (*usable)(void);
} versions[] = { /* the fastest first; the last is what remains */
#if OPT_KECCAK_X86
  {"avx512", opt_keccak_avx512, have_avx512},
  {"avx2", opt_keccak_avx2, have_avx2},
#endif
  {"scalar", opt_keccak_scalar, always},
  {"evp", prg_expand_evp, always}};

#define VERSIONS (sizeof versions / sizeof *versions)

static opt_expand choose_and_expand;
static _Atomic(opt_expand *) current = choose_and_expand;
static _Thread_local uint64_t calls;

/* Whether a version agrees with libcrypto: 1 or 0, or -1 if libcrypto fails. */
static int agrees(opt_expand *expand)
{
  struct pprf_seed seed = {0, 0};
  for (unsigned i = 0; i < 64; i++) {
    struct pprf_children a = prg_expand_evp(seed, 0, 1), b = expand(seed, 0, 1);
    if (a.err != 0)
      return -1;
    if (a.left.lo != b.left.lo || a.left.hi != b.left.hi || a.right.lo != b.right.lo ||
        a.right.hi != b.right.hi)
      return 0;
    seed = i & 1 ? a.right : a.left;
  }
  return 1;
}

/* Choose the version.  Threads that come here at once choose the same one.  While libcrypto fails
 * nothing is decided and its error is the caller's result. */
static opt_expand *choose(void)
{
  const char *wanted = secure_getenv("PPRF_PRG");
  size_t i = 0, named = VERSIONS;
  if (wanted != NULL)
    for (named = 0; named < VERSIONS && strcmp(wanted, versions[named].name) != 0; named++)
      ;
  if (named < VERSIONS)
    i = versions[named].usable() ? named : VERSIONS - 1;
  while (!versions[i].usable())
    i++;
  int same = agrees(versions[i].expand);
  if (same < 0)
    return prg_expand_evp;
  opt_expand *chosen = same ? versions[i].expand : prg_expand_evp;
  atomic_store(&current, chosen);
  return chosen;
}

static struct pprf_children choose_and_expand(struct pprf_seed seed, uint64_t start,
                                              unsigned height)
{
  return choose()(seed, start, height);
}

const char *opt_prg_name(void)
{
  opt_expand *expand = atomic_load(&current);
  size_t i = 0;
  if (expand == choose_and_expand)
    expand = choose();
  while (versions[i].expand != expand)
    i++;
  return versions[i].name;
}

struct pprf_children prg_expand(struct pprf_seed seed, uint64_t start, unsigned height)
{
  calls++;
  return atomic_load_explicit(&current, memory_order_acquire)(seed, start, height);
}

uint64_t prg_calls(void)
{
  return calls;
}

#if OPT_KECCAK_X86
/* The registers that a caller may not rely on.  Seeds are only ever in the low halves of vectors;
 * those that a caller may rely on, callees have restored. */
static inline void wipe_registers(void)
{
  __asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2\n\t"
                   "pxor %%xmm3, %%xmm3; pxor %%xmm4, %%xmm4; pxor %%xmm5, %%xmm5\n\t"
                   "pxor %%xmm6, %%xmm6; pxor %%xmm7, %%xmm7; pxor %%xmm8, %%xmm8\n\t"
                   "pxor %%xmm9, %%xmm9; pxor %%xmm10, %%xmm10; pxor %%xmm11, %%xmm11\n\t"
                   "pxor %%xmm12, %%xmm12; pxor %%xmm13, %%xmm13; pxor %%xmm14, %%xmm14\n\t"
                   "pxor %%xmm15, %%xmm15; xor %%eax, %%eax; xor %%ecx, %%ecx\n\t"
                   "xor %%edx, %%edx; xor %%esi, %%esi; xor %%edi, %%edi\n\t"
                   "xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d"
                   :
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                     "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "rax", "rcx",
                     "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

/* The registers that only AVX-512 names.  The assembler takes them in any function. */
static inline void wipe_avx512(void)
{
  __asm__ volatile("vpxorq %xmm16, %xmm16, %xmm16; vpxorq %xmm17, %xmm17, %xmm17\n\t"
                   "vpxorq %xmm18, %xmm18, %xmm18; vpxorq %xmm19, %xmm19, %xmm19\n\t"
                   "vpxorq %xmm20, %xmm20, %xmm20; vpxorq %xmm21, %xmm21, %xmm21\n\t"
                   "vpxorq %xmm22, %xmm22, %xmm22; vpxorq %xmm23, %xmm23, %xmm23\n\t"
                   "vpxorq %xmm24, %xmm24, %xmm24; vpxorq %xmm25, %xmm25, %xmm25\n\t"
                   "vpxorq %xmm26, %xmm26, %xmm26; vpxorq %xmm27, %xmm27, %xmm27\n\t"
                   "vpxorq %xmm28, %xmm28, %xmm28; vpxorq %xmm29, %xmm29, %xmm29\n\t"
                   "vpxorq %xmm30, %xmm30, %xmm30; vpxorq %xmm31, %xmm31, %xmm31");
}
#endif

/* Bytes of stack that the callees of an operation's outermost function use for seeds: a descent,
 * prg_expand and a Keccak, 450 bytes with gcc 12 and clang 14.  Without optimization a Keccak on
 * vector registers alone takes 4.7 kB. */
#ifdef __OPTIMIZE__
#define STACK_USED 1016
#else
#define STACK_USED 8192
#endif

static __attribute__((noinline)) void wipe_below(void)
{
  uint8_t below[STACK_USED];
  explicit_bzero(below, sizeof below);
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  int err = prg_digest_evp(bytes, len, out);
  prg_wipe_stack_evp(); /* libcrypto goes deeper */
  return err;
}

void prg_wipe_stack(void)
{
  opt_expand *expand = atomic_load_explicit(&current, memory_order_acquire);
  if (expand == prg_expand_evp || expand == choose_and_expand)
    prg_wipe_stack_evp();
  else
    wipe_below();
#if OPT_KECCAK_X86
  if (expand == opt_keccak_avx512)
    wipe_avx512();
  wipe_registers();
#endif
}
