/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: hostile key files.  Byte 0 of the input says how the rest becomes a file: bit 0, the
 * digest at the end is made right; bit 1, so are the magic and the node count; bit 2, the digest is
 * the toy's (fast).  Then:
 *   - ref, opt and the model accept the same files, and give the same error for the others;
 *   - an accepted file is exported as it came;
 *   - the heap used is at most 4 times the file and a constant, which is all that ref uses; opt's
 *     mapping holds at most four pages a node beside, for a node's slot and bitmap words can be on
 *     pages of their own (a file of 443 kB at depth 32 takes 61.6 MB);
 *   - the imported keys go on to evaluate and puncture alike. */
#include <sanitizer/allocator_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "impls.h"
#include "model.h"
#include "test_prg.h"

#define HEAP_CONSTANT 16384
#define MAPPING_CONSTANT 262144
#define PAGE 4096

/* of the sanitizers; without them, as in the coverage build, the heap is not measured */
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
  fprintf(stderr, "fuzz_import: %s: %s\n", impls[i]->name, what);
  abort();
}

/* An export, checked against the bytes the caller expects if there are any. */
static uint8_t *export(int i, const pprf_key *key, const uint8_t *want, size_t *len)
{
  if (impls[i]->export_key(key, NULL, len) != PPRF_OK)
    die("no length", i);
  uint8_t *out = malloc(*len);
  if (impls[i]->export_key(key, out, len) != PPRF_OK)
    die("no export", i);
  if (want != NULL && memcmp(out, want, *len) != 0)
    die("the export is not the file", i);
  return out;
}

/* The same operations on both keys; leaves come from the end of the file. */
static void go_on(pprf_key *key[IMPLS], unsigned depth, const uint8_t *end, size_t room)
{
  for (unsigned k = 0; k < 8; k++) {
    uint64_t leaf = 0;
    for (unsigned b = 0; b < 8 && 4 * k + b < room; b++)
      leaf = leaf << 8 | end[-1 - (ptrdiff_t)(4 * k + b)];
    leaf &= ((uint64_t)1 << depth) - 1;
    uint64_t last = leaf | (((uint64_t)1 << (k * depth / 8)) - 1);
    uint8_t out[IMPLS][PPRF_VALUE_BYTES_MAX] = {{0}};
    int err[IMPLS];
    for (int i = 0; i < IMPLS; i++)
      err[i] = k % 3 == 0   ? impls[i]->eval(key[i], leaf, out[i])
               : k % 3 == 1 ? impls[i]->eval_punct(key[i], leaf, out[i])
                            : impls[i]->punct_range(key[i], leaf, last);
    if (err[0] != err[1] || (k % 3 < 2 && memcmp(out[0], out[1], sizeof out[0]) != 0))
      die("ref and opt differ after the import", 1);
  }
  size_t len[IMPLS];
  uint8_t *a = export(0, key[0], NULL, &len[0]);
  uint8_t *b = export(1, key[1], NULL, &len[1]);
  if (len[0] != len[1] || memcmp(a, b, len[0]) != 0)
    die("ref's and opt's keys differ after the import", 1);
  if (!model_accepts(a, len[0]))
    die("the key after the import is not canonical", 0);
  free(a);
  free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  static int hooked;
  pprf_key *key[IMPLS] = {NULL, NULL};
  int err[IMPLS];
  if (!hooked) {
    uint8_t digest[DIGEST_BYTES]; /* libcrypto's own set-up is not the import's */
    test_prg_toy = 0;
    (void)prg_digest(digest, 0, digest);
    hooked = __sanitizer_install_malloc_and_free_hooks == NULL ||
             __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  }
  if (len < 1)
    return 0;
  unsigned flags = bytes[0];
  size_t size = len - 1;
  uint8_t *file = malloc(size); /* exact, so that one byte too far is seen */
  memcpy(file, bytes + 1, size);
  test_prg_toy = flags >> 2 & 1;
  mend(file, size, flags);
  uint8_t *given = malloc(size);
  memcpy(given, file, size);
  int want = model_import(file, size);
  for (int i = 0; i < IMPLS; i++) {
    size_t before = now;
    peak = now;
    err[i] = import_any(impls[i], &key[i], file, size);
    if (peak - before > 4 * size + HEAP_CONSTANT)
      die("the import took too much memory", i);
    if (err[i] != want)
      die(err[i] == PPRF_OK ? "a file was accepted that no encoder writes"
          : want == PPRF_OK ? "a file of the encoder was rejected"
                            : "a wrong error for a wrong file",
          i);
    if (err[i] != PPRF_OK && key[i] != NULL)
      die("a key beside an error", i);
    if (memcmp(file, given, size) != 0)
      die("the import changed the bytes that it was given", i);
  }
  if (want == PPRF_OK) {
    for (int i = 0; i < IMPLS; i++) {
      size_t out_len, nodes = impls[i]->node_count(key[i]);
      free(export(i, key[i], file, &out_len));
      if (out_len != size)
        die("the export has another length", i);
      size_t most =
        4 * size + (impls[i] == &impl_ref ? HEAP_CONSTANT : 4 * PAGE * nodes + MAPPING_CONSTANT);
      /* memory_bytes looks at every page of a mapping: now and then is enough for large ones */
      if ((impls[i] == &impl_ref || file[9] <= 22 || size % 64 == 0) &&
          impls[i]->memory_bytes(key[i]) > most)
        die("the key takes too much memory", i);
    }
    go_on(key, file[9], file + size, size);
  }
  for (int i = 0; i < IMPLS; i++)
    impls[i]->free(key[i]);
  free(file);
  free(given);
  return 0;
}
