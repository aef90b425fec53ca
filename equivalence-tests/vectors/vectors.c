/* SPDX-License-Identifier: Apache-2.0 */
/* Runs ref and opt on the JSON files in vectors/, which an independent implementation wrote. */
#include <jansson.h>

#include "impls.h"
#include "prg.h"
#include "../../tools/tap.h"
#include "wide.h"

/* from the PRG that opt ships with, if that is linked */
extern const char *opt_prg_name(void) __attribute__((weak));
extern const char *pprf_aes_name(void) __attribute__((weak));
extern const char *pprf_sha256_name(void) __attribute__((weak));

#define DIRECTORY "equivalence-tests/vectors/"

static json_t *load(const char *name)
{
  char path[200];
  json_error_t error;
  snprintf(path, sizeof path, DIRECTORY "%s", name);
  json_t *file = json_load_file(path, 0, &error);
  if (file == NULL) {
    printf("Bail out! %s: %s\n", path, error.text);
    exit(1);
  }
  return file;
}

static const char *text(const json_t *o, const char *name)
{
  const char *s = json_string_value(json_object_get(o, name));
  return s == NULL ? "" : s;
}

static uint64_t integer(const json_t *o, const char *name)
{
  return (uint64_t)json_integer_value(json_object_get(o, name));
}

/* The bytes of a hex string, in a block of exactly their size. */
static uint8_t *unhex(const char *hex, size_t *len)
{
  *len = strlen(hex) / 2;
  uint8_t *bytes = malloc(*len > 0 ? *len : 1);
  for (size_t i = 0; i < *len; i++) {
    unsigned v;
    if (sscanf(hex + 2 * i, "%2x", &v) != 1) {
      printf("Bail out! not hex: %s\n", hex);
      exit(1);
    }
    bytes[i] = (uint8_t)v;
  }
  return bytes;
}

static int same(const char *hex, const uint8_t *bytes, size_t len)
{
  size_t want_len;
  uint8_t *want = unhex(hex, &want_len);
  int ok = want_len == len && memcmp(want, bytes, len) == 0;
  free(want);
  return ok;
}

static uint64_t little(const uint8_t *p)
{
  uint64_t v = 0;
  for (int i = 8; i-- > 0;)
    v = v << 8 | p[i];
  return v;
}

static void prg_vectors(void)
{
  json_t *file = load("prg.json"), *test;
  size_t i, bad = 0, len, count = 0;
  json_array_foreach(json_object_get(file, "tests"), i, test)
  {
    uint8_t *seed = unhex(text(test, "seed"), &len);
    uint8_t *left = unhex(text(test, "left"), &len), *right = unhex(text(test, "right"), &len);
    struct pprf_children c =
      prg_expand(PRG_BARE, (struct pprf_seed){little(seed), little(seed + 8)}, 0, 1);
    if (c.err != 0 || c.left.lo != little(left) || c.left.hi != little(left + 8) ||
        c.right.lo != little(right) || c.right.hi != little(right + 8)) {
      tap_note("%s", text(test, "comment"));
      bad++;
    }
    count++;
    free(seed);
    free(left);
    free(right);
  }
  tap_ok(bad == 0 && count == integer(file, "count"), "prg_expand_is_sha3 (%zu vectors)", count);
  json_decref(file);
}

static struct pprf_wide_seed wide(const json_t *o, const char *name)
{
  size_t len;
  uint8_t *bytes = unhex(text(o, name), &len);
  struct pprf_wide_seed seed = {little(bytes), little(bytes + 8), little(bytes + 16),
                                little(bytes + 24)};
  if (len != PRG_WIDE_BYTES) {
    printf("Bail out! %s has %zu bytes\n", name, len);
    exit(1);
  }
  free(bytes);
  return seed;
}

static int same_wide(struct pprf_wide_seed a, struct pprf_wide_seed b)
{
  return a.lo == b.lo && a.hi == b.hi && a.third == b.third && a.fourth == b.fourth;
}

static void wide_vectors(void)
{
  json_t *file = load("wide.json"), *test;
  size_t i, bad = 0, count = 0;
  json_array_foreach(json_object_get(file, "tests"), i, test)
  {
    struct pprf_wide_children c =
      prg_expand_wide((struct pprf_family){PRG_MLS_SHA256, 0, 0}, wide(test, "seed"), i, 1);
    if (c.err != 0 || !same_wide(c.left, wide(test, "left")) ||
        !same_wide(c.right, wide(test, "right"))) {
      tap_note("%s", text(test, "comment"));
      bad++;
    }
    count++;
  }
  tap_ok(bad == 0 && count == integer(file, "count"),
         "prg_expand_wide_is_that_of_rfc_9420 (%zu vectors)", count);
  json_decref(file);
}

