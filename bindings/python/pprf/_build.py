# SPDX-License-Identifier: Apache-2.0
"""Builds the extension module pprf._native with cffi: the declarations of pprf.h, and keys with a lock.

pprf.h allows many readers or one writer.  cffi releases the interpreter's lock around each call, so Python
threads may call concurrently; each key therefore has a readers-writer lock, taken after that.  A child of fork
must not wait for a lock that a thread of its parent held: a handle stores the number of forks before it was
made, and another process's handle is refused before its lock is touched.
"""
import os
import shlex
import subprocess
import sysconfig
import tempfile

from cffi import FFI

C = os.path.join("pprf", "_c")


def preprocessed(*options: str) -> str:
    """pprf.h after the C preprocessor, without the headers whose types cffi knows."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    with tempfile.TemporaryDirectory() as nothing:
        for name in ("stddef.h", "stdint.h"):
            open(os.path.join(nothing, name), "w", encoding="utf-8").close()
        return subprocess.run([*shlex.split(compiler), "-E", "-P", *options, "-DPPRF_API=", "-nostdinc", "-I", nothing,
                               os.path.join(C, "pprf.h")], stdout=subprocess.PIPE, text=True, check=True).stdout


def declarations() -> str:
    """The input of cffi's C parser: the header, and the names of its numeric constants."""
    macros = (line.split() for line in preprocessed("-dM").splitlines())
    numbers = sorted(m[1] for m in macros if m[1].startswith("PPRF_") and len(m) == 3 and m[2][0].isdigit())
    return "".join(f"#define {name} ...\n" for name in numbers) + preprocessed()


LOCKED = """
typedef struct handle handle;
handle *handle_new(unsigned depth, const uint8_t *seed, unsigned suite, const uint8_t *salt, unsigned store,
                   int *err);
handle *handle_import(const uint8_t *buf, size_t len, unsigned store, int *err);
void handle_close(handle *h);
void handle_free(handle *h);
int handle_eval(handle *h, uint64_t leaf, uint8_t *out, size_t size);
int handle_eval_punct(handle *h, uint64_t leaf, uint8_t *out, size_t size);
int handle_punct(handle *h, uint64_t leaf);
int handle_punct_range(handle *h, uint64_t first, uint64_t last);
int handle_eval_batch(handle *h, const uint64_t *leaf, size_t n, uint8_t *out, size_t size, int *result);
int handle_punct_batch(handle *h, const uint64_t *leaf, size_t n, int *result);
handle *handle_delegate(handle *h, uint64_t first, uint64_t last, int *err);
int handle_export(handle *h, uint8_t *buf, size_t *len);
int handle_prefault(handle *h);
unsigned handle_depth(const handle *h);
unsigned handle_suite(const handle *h);
size_t handle_value_bytes(const handle *h);
size_t suite_bytes(unsigned suite);
int handle_numbers(handle *h, uint64_t *nodes, uint64_t *memory, int *locked);
size_t first_missing(const int *result, size_t n);
void wipe(void *p, size_t n);
"""

SOURCE = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "pprf.h"

typedef struct handle {
  pprf_key *key; /* NULL: closed */
  unsigned long forks;
  pthread_mutex_t turn; /* held while waiting for the lock, so that overlapping readers cannot starve a writer */
  pthread_rwlock_t lock;
} handle;

/* Number of forks from the process that loaded this module to this one. */
static unsigned long forks;

static void child(void)
{
  forks++;
}

__attribute__((constructor)) static void watch(void)
{
  (void)pthread_atfork(NULL, NULL, child);
}

static handle *handle_of(pprf_key *key, int *err)
{
  handle *h = *err == PPRF_OK ? calloc(1, sizeof *h) : NULL;
  if (h != NULL) {
    h->key = key;
    h->forks = forks;
    pthread_mutex_init(&h->turn, NULL);
    pthread_rwlock_init(&h->lock, NULL);
  } else if (*err == PPRF_OK) {
    *err = PPRF_ERR_NOMEM;
    pprf_free(key);
  }
  return h;
}

static handle *handle_new(unsigned depth, const uint8_t *seed, unsigned suite, const uint8_t *salt,
                          unsigned store, int *err)
{
  pprf_key *key;
  struct pprf_options options = {.size = sizeof options, .seed = seed, .depth = depth, .store = store,
                                 .suite = suite, .salt = salt};
  *err = pprf_setup_with(&key, &options);
  return handle_of(key, err);
}

static handle *handle_import(const uint8_t *buf, size_t len, unsigned store, int *err)
{
  pprf_key *key;
  struct pprf_import_options options = {.size = sizeof options,
                                        .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES,
                                        .store = store};
  *err = pprf_import_with(&key, buf, len, &options);
  return handle_of(key, err);
}

static int own(const handle *h)
{
  return h->forks == forks;
}

static void take(handle *h, int (*lock)(pthread_rwlock_t *))
{
  pthread_mutex_lock(&h->turn);
  (void)lock(&h->lock);
  pthread_mutex_unlock(&h->turn);
}

