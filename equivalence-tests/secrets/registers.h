/* SPDX-License-Identifier: Apache-2.0 */
/** @file registers.h
 * Saves the registers after an operation, for programs that search them. */
#ifndef EQ_REGISTERS_H
#define EQ_REGISTERS_H

#include <stdint.h>

/* The registers that a function need not preserve, as the last operation left them. */
static struct {
  uint64_t general[9]; /* i386: in 32-bit words, eax, ecx and edx */
  uint64_t pad[7];
  uint8_t vector[16384]; /* XSAVE's image */
} __attribute__((aligned(64))) registers;

__attribute__((always_inline)) static inline void save_registers(void)
{
#if defined(__x86_64__)
  __asm__ volatile("movq %%rax, 0(%0)\n\tmovq %%rcx, 8(%0)\n\tmovq %%rdx, 16(%0)\n\t"
                   "movq %%rsi, 24(%0)\n\tmovq %%rdi, 32(%0)\n\tmovq %%r8, 40(%0)\n\t"
                   "movq %%r9, 48(%0)\n\tmovq %%r10, 56(%0)\n\tmovq %%r11, 64(%0)\n\t"
                   "pushq %%rax\n\tmovl $-1, %%eax\n\tmovl $-1, %%edx\n\t"
                   "xsave64 128(%0)\n\tpopq %%rax"
                   :
                   : "b"(&registers)
                   : "rdx", "memory");
#elif defined(__i386__)
  __asm__ volatile("movl %%eax, 0(%0)\n\tmovl %%ecx, 4(%0)\n\tmovl %%edx, 8(%0)\n\t"
                   "pushl %%eax\n\tmovl $-1, %%eax\n\tmovl $-1, %%edx\n\t"
                   "xsave 128(%0)\n\tpopl %%eax"
                   :
                   : "S"(&registers)
                   : "edx", "memory");
#elif defined(__aarch64__)
  register void *to __asm__("x19") = &registers;
  __asm__ volatile("stp x0, x1, [%0]\n\tstp x2, x3, [%0, 16]\n\tstp x4, x5, [%0, 32]\n\t"
                   "stp x6, x7, [%0, 48]\n\tstp x8, x9, [%0, 64]\n\tstp x10, x11, [%0, 80]\n\t"
                   "stp x12, x13, [%0, 96]\n\tstp x14, x15, [%0, 112]\n\t"
                   "stp x16, x17, [%0, 128]\n\t"
                   "stp q0, q1, [%0, 192]\n\tstp q2, q3, [%0, 224]\n\tstp q4, q5, [%0, 256]\n\t"
                   "stp q6, q7, [%0, 288]\n\tstp q8, q9, [%0, 320]\n\t"
                   "stp q10, q11, [%0, 352]\n\tstp q12, q13, [%0, 384]\n\t"
                   "stp q14, q15, [%0, 416]\n\tstp q16, q17, [%0, 448]\n\t"
                   "stp q18, q19, [%0, 480]\n\tstp q20, q21, [%0, 512]\n\t"
                   "stp q22, q23, [%0, 544]\n\tstp q24, q25, [%0, 576]\n\t"
                   "stp q26, q27, [%0, 608]\n\tstp q28, q29, [%0, 640]\n\tstp q30, q31, [%0, 672]"
                   :
                   : "r"(to)
                   : "memory");
#endif
}

/* Whether save_registers saves anything. */
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#define SEES_REGISTERS 1
#else
#define SEES_REGISTERS 0
#endif

#endif
