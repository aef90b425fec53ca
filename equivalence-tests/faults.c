/* SPDX-License-Identifier: Apache-2.0 */
/* Every call that can fail, made to fail: allocations, mappings, the digest, the random generator
 * and the thread's digest context, at every call inside every operation in turn, once and from
 * there on.  The key is as it was, the output is zero, the error is the right one, nothing leaks,
 * and the same operation then succeeds.
 *
 * The calls are caught with the linker's --wrap (rules.mk).  Each trial runs in a thread of its
 * own, so that it makes its own digest context. */
#include <errno.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "impls.h"
#include "prg.h"
#include "tap.h"

/* ---------------------------------------------------------------- injection */

static __thread int armed;
static struct {
  unsigned at;       /* the call that fails, from 1 */
  int on;            /* and all later ones */
  unsigned calls;    /* made so far */
  int hits;          /* failures injected */
  const char *first; /* name of the call that failed first */
  int want;          /* the error it must lead to; PPRF_OK: it may be ignored */
} inject;
static long live; /* blocks and mappings */

static int hit(const char *name, int want)
{
  if (!armed)
    return 0;
  inject.calls++;
  if (inject.calls != inject.at && !(inject.on && inject.calls > inject.at))
    return 0;
  if (inject.hits++ == 0 || inject.want == PPRF_OK) {
    inject.first = name;
    inject.want = want;
  }
  return 1;
}

#define WRAP(type, name, parameters, ...)                                                          \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters;                                                                   \
  type __wrap_##name parameters __VA_ARGS__

WRAP(void *, malloc, (size_t n), {
  if (hit("malloc", PPRF_ERR_NOMEM)) {
    errno = ENOMEM;
    return NULL;
  }
  void *p = __real_malloc(n);
  live += armed && p != NULL;
  return p;
})
WRAP(void *, calloc, (size_t n, size_t size), {
  if (hit("calloc", PPRF_ERR_NOMEM)) {
    errno = ENOMEM;
    return NULL;
  }
  void *p = __real_calloc(n, size);
  live += armed && p != NULL;
  return p;
})
WRAP(void *, realloc, (void *q, size_t size), {
  if (hit("realloc", PPRF_ERR_NOMEM)) {
    errno = ENOMEM;
    return NULL;
  }
  void *p = __real_realloc(q, size);
  live += armed && p != NULL && q == NULL;
  return p;
})
WRAP(int, posix_memalign, (void **p, size_t align, size_t size), {
  if (hit("posix_memalign", PPRF_ERR_NOMEM))
    return ENOMEM;
  int err = __real_posix_memalign(p, align, size);
  live += armed && err == 0;
  return err;
})
WRAP(void *, aligned_alloc, (size_t align, size_t size), {
  if (hit("aligned_alloc", PPRF_ERR_NOMEM))
    return NULL;
  void *p = __real_aligned_alloc(align, size);
  live += armed && p != NULL;
  return p;
})
WRAP(void, free, (void *p), {
  live -= armed && p != NULL;
  __real_free(p);
})
WRAP(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t off), {
  if (hit("mmap", PPRF_ERR_NOMEM)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void *p = __real_mmap(at, len, prot, flags, fd, off);
  live += armed && p != MAP_FAILED;
  return p;
})
WRAP(int, munmap, (void *p, size_t len), {
  live -= armed;
  return __real_munmap(p, len);
})
WRAP(int, madvise, (void *p, size_t len, int advice),
     { return hit("madvise", PPRF_OK) ? (errno = ENOMEM, -1) : __real_madvise(p, len, advice); })
WRAP(int, mlock2, (const void *p, size_t len, unsigned flags),
     { return hit("mlock2", PPRF_OK) ? (errno = ENOMEM, -1) : __real_mlock2(p, len, flags); })
WRAP(int, mlock, (const void *p, size_t len),
     { return hit("mlock", PPRF_OK) ? (errno = ENOMEM, -1) : __real_mlock(p, len); })

