/* SPDX-License-Identifier: Apache-2.0 */
/* Every call that can fail is made to fail: allocations, mappings, the digest, the random generator
 * and the thread's digest context. In every operation each such call fails in turn, alone and with
 * all later ones. Then the key is unchanged, the output is zero, the error is the right one,
 * nothing leaks, and the same operation succeeds afterwards.
 *
 * The calls are caught with the linker's --wrap (rules.mk).  Each trial runs in its own thread, so
 * that it makes its own digest context. */
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../../opt/shared.h"
#include "impls.h"
#include "common/options.h"
#include "../../tools/tap.h"
#include "wide.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---------------------------------------------------------------- injection */

static __thread int armed;
static struct {
  unsigned at;       /* the call that fails, from 1 */
  int on;            /* whether all later calls fail, too */
  unsigned calls;    /* calls made so far */
  int hits;          /* failures injected */
  const char *first; /* name of the call that failed first */
  int want;          /* the expected error; PPRF_OK: the failure may be ignored */
} inject;
static long live; /* blocks and mappings in use */

/* The calls that must have failed in a run. A wrapper that nothing calls would test nothing: the
 * name that a call uses depends on headers and flags; mmap is mmap64 if off_t has 64 bits. */
static struct {
  const char *name;
  int failed;
} needed[] = {{"malloc", 0},
              {"calloc", 0},
              {"mmap", 0},
              {"madvise", 0},
              {"mlock2", 0},
              {"EVP_MD_CTX_new", 0},
              {"EVP_DigestInit_ex", 0},
              {"EVP_DigestUpdate", 0},
              {"EVP_DigestFinal_ex", 0},
              {"EVP_KDF_CTX_new", 0},
              {"EVP_KDF_derive", 0},
              {"RAND_priv_bytes", 0}};

static void note_failure(const char *name)
{
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    needed[i].failed |= strcmp(needed[i].name, name) == 0;
}

static int all_failed(void)
{
  int all = 1;
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!needed[i].failed) {
      tap_note("%s was never made to fail", needed[i].name);
      all = 0;
    }
  return all;
}

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
  note_failure(name);
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
WRAP(void *, mmap64, (void *at, size_t len, int prot, int flags, int fd, off_t off), {
  if (hit("mmap", PPRF_ERR_NOMEM)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void *p = __real_mmap64(at, len, prot, flags, fd, off);
  live += armed && p != MAP_FAILED;
  return p;
})
WRAP(int, munmap, (void *p, size_t len), {
  live -= armed;
  return __real_munmap(p, len);
})
static int no_populate; /* act as a system without that advice */
WRAP(int, madvise, (void *p, size_t len, int advice), {
  if (no_populate && advice == MADV_POPULATE_WRITE) {
    errno = EINVAL;
    return -1;
  }
  /* only a caller that requests pages explicitly needs them */
  if (hit("madvise", advice == MADV_POPULATE_WRITE ? PPRF_ERR_NOMEM : PPRF_OK)) {
    errno = ENOMEM;
    return -1;
  }
  return __real_madvise(p, len, advice);
})
static int no_digest; /* fetching a digest fails */
static int no_lock;   /* the limit on locked memory is 0; otherwise there is none */
WRAP(int, mlock2, (const void *p, size_t len, unsigned flags), {
  if (no_lock || hit("mlock2", PPRF_OK))
    return (errno = ENOMEM, -1);
  (void)__real_mlock2(p, len, flags);
  return 0;
})
WRAP(int, mlock, (const void *p, size_t len),
     { return hit("mlock", PPRF_OK) ? (errno = ENOMEM, -1) : __real_mlock(p, len); })

WRAP(EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX *c, const char *name, const char *query),
     { return hit("EVP_MD_fetch", PPRF_ERR_CRYPTO) ? NULL : __real_EVP_MD_fetch(c, name, query); })
static long contexts; /* digest contexts in use */
WRAP(EVP_MD_CTX *, EVP_MD_CTX_new, (void), {
  EVP_MD_CTX *c = hit("EVP_MD_CTX_new", PPRF_ERR_NOMEM) ? NULL : __real_EVP_MD_CTX_new();
  contexts += c != NULL;
  return c;
})
WRAP(void, EVP_MD_CTX_free, (EVP_MD_CTX *c), {
  contexts -= c != NULL;
  __real_EVP_MD_CTX_free(c);
})
WRAP(int, EVP_DigestInit_ex, (EVP_MD_CTX *c, const EVP_MD *md, ENGINE *e),
     { return hit("EVP_DigestInit_ex", PPRF_ERR_CRYPTO) ? 0 : __real_EVP_DigestInit_ex(c, md, e); })
WRAP(int, EVP_DigestUpdate, (EVP_MD_CTX *c, const void *p, size_t n),
     { return hit("EVP_DigestUpdate", PPRF_ERR_CRYPTO) ? 0 : __real_EVP_DigestUpdate(c, p, n); })
