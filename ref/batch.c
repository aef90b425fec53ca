/* SPDX-License-Identifier: Apache-2.0 */
/* Batch operations, written with the single-leaf ones: this code defines their meaning, not
 * their speed. It uses only the public single-leaf functions, export, import and ref_key_take. */
#include <stdlib.h>
#include <string.h>

#include "common/fork.h"
#include "key.h"
#include "pprf.h"

static void set_results(int *result, size_t n, int value)
{
  for (size_t i = 0; result != NULL && i < n; i++)
    result[i] = value;
}

/* Copy the caller's leaves, reading each once: the values checked are the values used, even if
 * another thread changes the array or the outputs overlap it. */
static int copy_leaves(const pprf_key *key, const volatile uint64_t *leaf, size_t n,
                       uint64_t **copy)
{
  *copy = malloc(n > 0 ? n * sizeof **copy : 1);
  if (*copy == NULL)
    return PPRF_ERR_NOMEM;
  for (size_t i = 0; i < n; i++) {
    (*copy)[i] = leaf[i];
    if ((*copy)[i] >> pprf_depth(key) != 0)
      return PPRF_ERR_RANGE;
  }
  return PPRF_OK;
}

int pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out, int *result)
{
  PPRF_IF_WIDE(key, return ref_wide_key_eval_batch(wide, leaf, n, out, result);)
  uint64_t *own = NULL;
  int err;
  if (n > SIZE_MAX / PPRF_SEED_BYTES)
    return PPRF_ERR_NOMEM; /* no output can be so long */
  if (key == NULL || (n > 0 && (leaf == NULL || out == NULL)))
    err = PPRF_ERR_NULL;
  else if (pprf_is_copy(key->maker))
    err = PPRF_ERR_FORKED;
  else
    err = copy_leaves(key, leaf, n, &own);
  for (size_t i = 0; i < n && err == PPRF_OK; i++) {
    int one = pprf_eval(key, own[i], out + i * PPRF_SEED_BYTES);
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
  free(own);
  return err;
}

#ifdef PPRF_WIDE
#define IMPORT ref_wide_key_import
#else
#define IMPORT pprf_import
#endif

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
    err = IMPORT(copy, file, len);
  explicit_bzero(file, len);
  free(file);
  return err;
}

int pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result)
{
  PPRF_IF_WIDE(key, return ref_wide_key_punct_batch(wide, leaf, n, result);)
  pprf_key *copy = NULL;
  uint64_t *own = NULL;
  int err;
  if (n > SIZE_MAX / PPRF_SEED_BYTES)
    return PPRF_ERR_NOMEM;
  if (key == NULL || (n > 0 && leaf == NULL))
    err = PPRF_ERR_NULL;
  else if (pprf_is_copy(key->maker))
    err = PPRF_ERR_FORKED;
  else
    err = copy_leaves(key, leaf, n, &own);
  if (err == PPRF_OK)
    err = copy_key(key, &copy);
  for (size_t i = 0; i < n && err == PPRF_OK; i++) {
    int one = pprf_punct(copy, own[i]);
    if (result != NULL)
      result[i] = one;
    if (one != PPRF_ERR_PUNCTURED)
      err = one;
  }
  if (err == PPRF_OK)
    ref_key_take(key, copy);
  else
    set_results(result, n, err);
  free(own);
  pprf_free(copy); /* the old contents, or on error the abandoned copy */
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return err;
}

static PPRF_WORK int hand_over(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each,
                               void *arg)
{
  uint8_t value[PPRF_SEED_BYTES];
  int result = PPRF_OK;
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

int pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg)
{
  PPRF_IF_WIDE(key, return ref_wide_key_expand(wide, first, last, each, arg);)
  if (key == NULL || each == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  if (first > last || last >> pprf_depth(key) != 0)
    return PPRF_ERR_RANGE;
  int result = hand_over(key, first, last, each, arg); /* pprf_eval wiped the stack below it */
  prg_wipe(prg_wipe_plan(OWN_STACK));
  return result;
}

int pprf_prefault(pprf_key *key)
{
  PPRF_IF_WIDE(key, return ref_wide_key_prefault(wide);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  return pprf_is_copy(key->maker) ? PPRF_ERR_FORKED : PPRF_OK;
}

#ifndef PPRF_WIDE
const char *pprf_prg_name(void)
{
  return "evp";
}

const char *pprf_aes_name(void)
{
  return "aes-evp";
}

const char *pprf_sha256_name(void)
{
  return "sha256-evp";
}

int pprf_prg_select(const char *name)
{
  if (name == NULL)
    return PPRF_ERR_NULL;
  const char *const names[] = {pprf_prg_name(), pprf_aes_name(), pprf_sha256_name()};
  for (unsigned i = 0; i < 3; i++)
    if (strcmp(name, names[i]) == 0)
      return PPRF_OK;
  return PPRF_ERR_RANGE;
}
#endif