static void handle_close(handle *h)
{
  if (own(h))
    take(h, pthread_rwlock_wrlock);
  pprf_free(__atomic_exchange_n(&h->key, NULL, __ATOMIC_ACQ_REL)); /* only one thread of a child frees it */
  if (own(h))
    pthread_rwlock_unlock(&h->lock);
}

static void handle_free(handle *h)
{
  handle_close(h);
  if (own(h)) {
    pthread_rwlock_destroy(&h->lock);
    pthread_mutex_destroy(&h->turn);
  }
  free(h);
}

/* Make the call under the lock: kind is rd or wr. */
#define LOCKED(h, kind, call)                                                                      \
  do {                                                                                             \
    if (!own(h))                                                                                   \
      return h->key == NULL ? PPRF_ERR_NULL : PPRF_ERR_FORKED;                                     \
    take(h, pthread_rwlock_##kind##lock);                                                          \
    int err = (h)->key == NULL ? PPRF_ERR_NULL : (call);                                           \
    pthread_rwlock_unlock(&(h)->lock);                                                             \
    return err;                                                                                    \
  } while (0)

/* PPRF_OK if size bytes are room for n values.  Called under the lock, with the key that writes them. */
static int room(const handle *h, size_t n, size_t size)
{
  size_t one = pprf_value_bytes(h->key); /* 0: a copy by a fork without handlers */
  return one == 0 ? PPRF_ERR_FORKED : size % one == 0 && size / one == n ? PPRF_OK : PPRF_ERR_BUFFER;
}

static int handle_eval(handle *h, uint64_t leaf, uint8_t *out, size_t size)
{
  LOCKED(h, rd, room(h, 1, size) ?: pprf_eval(h->key, leaf, out));
}

static int handle_eval_punct(handle *h, uint64_t leaf, uint8_t *out, size_t size)
{
  LOCKED(h, wr, room(h, 1, size) ?: pprf_eval_punct(h->key, leaf, out));
}

static int handle_punct(handle *h, uint64_t leaf)
{
  LOCKED(h, wr, pprf_punct(h->key, leaf));
}

static int handle_punct_range(handle *h, uint64_t first, uint64_t last)
{
  LOCKED(h, wr, pprf_punct_range(h->key, first, last));
}

static int handle_eval_batch(handle *h, const uint64_t *leaf, size_t n, uint8_t *out, size_t size, int *result)
{
  LOCKED(h, rd, room(h, n, size) ?: pprf_eval_batch(h->key, leaf, n, out, result));
}

static int handle_punct_batch(handle *h, const uint64_t *leaf, size_t n, int *result)
{
  LOCKED(h, wr, pprf_punct_batch(h->key, leaf, n, result));
}

static int part_of(handle *h, uint64_t first, uint64_t last, pprf_key **part)
{
  LOCKED(h, rd, pprf_delegate(h->key, first, last, part));
}

static handle *handle_delegate(handle *h, uint64_t first, uint64_t last, int *err)
{
  pprf_key *part = NULL;
  *err = part_of(h, first, last, &part);
  return handle_of(part, err);
}

static int handle_export(handle *h, uint8_t *buf, size_t *len)
{
  LOCKED(h, rd, pprf_export(h->key, buf, len));
}

static int handle_prefault(handle *h)
{
  LOCKED(h, wr, pprf_prefault(h->key));
}

/* These take no lock: nobody else has the handle yet. */
static unsigned handle_depth(const handle *h)
{
  return pprf_depth(h->key);
}

static unsigned handle_suite(const handle *h)
{
  return pprf_suite(h->key);
}

static size_t handle_value_bytes(const handle *h)
{
  return pprf_value_bytes(h->key);
}

/* Length of a seed; also for suite 0, the library's default. */
static size_t suite_bytes(unsigned suite)
{
  return (PPRF_SUITES_32_BYTES >> suite & 1) != 0 ? PPRF_VALUE_BYTES_MAX : PPRF_SEED_BYTES;
}

static int handle_numbers(handle *h, uint64_t *nodes, uint64_t *memory, int *locked)
{
  LOCKED(h, rd, (*nodes = pprf_node_count(h->key), *memory = pprf_memory_bytes(h->key),
                 *locked = pprf_memory_locked(h->key), PPRF_OK));
}

/* Index of the first leaf without a value; n if there is none. */
static size_t first_missing(const int *result, size_t n)
{
  size_t i = 0;
  while (i < n && result[i] == PPRF_OK)
    i++;
  return i;
}

static void wipe(void *p, size_t n)
{
  explicit_bzero(p, n);
}
"""

ffibuilder = FFI()
ffibuilder.cdef(declarations() + LOCKED)
ffibuilder.set_source(
    "pprf._native", SOURCE, sources=[os.path.join(C, "pprf.c")], include_dirs=[C],
    define_macros=[("PPRF_NO_OPENSSL", None), ("_GNU_SOURCE", None)],
    # it must call its own functions, whatever other libpprf the process has loaded
    extra_compile_args=["-std=c11", "-fvisibility=hidden"], extra_link_args=["-Wl,-Bsymbolic", "-s"],
    libraries=["pthread"])