WRAP(int, EVP_DigestFinal_ex, (EVP_MD_CTX *c, unsigned char *out, unsigned *n), {
  return no_digest || hit("EVP_DigestFinal_ex", PPRF_ERR_CRYPTO)
           ? 0
           : __real_EVP_DigestFinal_ex(c, out, n);
})
WRAP(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void),
     { return hit("EVP_CIPHER_CTX_new", PPRF_ERR_NOMEM) ? NULL : __real_EVP_CIPHER_CTX_new(); })
WRAP(int, EVP_EncryptInit_ex,
     (EVP_CIPHER_CTX *c, const EVP_CIPHER *cipher, ENGINE *e, const unsigned char *key,
      const unsigned char *iv),
     {
       return hit("EVP_EncryptInit_ex", PPRF_ERR_CRYPTO)
                ? 0
                : __real_EVP_EncryptInit_ex(c, cipher, e, key, iv);
     })
WRAP(int, EVP_CIPHER_CTX_set_padding, (EVP_CIPHER_CTX *c, int pad), {
  return hit("EVP_CIPHER_CTX_set_padding", PPRF_ERR_CRYPTO)
           ? 0
           : __real_EVP_CIPHER_CTX_set_padding(c, pad);
})
/* It fails after it has written. */
WRAP(int, EVP_EncryptUpdate,
     (EVP_CIPHER_CTX *c, unsigned char *out, int *len, const unsigned char *in, int n), {
       int good = __real_EVP_EncryptUpdate(c, out, len, in, n);
       return hit("EVP_EncryptUpdate", PPRF_ERR_CRYPTO) ? 0 : good;
     })
WRAP(EVP_KDF_CTX *, EVP_KDF_CTX_new, (EVP_KDF * kdf),
     { return hit("EVP_KDF_CTX_new", PPRF_ERR_NOMEM) ? NULL : __real_EVP_KDF_CTX_new(kdf); })
/* It fails after it has written. */
WRAP(int, EVP_KDF_derive,
     (EVP_KDF_CTX * c, unsigned char *out, size_t n, const OSSL_PARAM params[]), {
       int good = __real_EVP_KDF_derive(c, out, n, params);
       return hit("EVP_KDF_derive", PPRF_ERR_CRYPTO) ? 0 : good;
     })
WRAP(int, RAND_priv_bytes, (unsigned char *out, int n),
     { return hit("RAND_priv_bytes", PPRF_ERR_CRYPTO) ? 0 : __real_RAND_priv_bytes(out, n); })
WRAP(int, pthread_setspecific, (pthread_key_t key, const void *p), {
  /* NULL removes a context, which does not fail */
  return p != NULL && hit("pthread_setspecific", PPRF_ERR_NOMEM)
           ? ENOMEM
           : __real_pthread_setspecific(key, p);
})
WRAP(int, pthread_key_create, (pthread_key_t *key, void (*f)(void *)), {
  return hit("pthread_key_create", PPRF_ERR_CRYPTO) ? EAGAIN : __real_pthread_key_create(key, f);
})
WRAP(struct pprf_children, prg_expand,
     (struct pprf_family family, struct pprf_seed s, uint64_t start, unsigned h), {
       if (hit("prg_expand (crypto)", PPRF_ERR_CRYPTO))
         return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
       if (hit("prg_expand (nomem)", PPRF_ERR_NOMEM))
         return (struct pprf_children){.err = PPRF_ERR_NOMEM};
       return __real_prg_expand(family, s, start, h);
     })
WRAP(struct pprf_wide_children, prg_expand_wide,
     (struct pprf_family family, struct pprf_wide_seed s, uint64_t start, unsigned h), {
       if (hit("prg_expand (crypto)", PPRF_ERR_CRYPTO))
         return (struct pprf_wide_children){.err = PPRF_ERR_CRYPTO};
       if (hit("prg_expand (nomem)", PPRF_ERR_NOMEM))
         return (struct pprf_wide_children){.err = PPRF_ERR_NOMEM};
       return __real_prg_expand_wide(family, s, start, h);
     })

/* ---------------------------------------------------------------- one trial */

enum kind {
  EVAL,
  PUNCT,
  EVAL_PUNCT,
  RANGE,
  EVAL_BATCH,
  PUNCT_BATCH,
  EXPAND,
  PREFAULT,
  EXPORT,
  IMPORT,
  DELEGATE,
  SETUP,
  SETUP_RANDOM,
  SETUP_SALTED, /* draws a salt */
  SETUP_WIDE,   /* draws a root of 32 bytes */
  SHARED,       /* only opt: a key in shared memory */
  SETUP_SHARED, /* the same through the API */
  KINDS
};
static const char *const kind_name[KINDS] = {
  "eval",         "punct",        "eval_punct", "punct_range", "eval_batch",  "punct_batch",
  "expand",       "prefault",     "export",     "import",      "delegate",    "setup",
  "setup_random", "setup_salted", "setup_wide", "opt_shared",  "setup_shared"};

static int changes_key(enum kind kind)
{
  return kind == PUNCT || kind == EVAL_PUNCT || kind == RANGE || kind == PUNCT_BATCH;
}

static int makes_key(enum kind kind)
{
  return kind >= IMPORT;
}

static int has_value(enum kind kind)
{
  return kind == EVAL || kind == EVAL_PUNCT;
}

