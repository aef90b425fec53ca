/* SPDX-License-Identifier: Apache-2.0 */
/* prg_wipe for x86, arm64 and other processors. */
#include "wipe.h"

#include <string.h>

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__i386__)

uint64_t prg_wipe_flags(void)
{
  /* true only if the system saves these registers too */
  return (__builtin_cpu_supports("avx") ? WIPE_AVX : 0) |
         (__builtin_cpu_supports("avx512f") ? WIPE_AVX512 : 0) |
         (__builtin_cpu_supports("sse") ? WIPE_SSE : 0);
}

#define R8(op, a, b, c, d, e, f, g, h) op(a) op(b) op(c) op(d) op(e) op(f) op(g) op(h)
#define LOW_8(op) R8(op, 0, 1, 2, 3, 4, 5, 6, 7)
#define LOW_16(op) LOW_8(op) R8(op, 8, 9, 10, 11, 12, 13, 14, 15)
#define HIGH_16(op) R8(op, 16, 17, 18, 19, 20, 21, 22, 23) R8(op, 24, 25, 26, 27, 28, 29, 30, 31)
#define PXOR(n) "pxor %xmm" #n ", %xmm" #n "\n\t"
#define XORPS(n) "xorps %xmm" #n ", %xmm" #n "\n\t" /* works without SSE2 */
#define VPXOR(n) "vpxor %xmm" #n ", %xmm" #n ", %xmm" #n "\n\t" /* clears the upper parts too */
#define VPXORQ(n) "vpxorq %zmm" #n ", %zmm" #n ", %zmm" #n "\n\t"
#define KXOR(n) "kxorw %k" #n ", %k" #n ", %k" #n "\n\t" /* compilers spill to these too */

/* In assembly, so that no byte that a compiler keeps for itself lies between the caller's frame
 * and the overwritten range.  The stack pointer moves first, because a signal handler may use
 * what lies below it. From the top down: a stack that is too short faults at its guard page. */
/* clang-format off */
#ifdef __x86_64__
__attribute__((naked, noinline, no_stack_protector, no_profile_instrument_function)) void
prg_wipe(__attribute__((unused)) uint64_t plan)
{
  __asm__ volatile(
    "movl %edi, %ecx\n\t"
    "addl $127, %ecx\n\t"
    "andl $-128, %ecx\n\t"
    "movq %rsp, %rax\n\t"
    ".cfi_def_cfa_register %rax\n\t"
    "subq %rcx, %rsp\n\t"
    "andq $-32, %rsp\n\t" /* an unaligned store takes twice as long */
    "btq $32, %rdi\n\t"
    "jc 2f\n\t"
    "pxor %xmm0, %xmm0\n\t"
    "movups %xmm0, -16(%rax)\n\t"
    "movups %xmm0, -32(%rax)\n"
    "1:\n\t"
    "movaps %xmm0, -16(%rsp,%rcx)\n\t"
    "movaps %xmm0, -32(%rsp,%rcx)\n\t"
    "movaps %xmm0, -48(%rsp,%rcx)\n\t"
    "movaps %xmm0, -64(%rsp,%rcx)\n\t"
    "subl $64, %ecx\n\t"
    "ja 1b\n\t"
    LOW_16(PXOR)
    "jmp 4f\n"
    "2:\n\t"
    "vpxor %xmm0, %xmm0, %xmm0\n\t"
    "vmovdqu %ymm0, -32(%rax)\n"
    "3:\n\t"
    "vmovdqa %ymm0, -32(%rsp,%rcx)\n\t"
    "vmovdqa %ymm0, -64(%rsp,%rcx)\n\t"
    "vmovdqa %ymm0, -96(%rsp,%rcx)\n\t"
    "vmovdqa %ymm0, -128(%rsp,%rcx)\n\t"
    "subl $128, %ecx\n\t"
    "ja 3b\n\t"
    LOW_16(VPXOR)
    "btq $33, %rdi\n\t"
    "jnc 5f\n\t"
    HIGH_16(VPXORQ)
    LOW_8(KXOR)
    "5:\n\t"
    "vzeroupper\n"
    "4:\n\t"
    "movq %rax, %rsp\n\t"
    ".cfi_def_cfa_register %rsp\n\t"
    "xorl %eax, %eax\n\t"
    "xorl %edx, %edx\n\t"
    "xorl %esi, %esi\n\t"
    "xorl %edi, %edi\n\t"
    "xorl %r8d, %r8d\n\t"
    "xorl %r9d, %r9d\n\t"
    "xorl %r10d, %r10d\n\t"
    "xorl %r11d, %r11d\n\t"
    "ret");
}
#else
__attribute__((naked, noinline, no_stack_protector, no_profile_instrument_function)) void
prg_wipe(__attribute__((unused)) uint64_t plan)
{
  __asm__ volatile(
    "movl 4(%esp), %ecx\n\t" /* the number of bytes; the flags follow it */
    "addl $127, %ecx\n\t"
    "andl $-128, %ecx\n\t"
    "movl %esp, %eax\n\t"
    ".cfi_def_cfa_register %eax\n\t"
    "subl %ecx, %esp\n\t"
    "xorl %edx, %edx\n"
    "1:\n\t"
    "movl %edx, -4(%esp,%ecx)\n\t"
    "movl %edx, -8(%esp,%ecx)\n\t"
    "movl %edx, -12(%esp,%ecx)\n\t"
    "movl %edx, -16(%esp,%ecx)\n\t"
    "subl $16, %ecx\n\t"
    "ja 1b\n\t"
    "movl %eax, %esp\n\t"
    ".cfi_def_cfa_register %esp\n\t"
    "movl 8(%esp), %eax\n\t"
    "btl $2, %eax\n\t"
    "jnc 4f\n\t"
    "btl $0, %eax\n\t"
    "jc 2f\n\t"
    LOW_8(XORPS)
    "jmp 4f\n"
    "2:\n\t"
    LOW_8(VPXOR)
    "btl $1, %eax\n\t"
    "jnc 4f\n\t"
    LOW_8(KXOR)
    "4:\n\t"
    "xorl %eax, %eax\n\t"
    "ret");
}
#endif
/* clang-format on */

