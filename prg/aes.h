/* SPDX-License-Identifier: Apache-2.0 */
/** @file aes.h
 * The suite aes-128: half b of a node's PRG output is AES-128 (FIPS 197) under the node's seed of
 * the block
 *   salt XOR (in-order id in 8 bytes, b in one, seven zero bytes), all little-endian.
 *
 * All versions compute the same function and cannot fail.  Control flow and addresses depend on ids
 * and leaves only, never on a seed or a salt.  Round keys stay in registers or are spilled to the
 * stack below the caller: prg_wipe clears both. */
#ifndef PPRF_PRG_AES_H
#define PPRF_PRG_AES_H

#include "lanes.h"
#include "prg.h"

/** Portable C: bit planes, no table. */
opt_node_expand opt_aes_bitsliced;

#if defined(__x86_64__)
#define OPT_AES_X86 1
/** AES-NI: one instruction a round. */
opt_node_expand opt_aes_ni;
opt_node_lanes opt_aes_ni_x4;
opt_node_descend opt_aes_ni_descend;
/** VAES: four blocks per instruction. */
opt_node_lanes opt_aes_vaes_x4, opt_aes_vaes_x8;
#else
#define OPT_AES_X86 0
#endif

/* Clang before 16 declares the intrinsics only if all code may use the instructions. */
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && \
  (!defined(__clang__) || __clang_major__ >= 16 || defined(__ARM_FEATURE_AES))
#define OPT_AES_ARM 1
#ifdef __clang__
#define OPT_AES_ARM_TARGET "aes"
#else
#define OPT_AES_ARM_TARGET "+crypto"
#endif
/** The AES instructions of ARMv8. */
opt_node_expand opt_aes_armv8;
opt_node_lanes opt_aes_armv8_x4;
opt_node_descend opt_aes_armv8_descend;
#else
#define OPT_AES_ARM 0
#endif

#endif