/* ref's function, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);
int ref_pprf_prefault(pprf_key *key);

enum { VALUE_MAX = PPRF_VALUE_BYTES_MAX };
static const uint8_t root[VALUE_MAX] = {1,  2,  3,  4,  5,  6,  7,  8,        9,
                                        10, 11, 12, 13, 14, 15, 16, [31] = 17};
static const uint8_t zero[VALUE_MAX];

/* Leaves of a batch or of an expanded range, with their results. */
enum { MANY = 1100 }; /* more than opt processes at once */
struct many {
  uint64_t leaf[MANY];
  size_t n;
  size_t bytes; /* size of a value */
  uint8_t want[MANY][VALUE_MAX], out[MANY * VALUE_MAX]; /* one after another */
  int want_result[MANY], result[MANY];
};

struct trial {
  const struct pprf_impl *impl;
  enum kind kind;
  pprf_key *key;
  uint64_t a, b; /* leaves; for setup, a is the depth */
  struct many *many;
  unsigned stride; /* fail every stride-th call; 0: every call */
  const uint8_t *file;
  size_t file_len;
  /* results */
  int err;
  uint8_t out[VALUE_MAX];
  pprf_key *made;
  uint8_t *bytes;
  size_t bytes_len;
};

static int collect(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct many *m = arg;
  for (size_t i = 0; i < n; i++) {
    uint64_t at = leaf + i - m->leaf[0];
    if (at >= m->n)
      return -1;
    memcpy(m->out + m->bytes * at, values + m->bytes * i, m->bytes);
    m->result[at] = PPRF_OK;
  }
  return 0;
}

struct nest {
  const pprf_key *key;
  int depth;
};

static int nest(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct nest *s = arg;
  (void)n;
  (void)values;
  return s->depth-- > 0 ? pprf_expand(s->key, leaf, leaf, nest, s) : 0;
}

/* An expansion inside an expansion, more levels than opt keeps memory for: the innermost maps
 * some. */
static int expand_nested(const pprf_key *key, uint64_t first, uint64_t last)
{
  struct nest s = {key, 4};
  return pprf_expand(key, first, last, nest, &s);
}

/* Make opt keep as much memory of ended expansions as it ever does. */
static void fill_spare(void)
{
  struct pprf_options o = {.size = sizeof o, .seed = root, .depth = 5};
  for (o.suite = PPRF_SHA3_256; o.suite <= PPRF_MLS_SHA256; o.suite++) {
    pprf_key *key;
    if (pprf_setup_with(&key, &o) != PPRF_OK || expand_nested(key, 0, 0) != PPRF_OK)
      exit(2);
    pprf_free(key);
  }
}

static int call_many(const struct trial *t)
{
  struct many *m = t->many;
  int ref = t->impl == &impl_ref;
  if (t->kind == PREFAULT)
    return (ref ? ref_pprf_prefault : pprf_prefault)(t->key);
  if (t->kind == EVAL_BATCH)
    return (ref ? ref_pprf_eval_batch : pprf_eval_batch)(t->key, m->leaf, m->n, m->out, m->result);
  if (t->kind == PUNCT_BATCH)
    return (ref ? ref_pprf_punct_batch : pprf_punct_batch)(t->key, m->leaf, m->n, m->result);
  int err = ref || t->impl->depth(t->key) > 5
              ? PPRF_OK
              : expand_nested(t->key, m->leaf[0], m->leaf[m->n - 1]);
  if (err != PPRF_OK)
    return err;
  return (ref ? ref_pprf_expand : pprf_expand)(t->key, m->leaf[0], m->leaf[m->n - 1], collect, m);
}

static int setup_salted(const struct pprf_impl *impl, pprf_key **key, unsigned depth)
{
  struct pprf_options o = {
    .size = sizeof o, .seed = root, .depth = depth, .suite = PPRF_SHA3_256_SALTED};
  return impl->setup_with(key, &o);
}

static int setup_wide(const struct pprf_impl *impl, pprf_key **key, unsigned depth)
{
  struct pprf_options o = {.size = sizeof o, .depth = depth, .suite = PPRF_MLS_SHA256};
  return impl->setup_with(key, &o);
}

static int setup_shared(const struct pprf_impl *impl, pprf_key **key, unsigned depth)
{
  struct pprf_options o = {.size = sizeof o, .depth = depth, .flags = PPRF_SHARED};
  return impl->setup_with(key, &o);
}

static int opt_shared(pprf_key **key, unsigned depth)
{
  int err = opt_shared_new(key, depth);
  if (err == PPRF_OK && (err = opt_shared_start(*key)) != PPRF_OK) {
    opt_shared_free(*key);
    *key = NULL;
  }
  return err;
}

