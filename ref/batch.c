/* SPDX-License-Identifier: Apache-2.0 */
/* The operations on many leaves, said with those on one: what they mean, not how fast they can be.
 * Nothing here is more than the public functions of one leaf, the export and the import. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "pprf.h"

static void set_results(int *result, size_t n, int value)
{
  for (size_t i = 0; result != NULL && i < n; i++)
    result[i] = value;
}

static int all_in_range(const pprf_key *key, const uint64_t *leaf, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (leaf[i] >> pprf_depth(key) != 0)
      return 0;
  return 1;
}

int pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out, int *result)
{
  int err = PPRF_OK;
  if (key == NULL || (n > 0 && (leaf == NULL || out == NULL)))
    err = PPRF_ERR_NULL;
  else if (!all_in_range(key, leaf, n))
    err = PPRF_ERR_RANGE;
  for (size_t i = 0; i < n && err == PPRF_OK; i++) {
    int one = pprf_eval(key, leaf[i], out + i * PPRF_SEED_BYTES);
    if (result != NULL)
      result[i] = one;
    if (one != PPRF_ERR_PUNCTURED)
      err = one;
  }
  if (err != PPRF_OK) {
    if (out != NULL)
      explicit_bzero(out, n * PPRF_SEED_BYTES);
    set_results(result, n, err);
  }
  return err;
}

static int copy_key(const pprf_key *key, pprf_key **copy)
{
  size_t len;
  *copy = NULL;
  int err = pprf_export(key, NULL, &len);
  if (err != PPRF_OK)
    return err;
  uint8_t *file = malloc(len);
  if (file == NULL)
    return PPRF_ERR_NOMEM;
  err = pprf_export(key, file, &len);
  if (err == PPRF_OK)
    err = pprf_import(copy, file, len);
  explicit_bzero(file, len);
  free(file);
  return err;
}

/* A key is one block of the heap, all blocks of one size, and nothing points into it: exchanging
 * what they hold exchanges the keys. */
static void exchange(pprf_key *a, pprf_key *b)
{
  unsigned char *p = (unsigned char *)a, *q = (unsigned char *)b;
  size_t size = malloc_usable_size(a);
  for (size_t i = 0; i < size; i++) {
    unsigned char t = p[i];
    p[i] = q[i];
    q[i] = t;
  }
}

int pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result)
{
  pprf_key *copy = NULL;
  int err = PPRF_OK;
  if (key == NULL || (n > 0 && leaf == NULL))
    err = PPRF_ERR_NULL;
  else if (!all_in_range(key, leaf, n))
    err = PPRF_ERR_RANGE;
  else
    err = copy_key(key, &copy);
  for (size_t i = 0; i < n && err == PPRF_OK; i++) {
    int one = pprf_punct(copy, leaf[i]);
    if (result != NULL)
      result[i] = one;
    if (one != PPRF_ERR_PUNCTURED)
      err = one;
  }
  if (err == PPRF_OK)
    exchange(key, copy);
  else
    set_results(result, n, err);
  pprf_free(copy); /* what the key was, or what it would have become */
  return err;
}

int pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg)
{
  uint8_t value[PPRF_SEED_BYTES];
  int result = PPRF_OK;
  if (key == NULL || each == NULL)
    return PPRF_ERR_NULL;
  if (first > last || last >> pprf_depth(key) != 0)
    return PPRF_ERR_RANGE;
  for (uint64_t leaf = first; leaf <= last && result == PPRF_OK; leaf++) {
    result = pprf_eval(key, leaf, value);
    if (result == PPRF_OK)
      result = each(arg, leaf, 1, value);
    else if (result == PPRF_ERR_PUNCTURED)
      result = PPRF_OK;
  }
  explicit_bzero(value, sizeof value);
  return result;
}

int pprf_prefault(pprf_key *key)
{
  return key == NULL ? PPRF_ERR_NULL : PPRF_OK;
}

const char *pprf_prg_name(void)
{
  return "evp";
}

int pprf_prg_select(const char *name)
{
  if (name == NULL)
    return PPRF_ERR_NULL;
  return strcmp(name, pprf_prg_name()) == 0 ? PPRF_OK : PPRF_ERR_RANGE;
}