static void eval_vectors(const struct pprf_impl *impl)
{
  json_t *file = load("eval.json"), *group, *test;
  size_t g, i, len, bad = 0, count = 0;
  json_array_foreach(json_object_get(file, "groups"), g, group)
  {
    uint8_t *seed = unhex(text(group, "seed"), &len), out[16];
    pprf_key *key;
    int err = impl->setup(&key, (unsigned)integer(group, "depth"), seed);
    if (too_deep(impl, (unsigned)integer(group, "depth"))) {
      bad += err != PPRF_ERR_NOMEM;
      count += json_array_size(json_object_get(group, "tests"));
      free(seed);
      continue;
    }
    bad += err != PPRF_OK;
    json_array_foreach(json_object_get(group, "tests"), i, test)
    {
      err = impl->eval(key, integer(test, "leaf"), out);
      if (err != PPRF_OK || !same(text(test, "value"), out, 16)) {
        tap_note("depth %d leaf 0x%llx: %s", (int)integer(group, "depth"),
                 (unsigned long long)integer(test, "leaf"), result_name(err));
        bad++;
      }
      count++;
    }
    impl->free(key);
    free(seed);
  }
  tap_ok(bad == 0 && count == integer(file, "count"), "%s_evaluates_to_the_vectors (%zu)",
         impl->name, count);
  json_decref(file);
}

/* Whether a key's file is that of the vector; a key that is NULL has none. */
static int same_file(const struct pprf_impl *impl, const pprf_key *key, const json_t *vector)
{
  size_t len = strlen(text(vector, "key")) / 2;
  uint8_t *bytes = malloc(len > 0 ? len : 1);
  int ok = key == NULL ? len == 0
                       : impl->export_key(key, bytes, &len) == PPRF_OK &&
                           same(text(vector, "key"), bytes, len);
  free(bytes);
  return ok;
}

static int delegation(const struct pprf_impl *impl, const pprf_key *key, const json_t *op)
{
  pprf_key *part = NULL;
  int err = impl->delegate(key, integer(op, "first"), integer(op, "last"), &part);
  int ok = strcmp(text(op, "result"), result_name(err)) == 0 &&
           (err == PPRF_OK) == (part != NULL) && same_file(impl, part, op);
  impl->free(part);
  return ok;
}

static int operation(const struct pprf_impl *impl, pprf_key *key, const json_t *op)
{
  static const uint8_t zero[PPRF_VALUE_BYTES_MAX];
  const char *name = text(op, "op"), *want = text(op, "result");
  const size_t bytes = impl->value_bytes(key);
  uint8_t out[PPRF_VALUE_BYTES_MAX + 1];
  int err, has_value = 1;
  memset(out, 0xee, sizeof out);
  if (strcmp(name, "delegate") == 0)
    return delegation(impl, key, op);
  if (strcmp(name, "eval") == 0)
    err = impl->eval(key, integer(op, "leaf"), out);
  else if (strcmp(name, "eval_punct") == 0)
    err = impl->eval_punct(key, integer(op, "leaf"), out);
  else {
    has_value = 0;
    err = strcmp(name, "punct") == 0
            ? impl->punct(key, integer(op, "leaf"))
            : impl->punct_range(key, integer(op, "first"), integer(op, "last"));
  }
  if (strcmp(want, result_name(err)) != 0)
    return 0;
  if (!has_value)
    return 1;
  if (out[bytes] != 0xee)
    return 0;
  return err == PPRF_OK ? same(text(op, "value"), out, bytes) : memcmp(out, zero, bytes) == 0;
}

/* The suite with this name, 0 if there is none. */
static unsigned suite_of(const char *name)
{
  for (unsigned suite = 1; suite < 256; suite++)
    if (pprf_suite_name(suite) != NULL && strcmp(pprf_suite_name(suite), name) == 0)
      return suite;
  return 0;
}

/* A group's key; without a suite it is made by pprf_setup. */
static int setup_group(const struct pprf_impl *impl, const json_t *group, pprf_key **key)
{
  size_t len;
  unsigned depth = (unsigned)integer(group, "depth");
  uint8_t *seed = unhex(text(group, "seed"), &len), *salt = NULL;
  int err;
  if (json_object_get(group, "suite") == NULL) {
    err = impl->setup(key, depth, seed);
  } else {
    if (json_object_get(group, "salt") != NULL)
      salt = unhex(text(group, "salt"), &len);
    struct pprf_options options = {.size = sizeof options,
                                   .seed = seed,
                                   .depth = depth,
                                   .suite = suite_of(text(group, "suite")),
                                   .salt = salt};
    err = impl->setup_with(key, &options);
    if (err == PPRF_OK && impl->suite(*key) != options.suite)
      err = -1;
  }
  free(seed);
  free(salt);
  return err;
}