#else /* other processors */

uint64_t prg_wipe_flags(void)
{
  return 0;
}

#if defined(__aarch64__)
/* clang-format off */
#define V4(n) "movi v" #n ".2d, #0\n\t"
/* Callees save only the low halves of v8..v15, so the high halves are cleared. */
#define V_HIGH(n) "fmov d31, d" #n "\n\tmov v" #n ".16b, v31.16b\n\t"
/* No frame: its variables are registers, and it calls nothing. */
__attribute__((noinline, no_stack_protector)) void prg_wipe(uint64_t plan)
{
  register uint64_t bytes __asm__("x0") = ((plan & WIPE_BYTES) + 127) & ~UINT64_C(127);
  __asm__ volatile(
    "mov x9, sp\n\t"
    "mov x11, x9\n\t"
    "sub sp, sp, x0\n"
    "1:\n\t"
    "stp xzr, xzr, [x11, #-16]!\n\t"
    "cmp sp, x11\n\t"
    "b.lo 1b\n\t"
    "mov sp, x9\n\t"
    V_HIGH(8) V_HIGH(9) V_HIGH(10) V_HIGH(11) V_HIGH(12) V_HIGH(13) V_HIGH(14) V_HIGH(15)
    V4(0) V4(1) V4(2) V4(3) V4(4) V4(5) V4(6) V4(7) V4(16) V4(17) V4(18) V4(19) V4(20) V4(21)
    V4(22) V4(23) V4(24) V4(25) V4(26) V4(27) V4(28) V4(29) V4(30) V4(31)
    "mov x0, #0\n\tmov x1, #0\n\tmov x2, #0\n\tmov x3, #0\n\tmov x4, #0\n\tmov x5, #0\n\t"
    "mov x6, #0\n\tmov x7, #0\n\tmov x8, #0\n\tmov x9, #0\n\tmov x10, #0\n\tmov x11, #0\n\t"
    "mov x12, #0\n\tmov x13, #0\n\tmov x14, #0\n\tmov x15, #0\n\tmov x16, #0\n\tmov x17, #0"
    : "+r"(bytes)
    :
    : "cc", "memory", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
      "x13", "x14", "x15", "x16", "x17", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17",
      "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
/* clang-format on */
#else
/* In C: what the compiler puts between its caller's frame and the array, some two words, is not
 * overwritten. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
__attribute__((zero_call_used_regs("all")))
#endif
__attribute__((noinline)) void
prg_wipe(uint64_t plan)
{
  size_t bytes = (size_t)(plan & WIPE_BYTES) + 128;
  uint8_t below[bytes];
  explicit_bzero(below, bytes);
}
#endif

#endif