static void *run(void *arg)
{
  struct trial *t = arg;
  const struct pprf_impl *impl = t->impl;
  memset(t->out, 0xee, sizeof t->out);
  if (t->many != NULL) {
    memset(t->many->out, 0xee, sizeof t->many->out);
    memset(t->many->result, 0xee, sizeof t->many->result);
  }
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
  case EVAL_BATCH:
  case PUNCT_BATCH:
  case EXPAND:
  case PREFAULT:
    t->err = call_many(t);
    break;
  case EXPORT:
    t->err = impl->export_key(t->key, t->bytes, &t->bytes_len);
    break;
  case IMPORT:
    t->made = (pprf_key *)(uintptr_t)16; /* must be set to NULL on error */
    t->err = import_any(impl, &t->made, t->file, t->file_len);
    break;
  case DELEGATE:
    t->made = (pprf_key *)(uintptr_t)16;
    t->err = impl->delegate(t->key, t->a, t->b, &t->made);
    break;
  case SHARED:
    t->err = opt_shared(&t->made, (unsigned)t->a);
    break;
  case SETUP_SHARED:
    t->made = (pprf_key *)(uintptr_t)16;
    t->err = setup_shared(impl, &t->made, (unsigned)t->a);
    break;
  case SETUP_SALTED:
    t->made = (pprf_key *)(uintptr_t)16;
    t->err = setup_salted(impl, &t->made, (unsigned)t->a);
    break;
  case SETUP_WIDE:
    t->made = (pprf_key *)(uintptr_t)16;
    t->err = setup_wide(impl, &t->made, (unsigned)t->a);
    break;
  default:
    t->made = (pprf_key *)(uintptr_t)16;
    t->err = impl->setup(&t->made, (unsigned)t->a, t->kind == SETUP ? root : NULL);
  }
  armed = 0;
  return NULL;
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
static size_t batch_leaves; /* leaves in a batch of the many trials */

static void problem(const struct trial *t, const char *what)
{
  if (!quiet && tap_stop())
    exit(1);
  if (problems++ < 10 && !quiet)
    tap_note("%s %s 0x%llx 0x%llx, call %u (%s)%s: %s; result %s", t->impl->name,
             kind_name[t->kind], (unsigned long long)t->a, (unsigned long long)t->b, inject.at,
             inject.first, inject.on ? " and all later ones" : "", what, result_name(t->err));
}

/* The thread's digest context is freed with the thread, whatever failed. */
static void in_thread(struct trial *t)
{
  pthread_t thread;
  long before = contexts;
  if (pthread_create(&thread, NULL, run, t) != 0 || pthread_join(thread, NULL) != 0) {
    printf("Bail out! no thread\n");
    exit(1);
  }
  if (contexts != before)
    problem(t, "a digest context leaks");
}

/* eval's results for the leaves, before anything fails. */
static void expect_many(const struct trial *t)
{
  struct many *m = t->many;
  for (size_t i = 0; m != NULL && i < m->n; i++) {
    m->want_result[i] = t->impl->eval(t->key, m->leaf[i], m->want[i]);
    for (size_t j = 0; t->kind == PUNCT_BATCH && j < i; j++)
      if (m->leaf[j] == m->leaf[i])
        m->want_result[i] = PPRF_ERR_PUNCTURED;
  }
}

/* Check results and values of an operation that succeeded. */
static void check_many(const struct trial *t)
{
  const struct many *m = t->many;
  for (size_t i = 0; m != NULL && i < m->n; i++) {
    int none = t->kind == EXPAND && m->want_result[i] == PPRF_ERR_PUNCTURED;
    if (none ? m->result[i] == PPRF_OK : m->result[i] != m->want_result[i])
      problem(t, "a wrong result of a leaf");
    else if (t->kind != PUNCT_BATCH && !none &&
             memcmp(m->out + m->bytes * i, m->want[i], m->bytes) != 0)
      problem(t, "a wrong value of a leaf");
  }
}

/* The same after a failure: a batch returns nothing, an expansion may have returned correct
 * values. */
static void check_failed_many(const struct trial *t)
{
  const struct many *m = t->many;
  for (size_t i = 0; m != NULL && i < m->n; i++) {
    if (t->kind != EXPAND && m->result[i] != t->err)
      problem(t, "a leaf's result is not the error");
    if (t->kind == EVAL_BATCH && memcmp(m->out + m->bytes * i, zero, m->bytes) != 0)
      problem(t, "a leaf's value is not zero");
    if (t->kind == EXPAND && m->result[i] == PPRF_OK &&
        memcmp(m->out + m->bytes * i, m->want[i], m->bytes) != 0)
      problem(t, "a wrong value of a leaf before the error");
  }
}

