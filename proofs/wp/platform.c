/* SPDX-License-Identifier: Apache-2.0 */
/* The platforms that the C proofs apply to: those with the types of Frama-C's machdep x86_64
 * (LP64). proofs/wp/same_text.py makes Frama-C and the compiler check this file, with the
 * library's flags. x86-64, arm64 and s390x pass; i386 does not. The signedness of plain char is
 * left open: proven code uses none. */
#include <stddef.h>
#include <stdint.h>

enum one { ONE };
struct padded {
  uint8_t small;
  uint64_t large;
};

_Static_assert((unsigned char)-1 == 255, "bytes of 8 bits");
_Static_assert(sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long) == 8 &&
                 sizeof(long long) == 8,
               "LP64");
_Static_assert(sizeof(void *) == 8 && sizeof(void (*)(void)) == 8 && sizeof(enum one) == 4, "LP64");
_Static_assert(-1 == ~0 && -3 / 2 == -1 && -3 % 2 == -1, "two's complement");
_Static_assert(-3 >> 1 == -2, "a shift to the right keeps the sign");
_Static_assert(sizeof(struct padded) == 16 && offsetof(struct padded, large) == 8,
               "alignment of 8 bytes");
/* all names that proven code uses from system headers */
_Static_assert(sizeof(uint8_t) == 1 && (uint8_t)-1 > 0, "uint8_t");
_Static_assert(sizeof(uint16_t) == 2 && (uint16_t)-1 > 0, "uint16_t");
_Static_assert(sizeof(uint64_t) == 8 && (uint64_t)-1 > 0, "uint64_t");
_Static_assert(sizeof(size_t) == 8 && (size_t)-1 > 0, "size_t");
_Static_assert(sizeof(uintptr_t) == 8 && (uintptr_t)-1 > 0, "uintptr_t");