WRAP(EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX * c, const char *name, const char *query), {
  return hit("EVP_MD_fetch", PPRF_ERR_CRYPTO) ? NULL : __real_EVP_MD_fetch(c, name, query);
})
WRAP(EVP_MD_CTX *, EVP_MD_CTX_new, (void),
     { return hit("EVP_MD_CTX_new", PPRF_ERR_NOMEM) ? NULL : __real_EVP_MD_CTX_new(); })
WRAP(int, EVP_DigestInit_ex, (EVP_MD_CTX * c, const EVP_MD *md, ENGINE *e), {
  return hit("EVP_DigestInit_ex", PPRF_ERR_CRYPTO) ? 0 : __real_EVP_DigestInit_ex(c, md, e);
})
WRAP(int, EVP_DigestUpdate, (EVP_MD_CTX * c, const void *p, size_t n), {
  return hit("EVP_DigestUpdate", PPRF_ERR_CRYPTO) ? 0 : __real_EVP_DigestUpdate(c, p, n);
})
WRAP(int, EVP_DigestFinal_ex, (EVP_MD_CTX * c, unsigned char *out, unsigned *n), {
  return hit("EVP_DigestFinal_ex", PPRF_ERR_CRYPTO) ? 0 : __real_EVP_DigestFinal_ex(c, out, n);
})
WRAP(int, RAND_priv_bytes, (unsigned char *out, int n),
     { return hit("RAND_priv_bytes", PPRF_ERR_CRYPTO) ? 0 : __real_RAND_priv_bytes(out, n); })
WRAP(int, pthread_setspecific, (pthread_key_t key, const void *p), {
  /* NULL takes a context away: its failure is none */
  return p != NULL && hit("pthread_setspecific", PPRF_ERR_NOMEM)
           ? ENOMEM
           : __real_pthread_setspecific(key, p);
})
WRAP(int, pthread_key_create, (pthread_key_t * key, void (*f)(void *)), {
  return hit("pthread_key_create", PPRF_ERR_CRYPTO) ? EAGAIN : __real_pthread_key_create(key, f);
})
WRAP(struct pprf_children, prg_expand, (struct pprf_seed s, uint64_t start, unsigned h), {
  if (hit("prg_expand (crypto)", PPRF_ERR_CRYPTO))
    return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
  if (hit("prg_expand (nomem)", PPRF_ERR_NOMEM))
    return (struct pprf_children){.err = PPRF_ERR_NOMEM};
  return __real_prg_expand(s, start, h);
})

/* ---------------------------------------------------------------- one trial */

enum kind { EVAL, PUNCT, EVAL_PUNCT, RANGE, EXPORT, IMPORT, SETUP, SETUP_RANDOM, KINDS };
static const char *const kind_name[KINDS] = {"eval",   "punct",  "eval_punct", "punct_range",
                                             "export", "import", "setup",      "setup_random"};
static const uint8_t root[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t zero[16];

struct trial {
  const struct pprf_impl *impl;
  enum kind kind;
  pprf_key *key;
  uint64_t a, b; /* leaves; for setup, a is the depth */
  const uint8_t *file;
  size_t file_len;
  /* results */
  int err;
  uint8_t out[16];
  pprf_key *made;
  uint8_t *bytes;
  size_t bytes_len;
};

static void *run(void *arg)
{
  struct trial *t = arg;
  const struct pprf_impl *impl = t->impl;
  memset(t->out, 0xee, sizeof t->out);
  t->made = NULL;
  armed = 1;
  switch (t->kind) {
  case EVAL:
    t->err = impl->eval(t->key, t->a, t->out);
    break;
  case PUNCT:
    t->err = impl->punct(t->key, t->a);
    break;
  case EVAL_PUNCT:
    t->err = impl->eval_punct(t->key, t->a, t->out);
    break;
  case RANGE:
    t->err = impl->punct_range(t->key, t->a, t->b);
    break;
  case EXPORT:
    t->err = impl->export_key(t->key, t->bytes, &t->bytes_len);
    break;
  case IMPORT:
    t->made = (pprf_key *)(uintptr_t)16; /* must be set to NULL on error */
    t->err = impl->import_key(&t->made, t->file, t->file_len);
    break;
  default:
    t->made = (pprf_key *)(uintptr_t)16;
    t->err = impl->setup(&t->made, (unsigned)t->a, t->kind == SETUP ? root : NULL);
  }
  armed = 0;
  return NULL;
}

static void in_thread(struct trial *t)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, t) != 0 || pthread_join(thread, NULL) != 0) {
    printf("Bail out! no thread\n");
    exit(1);
  }
}