/* What must hold after a failed operation. */
static void check_failed(struct trial *t, const uint8_t *before, size_t before_len, long was_live)
{
  /* a store may be had in two ways: the second call that fails gives the result */
  int later = t->kind == DELEGATE && inject.on && t->err == PPRF_ERR_CRYPTO;
  if (t->err != inject.want && !later)
    problem(t, "wrong result");
  if (has_value(t->kind) &&
      memcmp(t->out, zero, t->key == NULL ? 16 : t->impl->value_bytes(t->key)) != 0)
    problem(t, "the output is not zero");
  check_failed_many(t);
  if (t->kind == EXPORT)
    for (size_t i = 0; i < t->bytes_len; i++)
      if (t->bytes[i] != 0) {
        problem(t, "the buffer is not zero");
        break;
      }
  if (makes_key(t->kind) && t->made != NULL)
    problem(t, "a key was returned with an error");
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

/* Whether a range was punctured in a packed store, which then merges small pages: lack of memory
 * for that is harmless (opt/packed/packed.c). */
static int tidied(const struct trial *t)
{
  uint8_t out[VALUE_MAX];
  return t->kind == RANGE && (t->impl != &impl_ref) &&
         (t->impl != &impl_slots || t->impl->depth(t->key) > PPRF_SLOTS_DEPTH_MAX) &&
         t->impl->eval(t->key, t->a, out) == PPRF_ERR_PUNCTURED &&
         t->impl->eval(t->key, t->b, out) == PPRF_ERR_PUNCTURED;
}

/* Make each call of the operation fail in turn, until the operation runs without a failure and
 * so succeeds once. */
static void every_call(struct trial *t, int on)
{
  size_t len = 0;
  uint8_t *before = t->key == NULL ? NULL : export(t->impl, t->key, &len);
  expect_many(t);
  for (unsigned at = 1;; at += t->stride > 0 ? t->stride : 1) {
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
    if (hits > 0 && want == PPRF_ERR_NOMEM && t->err == PPRF_OK &&
        ((t->kind == DELEGATE && t->impl != &impl_ref) || tidied(t)))
      want = PPRF_OK;
    if (hits > 0 && want == PPRF_OK) { /* this call's failure may be ignored */
      ignored++;
      if (t->err != PPRF_OK)
        problem(t, "failed although it need not");
    } else if (hits > 0)
      check_failed(t, before, len, was_live);
    else if (t->err != PPRF_OK)
      problem(t, "failed without a failure");
    if (t->err == PPRF_OK)
      check_many(t);
    if (t->kind == EXPORT) {
      if (done && memcmp(t->bytes, before, len) != 0)
        problem(t, "wrong bytes");
      free(t->bytes);
    }
    if (makes_key(t->kind) && t->err == PPRF_OK) {
      if (t->kind == IMPORT || t->kind == DELEGATE) {
        size_t again;
        uint8_t *bytes = export(t->impl, t->made, &again);
        if (bytes == NULL || again != t->file_len || memcmp(bytes, t->file, again) != 0)
          problem(t, "wrong key");
        free(bytes);
      }
      t->impl->free(t->made);
    }
    if (done || (t->err == PPRF_OK && changes_key(t->kind)))
      break; /* nothing is left to fail, or the key has changed */
  }
  free(before);
}

/* ---------------------------------------------------------------- scenarios */

/* The depth determines the suite: one of each eight has 32-byte seeds. */
static pprf_key *fresh(const struct pprf_impl *impl, unsigned depth)
{
  struct pprf_options o = {.size = sizeof o,
                           .seed = root,
                           .depth = depth,
                           .suite = depth % 8 == 3 ? (unsigned)PPRF_MLS_SHA256
                                                   : PPRF_SHA3_256 + depth % 3};
  pprf_key *key = NULL;
  o.salt = pprf_has_salt(o.suite) ? root : NULL;
  if (impl->setup_with(&key, &o) != PPRF_OK) {
    printf("Bail out! setup\n");
    exit(1);
  }
  return key;
}

/* Leaves for a batch: some adjacent, some repeated; or a run of them for an expansion. */
static struct many *choose(struct many *m, unsigned depth, size_t bytes, enum kind kind, size_t n,
                           uint64_t a)
{
  uint64_t size = (uint64_t)1 << depth, state = a;
  if (kind != EVAL_BATCH && kind != PUNCT_BATCH && kind != EXPAND)
    return NULL;
  m->n = kind == EXPAND && n > size ? (size_t)size : n;
  m->bytes = bytes;
  if (kind == EXPAND && a > size - m->n)
    a = size - m->n;
  for (size_t i = 0; i < m->n; i++)
    m->leaf[i] = kind == EXPAND ? a + i
                 : i % 4 == 1   ? m->leaf[i - 1] ^ 1
                 : i % 4 == 3   ? m->leaf[i / 2]
                                : tap_random(&state) % size;
  return m;
}

static void one(const struct pprf_impl *impl, pprf_key *key, enum kind kind, uint64_t a, uint64_t b)
{
  static struct many many;
  for (int on = 0; on < 2; on++) { /* both on the same key: the second changes it */
    pprf_key *use = key, *copy = NULL;
    if ((on == 0 && changes_key(kind)) || kind == PREFAULT) {
      size_t len;
      uint8_t *bytes = export(impl, key, &len);
      if (bytes == NULL || import_any(impl, &copy, bytes, len) != PPRF_OK)
        problems++;
      free(bytes);
      use = copy;
    }
    struct trial t = {.impl = impl, .kind = kind, .key = use, .a = a, .b = b};
    t.many = choose(&many, impl->depth(key), impl->value_bytes(key), kind, batch_leaves, a);
    every_call(&t, on);
    if (copy != NULL)
      impl->free(t.key);
  }
}

/* Delegate a range: a new key with the bytes that it gets without a failure, or an error. */
static void delegations(const struct pprf_impl *impl, pprf_key *key, uint64_t a, uint64_t b)
{
  struct trial t = {.impl = impl, .kind = DELEGATE, .key = key, .a = a, .b = b};
  pprf_key *sub;
  if (impl->delegate(key, a, b, &sub) != PPRF_OK) {
    problems++;
    return;
  }
  uint8_t *file = export(impl, sub, &t.file_len);
  t.file = file;
  every_call(&t, 0);
  every_call(&t, 1);
  free(file);
  impl->free(sub);
}

/* Every kind of operation on keys of a depth, fresh and partly punctured. */
static void states(const struct pprf_impl *impl, unsigned depth)
{
  uint64_t size = (uint64_t)1 << depth, state = depth;
  for (unsigned punctures = 0; punctures < 4; punctures++) {
    for (enum kind kind = 0; kind < SETUP; kind++) {
      if (kind == PREFAULT && depth > 20)
        continue; /* exceeds the memory limit */
      for (unsigned range = 0; range < (kind == RANGE || kind == DELEGATE ? 5 : 1); range++) {
        pprf_key *key = fresh(impl, depth);
        for (unsigned i = 0; i < punctures * punctures; i++)
          (void)impl->punct(key, tap_random(&state) % size);
        uint64_t a = tap_random(&state) % size, b = a;
        uint8_t out[VALUE_MAX];
        while (impl->node_count(key) > 0 && impl->eval(key, a, out) != PPRF_OK)
          a = (a + 1) % size;
        if (impl->node_count(key) == 0) {
          impl->free(key);
          continue;
        }
        if (kind == RANGE || kind == DELEGATE) {
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
        } else if (kind == DELEGATE)
          delegations(impl, key, a, b);
        else
          one(impl, key, kind, a, b);
        impl->free(key);
      }
    }
  }
  for (enum kind kind = SETUP; kind < KINDS; kind++) {
    if ((kind >= SHARED && depth > 20) || (kind == SHARED && impl == &impl_ref))
      continue;
    for (int on = 0; on < 2; on++) {
      struct trial t = {.impl = impl, .kind = kind, .a = depth};
      every_call(&t, on);
    }
  }
}

/* Batches and expansions of more leaves than opt processes at once, and across high nodes:
 * results from before a failure are erased, too. ref calls the PRG more often. */
static void long_batches(const struct pprf_impl *impl, unsigned depth, int full)
{
  static struct many many;
  for (enum kind kind = EVAL_BATCH; kind <= EXPAND; kind++) {
    pprf_key *key = fresh(impl, depth);
    (void)impl->punct(key, 2000);
    (void)impl->punct_range(key, 1500, 1600);
    struct trial t = {.impl = impl, .kind = kind, .key = key, .a = 1000};
    t.many = choose(&many, depth, impl->value_bytes(key), kind, MANY, 1000);
    t.stride = (impl == &impl_ref ? 307 : 29) / (full ? 4 : 1);
    every_call(&t, 0);
    impl->free(key);
  }
}

/* A file of half the maximum number of nodes, and most of such a key, with 16-byte and with 32-byte
 * seeds. */
static void dense_files(const struct pprf_impl *impl)
{
  for (unsigned depth = 10; depth <= 11; depth++) {
    pprf_key *key = fresh(impl, depth);
    for (uint64_t leaf = 0; leaf >> (depth - 1) == 0; leaf += 2)
      (void)impl->punct(key, leaf);
    struct trial t = {.impl = impl, .kind = IMPORT};
    uint8_t *file = export(impl, key, &t.file_len);
    t.file = file;
    for (unsigned kind = 0; kind < 4;
         kind++) { /* bit 0: and all later ones; bit 1: nothing is locked */
      no_lock = kind >> 1;
      every_call(&t, kind & 1);
      if (kind % 2 == 0)
        delegations(impl, key, 1, ((uint64_t)1 << depth) - 3);
    }
    no_lock = 0;
    free(file);
    impl->free(key);
  }
}

/* Whether two keys stay equal through the same punctures, up to the last leaf. Frees both. */
static int puncture_alike(const struct pprf_impl *impl, pprf_key *key, pprf_key *other)
{
  uint64_t state = 1;
  int ok = 1;
  for (int i = 0; i < 200; i++) {
    uint64_t leaf = tap_random(&state) >> 50;
    ok &= impl->punct(key, leaf) == impl->punct(other, leaf);
  }
  ok &= impl->punct_range(key, 0, 9000) == impl->punct_range(other, 0, 9000);
  for (uint64_t leaf = 9001; leaf < 16384; leaf++)
    ok &= impl->punct(key, leaf) == impl->punct(other, leaf);
  size_t len[2];
  uint8_t *bytes[2] = {export(impl, key, &len[0]), export(impl, other, &len[1])};
  ok &= bytes[0] != NULL && bytes[1] != NULL && len[0] == len[1] &&
        memcmp(bytes[0], bytes[1], len[0]) == 0 && impl->node_count(key) == 0;
  free(bytes[0]);
  free(bytes[1]);
  impl->free(key);
  impl->free(other);
  return ok;
}

/* A key whose pages are all backed can be punctured further, even if the system does not know
 * the advice. */
static int prefaulted(const struct pprf_impl *impl)
{
  int ok = 1;
  for (no_populate = 0; no_populate < 2; no_populate++) {
    pprf_key *key = fresh(impl, 14), *other = fresh(impl, 14);
    ok &= (impl == &impl_ref ? ref_pprf_prefault : pprf_prefault)(key) == PPRF_OK;
    ok &= puncture_alike(impl, key, other);
  }
  no_populate = 0;
  return ok;
}

/* A key that could not be locked in memory reports so and otherwise works the same. */
static int not_locked(const struct pprf_impl *impl)
{
  pprf_key *other = fresh(impl, 14);
  no_lock = 1;
  pprf_key *key = fresh(impl, 14);
  /* the arena was locked already */
  int ok = impl == &impl_opt || impl->memory_locked(key) == 0;
  size_t before = impl->memory_bytes(key);
  ok &= impl->punct_range(key, 0, 8191) == PPRF_OK && impl->punct_range(other, 0, 8191) == PPRF_OK;
  ok &= impl == &impl_ref || impl->memory_bytes(key) <= before + 2 * 4096;
  ok &= puncture_alike(impl, key, other);
  no_lock = 0;
  return ok;
}

/* Every step of the worst case, in which the key grows to its maximum, however its memory
 * changes. */
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

/* What each function of the PRG promises itself: after any failure the right error and an output
 * of zeros. Callers wipe their own outputs, which would hide what the PRG leaves. */
static unsigned prg_failures(void)
{
  static const char *const function[] = {"prg_digest", "prg_random", "prg_expand",
                                         "prg_expand, salted", "prg_expand, AES"};
  unsigned bad = 0;
  for (unsigned f = 0; f < 5; f++)
    for (unsigned at = 1;; at++) {
      union {
        uint8_t bytes[DIGEST_BYTES];
        struct pprf_children children;
        struct pprf_seed seed;
      } out;
      size_t size = f == 1 ? sizeof out.seed : DIGEST_BYTES, left = 0;
      int err;
      memset(&out, 0xee, sizeof out);
      memset(&inject, 0, sizeof inject);
      inject.at = at;
      armed = 1;
      if (f == 0)
        err = prg_digest(root, sizeof root, out.bytes);
      else if (f == 1)
        err = prg_random(&out.seed);
      else
        err = (out.children = __real_prg_expand((struct pprf_family){f - 1, f, f},
                                                (struct pprf_seed){1, 2}, 0, 1))
                .err;
      armed = 0;
      for (size_t i = 0; i < size; i++) /* the children are the first member */
        left += out.bytes[i] != 0;
      injected += inject.hits > 0;
      int wrong = err != inject.want || (inject.hits > 0) != (err != PPRF_OK);
      if (wrong || (left == 0) != (err != PPRF_OK)) {
        tap_note("%s, call %u (%s): %s, %zu bytes are not zero", function[f], at, inject.first,
                 result_name(err), left);
        bad++;
      }
      if (inject.hits == 0)
        break;
    }
  return bad;
}

/* All blocks and mappings of a key are released when it is freed. */
static int balanced(const struct pprf_impl *impl)
{
  uint8_t file[2000];
  /* from then on the process keeps a page (prg/common/fork.c) and an arena */
  pprf_key *first = NULL;
  for (unsigned depth = 1; depth <= 33; depth += 32) {
    if (impl->setup(&first, depth, root) != PPRF_OK)
      problems++;
    impl->free(first);
  }
  long was_live = live;
  memset(&inject, 0, sizeof inject);
  armed = 1;
  for (unsigned depth = 1; depth <= 63; depth += depth == 1 ? 4 : 9) {
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

__attribute__((noreturn)) static void leave(int status)
{
  armed = 0;
  _exit(status);
}

/* What happens once per process: fetching the digest and making the thread key. */
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
      int hits = inject.hits;
      armed = 0; /* fetched objects are kept, missing ones are requested again */
      bad |= impl->setup(&key, 5, root) != PPRF_OK || impl->eval(key, 7, out) != PPRF_OK;
      impl->free(key);
      leave(hits == 0 ? 3 : bad);
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
    leave(inject.hits == 0 ? 3 : !failed ? 2 : bad);
  }
  return child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)
           ? 1
           : WEXITSTATUS(status);
}

