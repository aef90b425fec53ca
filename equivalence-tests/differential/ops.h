/* SPDX-License-Identifier: Apache-2.0 */
/** @file ops.h
 * Sequences of operations as byte strings, used by the random tester, the fuzzers and the replay
 * command. Every byte string is a sequence; an incomplete last operation is ignored.
 *
 *   byte 0   bits 0..5: depth - 1, 63 as 62; bit 7: PRG, 0 = the labelled toy, 1 = SHA3
 *   byte 1   tag of the root's seed (test_prg_root)
 *   then operations: a byte whose low nibble is the code, then the operands:
 *     0 eval LEAF           1 punct LEAF           2 eval_punct LEAF      3 range LEAF LEAF
 *     4 export B            buffer: B % 4 = 0 exact, 1 one byte short, 2 NULL, 3 longer
 *     5 import              export, free, import, continue with the imported key
 *     6 swap                as 5, with the bytes that the other implementation exported
 *     7 count               node_count, depth, memory_bytes
 *     8 setup B B           a new key: B = depth as in byte 0, B = tag
 *     9 sweep LEAF B B      punct LEAF, LEAF + s, LEAF + 2 s ...: first B + 1 leaves,
 *                          s = second B + 1
 *    10 subtree LEAF B      range over the subtree of height B % 33 that holds LEAF; B % 64 in a tree
 *                          deeper than 32
 *    11 fail B              the PRG's call B + 1 inside the next operation fails
 *    12 eval_batch LEAF B B   the leaves LEAF + i i (second B + 1) of the tree for i < first B; if
 *                          LEAF is out of the tree so are they
 *    13 punct_batch LEAF B B  these leaves
 *    14 expand LEAF LEAF      at most 1024 leaves from the first
 *    15 delegate LEAF LEAF    the new key's bytes are compared, before and after a puncture of its
 *                          first leaf
 *   LEAF is one byte s, relative to the leaf before it (at first 0):
 *     s >> 6 = 0: that leaf + (s & 63) - 32       1: that leaf with bit (s & 63) % 34 flipped
 *     2: an edge, 2^((s & 63) % 34) - 1 (even s) or 2^depth - 2^((s & 63) % 34) (odd s)
 *     3: little-endian in the (s & 7) % 5 + 1 bytes that follow
 *   In a tree deeper than 32 it is (s & 63) without % 34, and (s & 7) + 1 bytes.
 */
#ifndef EQ_OPS_H
#define EQ_OPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
  OP_EVAL,
  OP_PUNCT,
  OP_EVAL_PUNCT,
  OP_RANGE,
  OP_EXPORT,
  OP_IMPORT,
  OP_SWAP,
  OP_COUNT,
  OP_SETUP,
  OP_SWEEP,
  OP_SUBTREE,
  OP_FAIL,
  OP_EVAL_BATCH,
  OP_PUNCT_BATCH,
  OP_EXPAND,
  OP_DELEGATE
};

struct ops_result {
  int failed;          /* 1: the parties disagree */
  size_t ops;          /* operations run; the failing one is the last */
  size_t faults;       /* PRG failures that hit */
  size_t peak_nodes;
  char text[512];      /* "op=17 punct 0x2a: ref=... opt=..." */
};

/** How often the keys' bytes are compared: after this many operations (1: each), and at the end
 * of a sequence. Node counts are compared after each operation. */
extern unsigned ops_compare_every;

/** The most leaves that a sweep punctures, or a batch or an expansion takes (1024: all that the
 * bytes ask for). */
extern unsigned ops_many_max;

/** Run the sequence on ref, opt, opt's shared keys (depth <= 14) and the model. Results, outputs
 * and node counts are compared after every operation, canonical bytes as often as ops_compare_every
 * says. trace: gets a line per operation, or NULL. */
void ops_run(const uint8_t *bytes, size_t len, struct ops_result *result, FILE *trace);

/** Shorten a failing sequence in place; returns the new length. */
size_t ops_shrink(uint8_t *bytes, size_t len);

/** Print the failure, the shrunk sequence and its replay command as TAP comments. */
void ops_explain(const uint8_t *bytes, size_t len, uint64_t seed);

/** A random sequence of about `ops` operations. */
size_t ops_random(uint64_t *state, unsigned depth, int toy, unsigned ops, uint8_t *bytes,
                  size_t size);

#endif
