/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program that calls a function of the library for the first time in the process.
 * first_use.py runs it and searches its memory each time it stops. first_use OPERATION SUITE STORE
 * reads the root's seed and a key file from standard input, stops, makes the key, stops, performs
 * the operation, stops.
 *
 * It calls only read and write: other functions that it called would be bound before the library
 * calls them, and their stack would overwrite what the library leaves. */
#include <stddef.h>
#include <unistd.h>

#include "pprf.h"

enum { DEPTH = 12, LAST = (1 << DEPTH) - 1, LEAF = 1234, MANY = 40 };

static const uint8_t salt[PPRF_SALT_BYTES] = "a salt of a key";
static uint8_t root[PPRF_VALUE_BYTES_MAX], file[512], buffer[4096];
static uint64_t leaves[MANY];
static size_t file_bytes;

static void clear(volatile uint8_t *p, size_t n)
{
  while (n-- > 0)
    *p++ = 0;
}

/* Tell first_use.py, and wait until it has searched. */
static void stop(int err)
{
  uint8_t byte = (uint8_t)err;
  if (write(1, &byte, 1) != 1 || read(0, &byte, 1) != 1)
    _exit(2);
}

static int is(const char *a, const char *b)
{
  for (; *a != 0 && *a == *b; a++)
    b++;
  return *a == *b;
}

static int ignore(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)leaf;
  (void)n;
  (void)values;
  return 0;
}

static int import(pprf_key **key, unsigned store)
{
  struct pprf_import_options o = {
    .size = sizeof o, .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES, .store = store};
  int err = pprf_import_with(key, file, file_bytes, &o);
  clear(file, sizeof file);
  return err;
}

static int make(pprf_key **key, unsigned suite, unsigned store)
{
  struct pprf_options o = {.size = sizeof o,
                           .depth = DEPTH,
                           .suite = suite,
                           .store = store,
                           .seed = root,
                           .salt =
                             suite == PPRF_SHA3_256 || suite == PPRF_MLS_SHA256 ? NULL : salt};
  int err = pprf_setup_with(key, &o);
  clear(root, sizeof root);
  return err;
}

/* Puncture every second leaf up to LEAF: pages fill, split, and are released. */
static int grow(pprf_key *key)
{
  for (unsigned at = 1; at <= LAST / 2 + 1; at++) {
    int err = pprf_eval_punct(key, (LEAF + 2 * at) & LAST, buffer);
    clear(buffer, PPRF_VALUE_BYTES_MAX);
    if (err != PPRF_OK)
      return err;
  }
  return PPRF_OK;
}

static int operate(pprf_key *key, const char *name)
{
  size_t len = sizeof buffer;
  if (is(name, "eval"))
    return pprf_eval(key, LEAF, buffer);
  if (is(name, "punct"))
    return pprf_punct(key, LEAF);
  if (is(name, "eval_punct"))
    return pprf_eval_punct(key, LEAF, buffer);
  if (is(name, "punct_range"))
    return pprf_punct_range(key, LEAF, LEAF + 99);
  if (is(name, "delegate")) {
    pprf_key *sub;
    int err = pprf_delegate(key, LEAF, LEAF + 99, &sub);
    pprf_free(sub);
    return err;
  }
  if (is(name, "eval_batch"))
    return pprf_eval_batch(key, leaves, MANY, buffer, NULL);
  if (is(name, "punct_batch"))
    return pprf_punct_batch(key, leaves, MANY, NULL);
  if (is(name, "expand"))
    return pprf_expand(key, 0, LAST, ignore, NULL);
  if (is(name, "export"))
    return pprf_export(key, buffer, &len);
  if (is(name, "prefault"))
    return pprf_prefault(key);
  if (is(name, "grow"))
    return grow(key);
  if (is(name, "free"))
    pprf_free(key);
  return PPRF_OK;
}

int first_use(const char *name, const char *suite, const char *store);
int first_use(const char *name, const char *suite, const char *store)
{
  pprf_key *key = NULL;
  uint8_t bytes[2];
  for (unsigned i = 0; i < MANY; i++)
    leaves[i] = (LEAF + 977 * i) & LAST;
  if (read(0, root, sizeof root) != sizeof root || read(0, bytes, 2) != 2)
    return 2;
  file_bytes = bytes[0] + 256u * bytes[1];
  if (file_bytes > sizeof file || read(0, file, file_bytes) != (ssize_t)file_bytes)
    return 2;
  stop(0);
  int err = is(name, "import") ? import(&key, (unsigned)(*store - '0'))
                               : make(&key, (unsigned)(*suite - '0'), (unsigned)(*store - '0'));
  clear(root, sizeof root);
  clear(file, sizeof file);
  stop(err);
  err = operate(key, name);
  clear(buffer, sizeof buffer);
  stop(err);
  return 0;
}

#ifndef PLUGIN
int main(int argc, char **argv)
{
  return argc == 4 ? first_use(argv[1], argv[2], argv[3]) : 2;
}
#endif