/* Run a test in a child that has made no key; 1 if it passes there. */
static int in_a_child(int (*test)(const struct pprf_impl *, unsigned, uint8_t *, size_t *),
                      const struct pprf_impl *impl, unsigned depth, uint8_t *file, size_t *len)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    leave(!test(impl, depth, file, len));
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* A process's first key is not made if keys could not be exported, and is made once they can.
 * Returns its file. */
static int set_up_first(const struct pprf_impl *impl, unsigned depth, uint8_t *file, size_t *len)
{
  pprf_key *key = (pprf_key *)(uintptr_t)16;
  no_digest = 1;
  int ok = impl->setup(&key, depth, root) == PPRF_ERR_CRYPTO && key == NULL;
  no_digest = 0;
  errno = ERANGE; /* libraries do not reset it to 0 */
  ok &= impl->setup(&key, depth, root) == PPRF_OK && errno != 0 &&
        impl->export_key(key, file, len) == PPRF_OK;
  impl->free(key);
  return ok;
}

/* The same for an imported key. */
static int import_first(const struct pprf_impl *impl, unsigned depth, uint8_t *file, size_t *len)
{
  pprf_key *key = (pprf_key *)(uintptr_t)16;
  no_digest = 1;
  int ok = impl->import_key(&key, file, *len) == PPRF_ERR_CRYPTO && key == NULL;
  no_digest = 0;
  ok &= impl->import_key(&key, file, *len) == PPRF_OK && impl->depth(key) == depth;
  impl->free(key);
  return ok;
}