static void puncture_vectors(const struct pprf_impl *impl, const char *name, const char *claim)
{
  json_t *file = load(name), *group, *op;
  size_t g, i, bad = 0, count = 0, operations = 0;
  json_array_foreach(json_object_get(file, "groups"), g, group)
  {
    pprf_key *key = NULL;
    int err = setup_group(impl, group, &key), ok = err == PPRF_OK;
    if (too_deep(impl, (unsigned)integer(group, "depth"))) {
      bad += err != PPRF_ERR_NOMEM;
      count++;
      continue;
    }
    json_array_foreach(json_object_get(group, "operations"), i, op)
    {
      operations++;
      if (ok && !operation(impl, key, op)) {
        char *dump = json_dumps(op, 0);
        tap_note("depth %d, %s, operation %zu: %s", (int)integer(group, "depth"),
                 text(group, "comment"), i, dump);
        free(dump);
        ok = 0;
      }
    }
    if (!ok || impl->node_count(key) != integer(group, "nodes") || !same_file(impl, key, group)) {
      tap_note("depth %d, %s", (int)integer(group, "depth"), text(group, "comment"));
      bad++;
    }
    count++;
    impl->free(key);
  }
  tap_ok(bad == 0 && count == integer(file, "count"), "%s_%s (%zu keys, %zu operations)",
         impl->name, claim, count, operations);
  json_decref(file);
}

static int import_16_bytes(const struct pprf_impl *impl, pprf_key **key, const uint8_t *buf,
                           size_t len)
{
  return impl->import_key(key, buf, len);
}

static void encoding_vectors(const struct pprf_impl *impl, const char *name, const char *claim,
                             int (*import)(const struct pprf_impl *, pprf_key **, const uint8_t *,
                                           size_t))
{
  json_t *file = load(name), *test;
  size_t i, bad = 0, len, count = 0;
  json_array_foreach(json_object_get(file, "tests"), i, test)
  {
    uint8_t *bytes = unhex(text(test, "key"), &len);
    pprf_key *key = NULL;
    int err = import(impl, &key, bytes, len);
    const char *want = text(test, "result");
    if (strcmp(want, "ok") == 0 && too_deep(impl, bytes[9]))
      want = "nomem";
    int ok = strcmp(want, result_name(err)) == 0 && same(text(test, "key"), bytes, len);
    if (err == PPRF_OK) {
      size_t again = len;
      uint8_t *out = malloc(len);
      ok = ok && impl->export_key(key, out, &again) == PPRF_OK && again == len &&
           memcmp(out, bytes, len) == 0;
      free(out);
      impl->free(key);
    } else if (key != NULL)
      ok = 0;
    if (!ok) {
      tap_note("%s: %s, want %s, or the bytes have changed", text(test, "reason"), result_name(err),
               want);
      bad++;
    }
    count++;
    free(bytes);
  }
  tap_ok(bad == 0 && count == integer(file, "count"), "%s_%s (%zu)", impl->name, claim, count);
  json_decref(file);
}

int main(void)
{
  if (opt_prg_name != NULL)
    tap_note("PRG: %s\n# AES: %s\n# SHA-256: %s", opt_prg_name(), pprf_aes_name(),
             pprf_sha256_name());
  prg_vectors();
  wide_vectors();
  for (int i = 0; i < IMPLS; i++) {
    eval_vectors(impls[i]);
    puncture_vectors(impls[i], "puncture.json", "punctures_to_the_vectors");
    puncture_vectors(impls[i], "suites.json", "computes_the_suites_of_the_vectors");
    puncture_vectors(impls[i], "mls.json", "computes_mls_sha256_of_the_vectors");
    encoding_vectors(impls[i], "encoding.json", "decodes_as_the_vectors_say", import_16_bytes);
    encoding_vectors(impls[i], "encoding.json", "decodes_so_with_any_suite_allowed", import_any);
    encoding_vectors(impls[i], "encoding2.json", "decodes_version_2_as_the_vectors_say",
                     import_16_bytes);
    encoding_vectors(impls[i], "encoding_mls.json", "decodes_mls_sha256_as_the_vectors_say",
                     import_any);
  }
  return tap_end();
}