static uint8_t *export(const struct pprf_impl *impl, const pprf_key *key, size_t *len)
{
  if (impl->export_key(key, NULL, len) != PPRF_OK)
    return NULL;
  uint8_t *bytes = malloc(*len);
  if (impl->export_key(key, bytes, len) != PPRF_OK) {
    free(bytes);
    return NULL;
  }
  return bytes;
}

static uint64_t injected, ignored;
static unsigned problems;
static int quiet;

static void problem(const struct trial *t, const char *what)
{
  if (!quiet && tap_stop())
    exit(1);
  if (problems++ < 10 && !quiet)
    tap_note("%s %s 0x%llx 0x%llx, call %u (%s)%s: %s; result %s", t->impl->name,
             kind_name[t->kind], (unsigned long long)t->a, (unsigned long long)t->b, inject.at,
             inject.first, inject.on ? " and all later ones" : "", what, result_name(t->err));
}

/* What must hold after a failed operation. */
static void check_failed(struct trial *t, const uint8_t *before, size_t before_len, long was_live)
{
  if (t->err != inject.want)
    problem(t, "wrong result");
  if ((t->kind == EVAL || t->kind == EVAL_PUNCT) && memcmp(t->out, zero, 16) != 0)
    problem(t, "the output is not zero");
  if (t->kind == EXPORT)
    for (size_t i = 0; i < t->bytes_len; i++)
      if (t->bytes[i] != 0) {
        problem(t, "the buffer is not zero");
        break;
      }
  if (t->kind >= IMPORT && t->made != NULL)
    problem(t, "a key beside an error");
  if (live != was_live)
    problem(t, "a block or mapping leaks");
  if (t->key == NULL)
    return;
  size_t len;
  uint8_t *now = export(t->impl, t->key, &len);
  if (now == NULL || len != before_len || memcmp(now, before, len) != 0)
    problem(t, "the key changed");
  free(now);
}

/* Fail each call of the operation in turn until the operation gets through without a failure;
 * the operation is done once then. */
static void every_call(struct trial *t, int on)
{
  size_t len = 0;
  uint8_t *before = t->key == NULL ? NULL : export(t->impl, t->key, &len);
  for (unsigned at = 1;; at++) {
    if (t->kind == EXPORT) {
      t->bytes_len = len;
      t->bytes = malloc(len);
      memset(t->bytes, 0xee, len);
    }
    long was_live = live;
    memset(&inject, 0, sizeof inject);
    inject.at = at;
    inject.on = on;
    in_thread(t);
    int hits = inject.hits, want = inject.want;
    injected += hits > 0;
    int done = hits == 0;
    if (hits > 0 && want == PPRF_OK) { /* a call whose failure may be ignored */
      ignored++;
      if (t->err != PPRF_OK)
        problem(t, "failed though it need not");
    } else if (hits > 0)
      check_failed(t, before, len, was_live);
    else if (t->err != PPRF_OK)
      problem(t, "failed without a failure");
    if (t->kind == EXPORT) {
      if (done && memcmp(t->bytes, before, len) != 0)
        problem(t, "wrong bytes");
      free(t->bytes);
    }
    if (t->kind >= IMPORT && t->err == PPRF_OK) {
      if (t->kind == IMPORT) {
        size_t again;
        uint8_t *bytes = export(t->impl, t->made, &again);
        if (bytes == NULL || again != t->file_len || memcmp(bytes, t->file, again) != 0)
          problem(t, "wrong key");
        free(bytes);
      }
      t->impl->free(t->made);
    }
    if (done || (t->err == PPRF_OK && t->kind != EVAL && t->kind < EXPORT))
      break; /* nothing is left to fail, or the key has changed */
  }
  free(before);
}