static int without_digest(const struct pprf_impl *impl, unsigned depth)
{
  enum { ROOM = 4096 }; /* the children write to it */
  void *shared = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 0;
  size_t *len = shared;
  *len = ROOM - sizeof *len;
  int ok = in_a_child(set_up_first, impl, depth, (uint8_t *)(len + 1), len) &&
           in_a_child(import_first, impl, depth, (uint8_t *)(len + 1), len);
  (void)munmap(shared, ROOM);
  return ok;
}

int main(int argc, char **argv)
{
  int full = tap_full(argc, argv);
  static const unsigned depths[] = {1, 2, 3, 5, 9, 11, 13, 20, 32, 33, 63, 59};
  batch_leaves = full ? 12 : 4;
  /* Run before this process itself uses the digest. */
  for (int i = 0; i < STORES; i++) {
    unsigned at = 1, bad = 0, result;
    for (; (result = (unsigned)first_use(stores[i], at)) != 3 && at < 100; at++) {
      injected++;
      if (result != 0) {
        tap_note("%s: first use, from call %u on: %s", stores[i]->name, at,
                 result == 2 ? "no failure" : "wrong");
        bad++;
      }
    }
    tap_ok(bad == 0 && at > 4, "%s_reports_a_missing_digest", stores[i]->name);
    tap_ok(without_digest(stores[i], 5) &&
             (stores[i] == &impl_ref || without_digest(stores[i], 40)),
           "%s_makes_no_first_key_without_a_digest", stores[i]->name);
  }
  fill_spare();
  for (int i = 0; i < STORES; i++) {
    tap_ok(balanced(stores[i]), "%s_free_gives_everything_back", stores[i]->name);
    /* each takes three times as long with a sanitizer */
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d += 1 + (SANITIZED && !full)) {
      problems = 0;
      states(stores[i], depths[d]);
      tap_ok(problems == 0, "%s_key_is_as_it_was_after_any_failure_at_depth_%u", stores[i]->name,
             depths[d]);
      tap_progress("failures, depth", depths[d], 64);
    }
    problems = 0;
    long_batches(stores[i], 12, full);
    long_batches(stores[i], 11, full);
    tap_ok(problems == 0, "%s_batches_fail_whole_after_many_leaves", stores[i]->name);
    problems = 0;
    dense_files(stores[i]);
    tap_ok(problems == 0, "%s_file_of_many_nodes_is_read_or_leaves_nothing", stores[i]->name);
    tap_ok(prefaulted(stores[i]), "%s_prefaulted_keys_puncture_alike", stores[i]->name);
    tap_ok(not_locked(stores[i]), "%s_keys_that_cannot_be_locked_puncture_alike", stores[i]->name);
    for (enum kind kind = PUNCT; kind <= RANGE; kind++) {
      problems = 0;
      growth(stores[i], full ? 10 : 7, kind);
      tap_ok(problems == 0, "%s_%s_fails_whole_while_the_key_grows", stores[i]->name,
             kind_name[kind]);
    }
  }
  tap_ok(prg_failures() == 0, "the_prg_gives_zeros_and_the_right_error");
  tap_ok(all_failed(), "every_call_that_can_fail_was_made_to_fail");
  /* A test of this test: an implementation that loses its error is noticed. */
  problems = 0;
  quiet = 1;
  struct trial t = {.impl = impls[0], .kind = EVAL, .err = PPRF_OK};
  memset(&inject, 0, sizeof inject);
  inject.want = PPRF_ERR_CRYPTO;
  memset(t.out, 0xee, 16);
  check_failed(&t, NULL, 0, live + 1);
  tap_ok(problems == 3, "a_lost_error_an_output_and_a_leak_are_noticed");
  static struct many left = {.n = 3, .bytes = 16};
  t = (struct trial){.impl = impls[0], .kind = EVAL_BATCH, .many = &left, .err = PPRF_ERR_CRYPTO};
  memset(left.out + 2 * left.bytes, 0xee, left.bytes);
  left.result[0] = left.result[2] = PPRF_ERR_CRYPTO;
  problems = 0;
  check_failed(&t, NULL, 0, live);
  tap_ok(problems == 2, "a_result_and_a_value_that_a_failed_batch_leaves_are_noticed");
  tap_note("%llu failures injected, of which %llu in calls that may fail",
           (unsigned long long)injected, (unsigned long long)ignored);
  return tap_end();
}
