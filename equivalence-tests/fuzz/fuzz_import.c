/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: hostile key files.  Byte 0 of the input says how the rest becomes a file.  Bit 0: the
 * digest at the end is corrected; bit 1: so are the magic and the node count; bit 2: the digest is
 * the toy's (fast).  Then:
 *   - ref, opt with each of its stores, and the model accept the same files, and give the same error
 *     for the others;
 *   - an accepted file is exported unchanged;
 *   - memory is bounded, up to a constant: the heap by 4 times the file, which is all that ref uses;
 *     a key of opt, packed or in the default store, by 8 times the file, since a gap beside a node
 *     can be 2 x 62 tiles of a byte each, and by default only keys of many nodes have slots; with
 *     slots on request, by 4 times the file and four pages per node, since a node's slot and bitmap
 *     words can be on separate pages (a file of 443 kB at depth 32 takes 61.6 MB, by default 367 kB);
 *   - the imported keys evaluate and puncture alike. */
#include <sanitizer/allocator_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "impls.h"
#include "differential/model.h"
#include "differential/test_prg.h"

#define HEAP_CONSTANT 16384 /* covers memory that is not part of a key's mapping, too */
#define MAPPING_CONSTANT 262144
#define PAGE 4096

/* from the sanitizers; without them, as in the coverage build, the heap is not measured */
#pragma weak __sanitizer_install_malloc_and_free_hooks
#pragma weak __sanitizer_get_allocated_size

static size_t now, peak;

static void on_malloc(const volatile void *p, size_t size)
{
  (void)p;
  now += size;
  if (now > peak)
    peak = now;
}

static void on_free(const volatile void *p)
{
  if (p != NULL)
    now -= __sanitizer_get_allocated_size((const void *)(uintptr_t)p);
}

static void die(const char *what, int i)
{
  fprintf(stderr, "fuzz_import: %s: %s\n", stores[i]->name, what);
  abort();
}

/* Export, and compare with the bytes that the caller expects, if any. */
static uint8_t *export(int i, const pprf_key *key, const uint8_t *want, size_t *len)
{
  if (stores[i]->export_key(key, NULL, len) != PPRF_OK)
    die("no length", i);
  uint8_t *out = malloc(*len);
  if (stores[i]->export_key(key, out, len) != PPRF_OK)
    die("no export", i);
  if (want != NULL && memcmp(out, want, *len) != 0)
    die("the export is not the file", i);
  return out;
}

/* Do the same operations on all keys; the leaves come from the end of the file. */
static void go_on(pprf_key *key[STORES], unsigned depth, const uint8_t *end, size_t room)
{
  for (unsigned k = 0; k < 8; k++) {
    uint64_t leaf = 0;
    for (unsigned b = 0; b < 8 && 4 * k + b < room; b++)
      leaf = leaf << 8 | end[-1 - (ptrdiff_t)(4 * k + b)];
    leaf &= ((uint64_t)1 << depth) - 1;
    uint64_t last = leaf | (((uint64_t)1 << (k * depth / 8)) - 1);
    uint8_t out[STORES][PPRF_VALUE_BYTES_MAX] = {{0}};
    int err[STORES];
    for (int i = 0; i < STORES; i++)
      err[i] = k % 3 == 0   ? stores[i]->eval(key[i], leaf, out[i])
               : k % 3 == 1 ? stores[i]->eval_punct(key[i], leaf, out[i])
                            : stores[i]->punct_range(key[i], leaf, last);
    for (int i = 1; i < STORES; i++)
      if (err[0] != err[i] || (k % 3 < 2 && memcmp(out[0], out[i], sizeof out[0]) != 0))
        die("it differs from ref after the import", i);
  }
  size_t len, other_len;
  uint8_t *a = export(0, key[0], NULL, &len);
  for (int i = 1; i < STORES; i++) {
    uint8_t *b = export(i, key[i], NULL, &other_len);
    if (len != other_len || memcmp(a, b, len) != 0)
      die("its key differs from ref's after the import", i);
    free(b);
  }
  if (!model_accepts(a, len))
    die("the key after the import is not canonical", 0);
  free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  static int hooked;
  pprf_key *key[STORES] = {NULL};
  int err[STORES];
  if (!hooked) {
    uint8_t digest[DIGEST_BYTES]; /* libcrypto sets itself up here, before the import is measured */
    test_prg_toy = 0;
    (void)prg_digest(digest, 0, digest);
    hooked = __sanitizer_install_malloc_and_free_hooks == NULL ||
             __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  }
  if (len < 1)
    return 0;
  unsigned flags = bytes[0];
  size_t size = len - 1;
  uint8_t *file = malloc(size); /* exact size, so that any overrun is detected */
  memcpy(file, bytes + 1, size);
  test_prg_toy = flags >> 2 & 1;
  mend(file, size, flags);
  uint8_t *given = malloc(size);
  memcpy(given, file, size);
  int want = model_import(file, size);
  for (int i = 0; i < STORES; i++) {
    size_t before = now;
    peak = now;
    err[i] = import_any(stores[i], &key[i], file, size);
    if (peak - before > 4 * size + HEAP_CONSTANT)
      die("the import took too much memory", i);
    if (err[i] != want)
      die(err[i] == PPRF_OK ? "a file was accepted that no encoder writes"
          : want == PPRF_OK ? "a file of the encoder was rejected"
                            : "the wrong error for an invalid file",
          i);
    if (err[i] != PPRF_OK && key[i] != NULL)
      die("a key was returned with an error", i);
    if (memcmp(file, given, size) != 0)
      die("the import changed its input", i);
  }
  if (want == PPRF_OK) {
    for (int i = 0; i < STORES; i++) {
      size_t out_len, nodes = stores[i]->node_count(key[i]);
      free(export(i, key[i], file, &out_len));
      if (out_len != size)
        die("the export has a different length", i);
      int slots = stores[i] == &impl_slots && file[9] <= PPRF_SLOTS_DEPTH_MAX;
      size_t most = slots                    ? 4 * size + 4 * PAGE * nodes + MAPPING_CONSTANT
                    : stores[i] == &impl_ref ? 4 * size + HEAP_CONSTANT
                                             : 8 * size + HEAP_CONSTANT;
      /* memory_bytes examines every page of a mapping: for large ones do it only sometimes */
      if ((!slots || file[9] <= 22 || size % 64 == 0) && stores[i]->memory_bytes(key[i]) > most)
        die("the key takes too much memory", i);
    }
    go_on(key, file[9], file + size, size);
  }
  for (int i = 0; i < STORES; i++)
    stores[i]->free(key[i]);
  free(file);
  free(given);
  return 0;
}