/* ---------------------------------------------------------------- scenarios */

static pprf_key *fresh(const struct pprf_impl *impl, unsigned depth)
{
  pprf_key *key = NULL;
  if (impl->setup(&key, depth, root) != PPRF_OK) {
    printf("Bail out! setup\n");
    exit(1);
  }
  return key;
}

static void one(const struct pprf_impl *impl, pprf_key *key, enum kind kind, uint64_t a, uint64_t b)
{
  for (int on = 0; on < 2; on++) { /* both on the same key: the second changes it */
    pprf_key *use = key, *copy = NULL;
    if (on == 0 && kind != EVAL && kind != EXPORT) {
      size_t len;
      uint8_t *bytes = export(impl, key, &len);
      if (bytes == NULL || impl->import_key(&copy, bytes, len) != PPRF_OK)
        problems++;
      free(bytes);
      use = copy;
    }
    struct trial t = {.impl = impl, .kind = kind, .key = use, .a = a, .b = b};
    every_call(&t, on);
    impl->free(copy);
  }
}

/* Every kind of operation on keys of a depth, fresh and punctured here and there. */
static void states(const struct pprf_impl *impl, unsigned depth)
{
  uint64_t size = (uint64_t)1 << depth, state = depth;
  for (unsigned punctures = 0; punctures < 4; punctures++) {
    for (enum kind kind = 0; kind < SETUP; kind++)
      for (unsigned range = 0; range < (kind == RANGE ? 5 : 1); range++) {
        pprf_key *key = fresh(impl, depth);
        for (unsigned i = 0; i < punctures * punctures; i++)
          (void)impl->punct(key, tap_random(&state) % size);
        uint64_t a = tap_random(&state) % size, b = a;
        uint8_t out[16];
        while (impl->node_count(key) > 0 && impl->eval(key, a, out) != PPRF_OK)
          a = (a + 1) % size;
        if (impl->node_count(key) == 0) {
          impl->free(key);
          continue;
        }
        if (kind == RANGE) {
          b = range == 0 ? a : range == 1 ? size - 1 : a + tap_random(&state) % (size - a);
          a = range == 3 ? 0 : range == 4 ? a / 2 : a;
        }
        if (kind == IMPORT) {
          struct trial t = {.impl = impl, .kind = IMPORT};
          uint8_t *file = export(impl, key, &t.file_len);
          t.file = file;
          every_call(&t, 0);
          every_call(&t, 1);
          free(file);
        } else
          one(impl, key, kind, a, b);
        impl->free(key);
      }
  }
  for (enum kind kind = SETUP; kind <= SETUP_RANDOM; kind++)
    for (int on = 0; on < 2; on++) {
      struct trial t = {.impl = impl, .kind = kind, .a = depth};
      every_call(&t, on);
    }
}

/* Every step of the worst case: the key grows to its largest, whatever its memory does. */
static void growth(const struct pprf_impl *impl, unsigned depth, enum kind kind)
{
  pprf_key *key = fresh(impl, depth);
  uint64_t size = (uint64_t)1 << depth;
  for (uint64_t x = 0; x < size; x += 2) {
    struct trial t = {.impl = impl, .kind = kind, .key = key, .a = x, .b = x};
    every_call(&t, (int)(x / 2) & 1);
  }
  if (impl->node_count(key) != size / 2)
    problems++;
  impl->free(key);
}

/* A key's blocks and mappings all go back when it is freed. */
static int balanced(const struct pprf_impl *impl)
{
  uint8_t file[2000];
  long was_live = live;
  memset(&inject, 0, sizeof inject);
  armed = 1;
  for (unsigned depth = 1; depth <= 32; depth += depth == 1 ? 4 : 9) {
    pprf_key *key = NULL, *copy = NULL;
    size_t len = sizeof file;
    if (impl->setup(&key, depth, root) != PPRF_OK || impl->punct(key, 1) != PPRF_OK ||
        impl->export_key(key, file, &len) != PPRF_OK ||
        impl->import_key(&copy, file, len) != PPRF_OK)
      problems++;
    (void)impl->punct_range(key, 0, 1);
    impl->free(key);
    impl->free(copy);
  }
  armed = 0;
  return live == was_live;
}

/* What happens once in a process: the digest's fetch and the thread key. */
static int first_use(const struct pprf_impl *impl, unsigned at)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    uint8_t out[16], file[200];
    pprf_key *key = NULL;
    int bad = 0;
    memset(&inject, 0, sizeof inject);
    inject.at = at;
    inject.on = 1;
    armed = 1;
    int err = impl->setup(&key, 5, root);
    if (err != PPRF_OK) {
      bad |= key != NULL || err != inject.want;
      _exit(inject.hits == 0 ? 3 : bad);
    }
    memset(out, 0xee, 16);
    err = impl->eval(key, 7, out);
    int failed = err != PPRF_OK;
    if (failed) {
      bad |= inject.want != err || memcmp(out, zero, 16) != 0;
      err = impl->punct(key, 7);
      bad |= err == PPRF_OK || impl->node_count(key) != 1;
      size_t len = sizeof file;
      bad |= impl->export_key(key, file, &len) == PPRF_OK;
      for (size_t i = 0; i < len; i++)
        bad |= file[i] != 0;
    }
    armed = 0;
    impl->free(key);
    _exit(inject.hits == 0 ? 3 : !failed ? 2 : bad);
  }
  return child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)
           ? 1
           : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
  int full = tap_full(argc, argv);
  static const unsigned depths[] = {1, 2, 5, 9, 13, 20, 32};
  /* Before this process itself uses the digest. */
  for (int i = 0; i < IMPLS; i++) {
    unsigned at = 1, bad = 0, result;
    for (; (result = (unsigned)first_use(impls[i], at)) != 3 && at < 100; at++) {
      injected++;
      if (result != 0) {
        tap_note("%s: first use, from call %u on: %s", impls[i]->name, at,
                 result == 2 ? "all went well" : "wrong");
        bad++;
      }
    }
    tap_ok(bad == 0 && at > 4, "%s_reports_that_the_digest_is_not_there", impls[i]->name);
  }
  for (int i = 0; i < IMPLS; i++) {
    tap_ok(balanced(impls[i]), "%s_free_gives_everything_back", impls[i]->name);
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
      problems = 0;
      states(impls[i], depths[d]);
      tap_ok(problems == 0, "%s_key_is_as_it_was_after_any_failure_at_depth_%u", impls[i]->name,
             depths[d]);
      tap_progress("failures, depth", depths[d], 33);
    }
    for (enum kind kind = PUNCT; kind <= RANGE; kind++) {
      problems = 0;
      growth(impls[i], full ? 10 : 7, kind);
      tap_ok(problems == 0, "%s_%s_fails_whole_while_the_key_grows", impls[i]->name,
             kind_name[kind]);
    }
  }
  /* The test of the test: an implementation that forgets its error is noticed. */
  problems = 0;
  quiet = 1;
  struct trial t = {.impl = impls[0], .kind = EVAL, .err = PPRF_OK};
  memset(&inject, 0, sizeof inject);
  inject.want = PPRF_ERR_CRYPTO;
  memset(t.out, 0xee, 16);
  check_failed(&t, NULL, 0, live + 1);
  tap_ok(problems == 3, "a_lost_error_an_output_and_a_leak_are_noticed");
  tap_note("%llu failures injected, of which %llu in calls that may fail",
           (unsigned long long)injected, (unsigned long long)ignored);
  return tap_end();
}
