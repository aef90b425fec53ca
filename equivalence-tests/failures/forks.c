/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and fork. A copy of a key in a child returns PPRF_ERR_FORKED from every function and can
 * be freed. New keys work in children and grandchildren, whatever locks the parent's other
 * threads hold. Shared keys, keys moved by export, and children that share the memory (vfork)
 * continue to work. All this is tested with the page that the kernel clears, and with
 * pthread_atfork on kernels without it: madvise is wrapped. Functions that allocate and free
 * memory are wrapped, too, to fork there. */
#include <errno.h>
#include <malloc.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../opt/key.h"
#include "impls.h"
#include "../../tools/tap.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const uint8_t root[16] = {9, 8, 7};

/* ref's function, renamed */
int ref_pprf_setup_with(pprf_key **key, const struct pprf_options *options);
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);
int ref_pprf_prefault(pprf_key *key);

static const struct more {
  int (*setup_with)(pprf_key **, const struct pprf_options *);
  int (*eval_batch)(const pprf_key *, const uint64_t *, size_t, uint8_t *, int *);
  int (*punct_batch)(pprf_key *, const uint64_t *, size_t, int *);
  int (*expand)(const pprf_key *, uint64_t, uint64_t, pprf_each *, void *);
  int (*prefault)(pprf_key *);
} more[STORES] = {{ref_pprf_setup_with, ref_pprf_eval_batch, ref_pprf_punct_batch, ref_pprf_expand,
                   ref_pprf_prefault},
                  {pprf_setup_with, pprf_eval_batch, pprf_punct_batch, pprf_expand, pprf_prefault},
                  {pprf_setup_with, pprf_eval_batch, pprf_punct_batch, pprf_expand, pprf_prefault}};

static int old_kernel; /* act as a kernel without MADV_WIPEONFORK */
static int advices;    /* number of calls of madvise */

static void fork_now(void);

int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
  fork_now();
  advices++;
  if (advice != MADV_WIPEONFORK || !old_kernel)
    return __real_madvise(at, bytes, advice);
  errno = EINVAL;
  return -1;
}

/* Whether f returns 1 in a child; 0 if it hangs. On a slow machine the child has ten minutes. */
static int in_child(int (*f)(int impl, void *arg), int impl, void *arg)
{
  int status;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    (void)signal(SIGALRM, SIG_DFL);
    alarm(600);
    _exit(f(impl, arg) ? 0 : 1);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int each_called(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  (void)n;
  (void)values;
  ++*(int *)arg;
  return 0;
}

static int zeros(const uint8_t *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (p[i] != 0)
      return 0;
  return 1;
}

/* Every function with a result refuses a copy, and reveals nothing. */
static int is_copy(int i, void *arg)
{
  pprf_key *key = arg;
  const struct pprf_impl *impl = stores[i];
  const uint64_t leaf[2] = {1, 2};
  uint8_t out[32], file[100];
  size_t len = sizeof file;
  int result[2] = {77, 77}, calls = 0;
  memset(out, 0xee, 32);
  memset(file, 0xee, sizeof file);
  int ok = impl->eval(key, 1, out) == PPRF_ERR_FORKED && zeros(out, 16);
  ok &= impl->eval(key, UINT64_MAX, out) == PPRF_ERR_FORKED; /* other errors are not reported */
  ok &= impl->punct(key, 1) == PPRF_ERR_FORKED;
  memset(out, 0xee, 32);
  ok &= impl->eval_punct(key, 1, out) == PPRF_ERR_FORKED && zeros(out, 16);
  ok &= impl->punct_range(key, 1, 2) == PPRF_ERR_FORKED;
  pprf_key *sub = key;
  ok &= impl->delegate(key, 1, 2, &sub) == PPRF_ERR_FORKED && sub == NULL;
  memset(out, 0xee, 32);
  ok &= more[i].eval_batch(key, leaf, 2, out, result) == PPRF_ERR_FORKED && zeros(out, 32) &&
        result[0] == PPRF_ERR_FORKED && result[1] == PPRF_ERR_FORKED;
  result[0] = result[1] = 77;
  ok &= more[i].punct_batch(key, leaf, 2, result) == PPRF_ERR_FORKED &&
        result[0] == PPRF_ERR_FORKED && result[1] == PPRF_ERR_FORKED;
  ok &= more[i].punct_batch(key, NULL, 0, NULL) == PPRF_ERR_FORKED;
  ok &= more[i].expand(key, 0, 1, each_called, &calls) == PPRF_ERR_FORKED && calls == 0;
  ok &= more[i].prefault(key) == PPRF_ERR_FORKED;
  ok &= impl->export_key(key, file, &len) == PPRF_ERR_FORKED && file[0] == 0xee;
  ok &= impl->export_key(key, NULL, &len) == PPRF_ERR_FORKED;
  ok &= impl->node_count(key) == 0 && impl->memory_bytes(key) == 0 && impl->depth(key) == 0 &&
        impl->suite(key) == 0 && impl->memory_locked(key) == 0;
  ok &= impl->eval(key, 1, NULL) == PPRF_ERR_NULL;
  return ok;
}

/* A new key works: it is made, used, exported, imported, freed. */
static int works(int i)
{
  const struct pprf_impl *impl = stores[i];
  pprf_key *key, *drawn, *copy;
  uint8_t out[16], file[400];
  size_t len = sizeof file;
  int ok = impl->setup(&key, 9, root) == PPRF_OK && impl->setup(&drawn, 9, NULL) == PPRF_OK;
  ok = ok && impl->eval_punct(key, 5, out) == PPRF_OK &&
       impl->eval(key, 5, out) == PPRF_ERR_PUNCTURED && impl->eval(drawn, 5, out) == PPRF_OK;
  ok = ok && impl->export_key(key, file, &len) == PPRF_OK &&
       impl->import_key(&copy, file, len) == PPRF_OK;
  pprf_key *sub = NULL;
  ok = ok && impl->delegate(key, 5, 6, &sub) == PPRF_OK && impl->eval(sub, 6, out) == PPRF_OK &&
       impl->eval(sub, 7, out) == PPRF_ERR_PUNCTURED;
  if (!ok)
    return 0;
  impl->free(sub);
  ok = impl->eval(copy, 6, out) == PPRF_OK && impl->node_count(copy) == 9;
  impl->free(copy);
  impl->free(drawn);
  impl->free(key);
  return ok;
}

struct two {
  pprf_key *outer, *inner;
};

static int grandchild(int i, void *arg)
{
  struct two *t = arg;
  int ok = is_copy(i, t->outer) && is_copy(i, t->inner) && works(i);
  ok &= is_copy(i, t->outer) && is_copy(i, t->inner); /* this process now has its own number */
  stores[i]->free(t->inner);
  stores[i]->free(t->outer);
  return ok && works(i);
}

static int child(int i, void *arg)
{
  struct two t = {arg, NULL};
  uint8_t out[16];
  int ok = is_copy(i, t.outer) && stores[i]->setup(&t.inner, 9, root) == PPRF_OK;
  ok = ok && is_copy(i, t.outer) && stores[i]->eval(t.inner, 1, out) == PPRF_OK;
  ok = ok && in_child(grandchild, i, &t);
  ok = ok && stores[i]->eval(t.inner, 1, out) == PPRF_OK;
  stores[i]->free(t.outer);
  ok = ok && stores[i]->punct(t.inner, 1) == PPRF_OK;
  stores[i]->free(t.inner);
  return ok && works(i);
}

static int tree_of_processes(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  pprf_key *key;
  uint8_t out[16];
  (void)arg;
  int ok = impl->setup(&key, 9, root) == PPRF_OK && impl->punct(key, 3) == PPRF_OK;
  for (int n = 0; n < 3; n++) /* siblings may get the same process number */
    ok = ok && in_child(child, i, key);
  ok = ok && impl->eval_punct(key, 1, out) == PPRF_OK && impl->punct(key, 3) == PPRF_ERR_PUNCTURED;
  impl->free(key);
  return ok && works(i);
}

/* A process that has made no key forks, and the child makes the first. */
static int makes_the_first(int i, void *arg)
{
  return works(i) && tree_of_processes(i, arg);
}

static int first_key_in_a_child(int i, void *arg)
{
  return in_child(makes_the_first, i, arg) && in_child(makes_the_first, i, arg) && works(i);
}

/* ---- sharing and moving */

static int punctures_shared(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  uint64_t leaf[100];
  uint8_t out[16];
  int ok = impl->depth(arg) == 12 && impl->eval_punct(arg, 5, out) == PPRF_OK &&
           impl->eval(arg, 5, out) == PPRF_ERR_PUNCTURED;
  for (unsigned k = 0; k < 100; k++)
    leaf[k] = 1000 + 2 * k;
  ok = ok && more[i].punct_batch(arg, leaf, 100, NULL) == PPRF_OK;
  for (uint64_t x = 2001; ok && x < 4096; x += 2) /* the key grows here, and so in the parent */
    ok = impl->punct(arg, x) == PPRF_OK;
  impl->free(arg); /* frees it only in this process */
  return ok;
}

static int punctures_below(int i, void *arg)
{
  return in_child(punctures_shared, i, arg) &&
         stores[i]->eval(arg, 5, (uint8_t[16]){0}) == PPRF_ERR_PUNCTURED;
}

static int shared(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  struct pprf_options o = {.size = sizeof o, .seed = root, .depth = 12, .flags = PPRF_SHARED};
  static uint8_t a[100000], b[100000];
  size_t len[2] = {sizeof a, sizeof b};
  uint8_t out[2][16];
  pprf_key *key, *alone;
  (void)arg;
  if (more[i].setup_with(&key, &o) != PPRF_OK || impl->setup(&alone, 12, root) != PPRF_OK)
    return 0;
  int ok = impl->eval(key, 7, out[0]) == PPRF_OK && impl->eval(alone, 7, out[1]) == PPRF_OK &&
           memcmp(out[0], out[1], 16) == 0 && impl->memory_bytes(key) > 0;
  ok = ok && in_child(punctures_below, i, key);
  uint64_t leaf[100];
  for (unsigned k = 0; k < 100; k++)
    leaf[k] = 1000 + 2 * k;
  ok = ok && impl->punct(alone, 5) == PPRF_OK &&
       more[i].punct_batch(alone, leaf, 100, NULL) == PPRF_OK;
  for (uint64_t x = 2001; ok && x < 4096; x += 2)
    ok = impl->punct(alone, x) == PPRF_OK;
  ok = ok && impl->export_key(key, a, &len[0]) == PPRF_OK &&
       impl->export_key(alone, b, &len[1]) == PPRF_OK && len[0] == len[1] &&
       memcmp(a, b, len[0]) == 0;
  ok = ok && impl->punct_range(key, 0, 4095) == PPRF_OK && impl->node_count(key) == 0;
  impl->free(key);
  impl->free(alone);
  o.seed = NULL;
  ok = ok && more[i].setup_with(&key, &o) == PPRF_OK && impl->eval(key, 7, out[1]) == PPRF_OK &&
       memcmp(out[0], out[1], 16) != 0 && impl->punct(key, 7) == PPRF_OK;
  impl->free(key);
  for (o.depth = 1; ok && o.depth <= 32; o.depth++) {
    ok = more[i].setup_with(&key, &o) == PPRF_OK && impl->punct(key, 1) == PPRF_OK &&
         impl->node_count(key) == o.depth;
    impl->free(key);
  }
  return ok;
}

static int moved_here(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  struct {
    size_t len;
    uint8_t file[400];
  } *moved = arg;
  pprf_key *key;
  uint8_t out[16];
  int ok = impl->import_key(&key, moved->file, moved->len) == PPRF_OK;
  explicit_bzero(moved->file, moved->len);
  ok =
    ok && impl->eval(key, 3, out) == PPRF_ERR_PUNCTURED && impl->eval_punct(key, 4, out) == PPRF_OK;
  if (ok)
    impl->free(key);
  return ok;
}

static int moved(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  struct {
    size_t len;
    uint8_t file[400];
  } moved = {.len = sizeof moved.file};
  pprf_key *key;
  (void)arg;
  int ok = impl->setup(&key, 9, root) == PPRF_OK && impl->punct(key, 3) == PPRF_OK &&
           impl->export_key(key, moved.file, &moved.len) == PPRF_OK;
  impl->free(key);
  return ok && in_child(moved_here, i, &moved);
}

static int options(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  struct {
    struct pprf_options o;
    uint8_t later[24];
  } x = {.o = {.size = sizeof x, .seed = root, .depth = 9}};
  pprf_key *key;
  uint8_t file[2][100];
  size_t len[2] = {100, 100};
  (void)arg;
  int ok = more[i].setup_with(NULL, &x.o) == PPRF_ERR_NULL;
  key = (pprf_key *)(uintptr_t)16;
  ok &= more[i].setup_with(&key, NULL) == PPRF_ERR_NULL && key == NULL;
  for (size_t at = 0; at < sizeof x.later; at++) { /* a member from a later version */
    x.later[at] = 1;
    key = (pprf_key *)(uintptr_t)16;
    ok &= more[i].setup_with(&key, &x.o) == PPRF_ERR_RANGE && key == NULL;
    x.later[at] = 0;
  }
  for (x.o.size = 0; x.o.size < sizeof x.o; x.o.size++)
    if (x.o.size != offsetof(struct pprf_options, store)) /* the size in version 0.2.0 */
      ok &= more[i].setup_with(&key, &x.o) == PPRF_ERR_RANGE;
  x.o.size = sizeof x;
  for (unsigned bit = 0; bit < 32; bit++) {
    x.o.store = (1u << bit) + (bit < 2);
    ok &= x.o.store <= PPRF_STORE_PACKED || more[i].setup_with(&key, &x.o) == PPRF_ERR_RANGE;
  }
  x.o.store = PPRF_STORE_PACKED;
  x.o.flags = PPRF_SHARED;
  ok &= more[i].setup_with(&key, &x.o) == PPRF_ERR_RANGE;
  x.o.store = PPRF_STORE_DEFAULT;
  for (unsigned bit = 1; bit < 32; bit++) {
    x.o.flags = 1u << bit;
    ok &= more[i].setup_with(&key, &x.o) == PPRF_ERR_RANGE;
  }
  x.o.flags = 0;
  for (x.o.depth = 64; x.o.depth != 9; x.o.depth = x.o.depth == 64 ? 0 : 9)
    ok &= more[i].setup_with(&key, &x.o) == PPRF_ERR_RANGE && key == NULL;
  const size_t sizes[] = {offsetof(struct pprf_options, store), sizeof x.o, sizeof x};
  for (unsigned k = 0; k < 9; k++) {
    pprf_key *plain;
    x.o.size = sizes[k / 3];
    x.o.store = k < 3 ? 99 : k % 3; /* 99: a value that is ignored */
    if (more[i].setup_with(&key, &x.o) != PPRF_OK || impl->setup(&plain, 9, root) != PPRF_OK)
      return 0;
    ok &= impl->export_key(key, file[0], &len[0]) == PPRF_OK &&
          impl->export_key(plain, file[1], &len[1]) == PPRF_OK && len[0] == len[1] &&
          memcmp(file[0], file[1], len[0]) == 0 && in_child(is_copy, i, key);
    impl->free(key);
    impl->free(plain);
  }
  return ok;
}

/* ---- a process that shares the memory has no copy */

struct use {
  const struct pprf_impl *impl;
  pprf_key *key;
  int ok;
};

static int use(void *arg)
{
  struct use *u = arg;
  uint8_t out[16];
  u->ok = u->impl->eval(u->key, 8, out) == PPRF_OK && u->impl->punct(u->key, 8) == PPRF_OK;
  return 0;
}

/* Run f in a child that shares the memory, as one of vfork does. */
static int beside(int (*f)(void *), void *arg)
{
  static char stack[1 << 18] __attribute__((aligned(64)));
  int status;
  pid_t pid = clone(f, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, arg);
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int same_memory(int i, void *arg)
{
  struct use u = {stores[i], NULL, 0};
  (void)arg;
  if (stores[i]->setup(&u.key, 9, root) != PPRF_OK)
    return 0;
  int ok = beside(use, &u) && u.ok && stores[i]->punct(u.key, 8) == PPRF_ERR_PUNCTURED &&
           stores[i]->punct(u.key, 9) == PPRF_OK;
  stores[i]->free(u.key);
  return ok;
}

/* ---- forks while other threads work */

static _Atomic int stop;

static void *makes_keys(void *arg)
{
  const struct pprf_impl *impl = arg;
  uint8_t out[16];
  for (unsigned n = 0; !atomic_load(&stop); n++) {
    pprf_key *key;
    if (impl->setup(&key, 7, n % 2 ? root : NULL) != PPRF_OK)
      continue;
    (void)impl->eval_punct(key, n % 128, out);
    impl->free(key);
    if (n % 4 == 3)
      break; /* threads start and end: each has its own digest and generator */
  }
  return NULL;
}

static void *threads(void *arg)
{
  while (!atomic_load(&stop)) {
    pthread_t t[3];
    for (int k = 0; k < 3; k++)
      if (pthread_create(&t[k], NULL, makes_keys, arg) != 0)
        abort();
    for (int k = 0; k < 3; k++)
      (void)pthread_join(t[k], NULL);
  }
  return NULL;
}

static int copy_and_own(int i, void *arg)
{
  int ok = is_copy(i, arg);
  stores[i]->free(arg);
  return ok && works(i);
}

static int amid_threads(int i, void *arg)
{
  pthread_t t;
  pprf_key *key;
  uint8_t out[16];
  (void)arg;
  atomic_store(&stop, 0);
  if (pthread_create(&t, NULL, threads, (void *)(uintptr_t)stores[i]) != 0 ||
      stores[i]->setup(&key, 9, root) != PPRF_OK)
    return 0;
  int ok = 1;
  for (int n = 0; n < 150 && ok; n++)
    ok = in_child(copy_and_own, i, key) && stores[i]->eval(key, (uint64_t)n, out) == PPRF_OK;
  atomic_store(&stop, 1);
  (void)pthread_join(t, NULL);
  stores[i]->free(key);
  return ok;
}

/* ---- forks at each call for memory, in the middle of a change */

static struct {
  pprf_key *key; /* the key being changed; NULL: no fork */
  int impl, forks, ok;
  uint8_t *taken; /* a page that was just unmapped, where another thread has mapped memory since */
} amid;

static int copy_and_own_beside_another(int i, void *arg)
{
  unsigned char resident;
  return copy_and_own(i, arg) &&
         (amid.taken == NULL || (mincore(amid.taken, 1, &resident) == 0 && *amid.taken == 7));
}

/* Fork; to the child the change looks like another thread's. */
static void fork_now(void)
{
  pprf_key *key = amid.key;
  if (key == NULL)
    return;
  amid.key = NULL;
  amid.ok &= in_child(copy_and_own_beside_another, amid.impl, key);
  amid.forks++;
  amid.key = key;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
  fork_now();
  return __real_malloc(bytes);
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
  fork_now();
  return __real_calloc(n, bytes);
}

void __real_free(void *block);
void __wrap_free(void *block);
void __wrap_free(void *block)
{
  __real_free(block);
  fork_now();
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes)
{
  int result = __real_munmap(at, bytes);
  if (amid.key == NULL || result != 0)
    return result;
  void *other = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (other == at)
    *(amid.taken = other) = 7;
  fork_now();
  amid.taken = NULL;
  (void)__real_munmap(other, 4096);
  return result;
}

static int amid_changes(int i, void *arg)
{
  enum { MANY = 1 << 17 }; /* punctures that take more memory than is kept for the next key */
  const struct pprf_impl *impl = stores[i];
  pprf_key *key, *other;
  static uint64_t leaf[MANY];
  int err = PPRF_OK, calls = 0;
  (void)arg;
  for (unsigned k = 0; k < MANY; k++)
    leaf[k] = 2 * k;
  if (impl->setup(&key, 12, root) != PPRF_OK || impl->setup(&other, 18, root) != PPRF_OK)
    return 0;
  if (impl != &impl_ref)
    err |= more[i].punct_batch(other, leaf, MANY, NULL);
  for (unsigned k = 0; k < 200; k++)
    leaf[k] = 5 + 19 * k;
  for (unsigned k = 0; k < 300; k++) /* enough for several pages */
    (void)impl->punct(key, k * 2027 % 4096);
  amid.impl = i;
  amid.ok = 1;
  amid.key = key;
  impl->free(other);
  for (unsigned k = 300; k < 600; k++)
    (void)impl->punct(key, k * 2027 % 4096);
  err |= more[i].punct_batch(key, leaf, 200, NULL);
  err |= impl->punct_range(key, 1000, 3000);
  err |= more[i].expand(key, 0, 4095, each_called, &calls);
  err |= impl->setup(&other, 12, NULL);
  err |= impl->punct_range(other, 7, 4000);
  impl->free(other);
  err |= impl->delegate(key, 4, 999, &other);
  impl->free(other);
  err |= more[i].prefault(key);
  err |= impl->punct_range(key, 3001, 4095);
  err |= impl->punct_range(key, 0, 999);
  amid.key = NULL;
  impl->free(key);
  return err == PPRF_OK && amid.ok && amid.forks >= 10;
}

/* ---- a fork while another thread fetches from libcrypto for the first time */

static _Atomic enum { NOT_ASKED, ASKED, FETCHING, FORKING, FORKED } fetch;

/* Whether the main thread sleeps: when it forks, it waits for a lock. */
static int main_thread_sleeps(void)
{
  char path[64], line[200] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
  FILE *f = fopen(path, "r");
  const char *state = f == NULL || fgets(line, sizeof line, f) == NULL ? NULL : strrchr(line, ')');
  if (f != NULL)
    fclose(f);
  return state != NULL && state[1] == ' ' && state[2] == 'S';
}

EVP_MD *__real_EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *properties);
EVP_MD *__wrap_EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *properties);
EVP_MD *__wrap_EVP_MD_fetch(OSSL_LIB_CTX *ctx, const char *name, const char *properties)
{
  if (atomic_load(&fetch) == ASKED) {
    atomic_store(&fetch, FETCHING);
    while (atomic_load(&fetch) < FORKED &&
           !(atomic_load(&fetch) == FORKING && main_thread_sleeps()))
      (void)sched_yield();
    amid.ok = atomic_load(&fetch) < FORKED;
  }
  return __real_EVP_MD_fetch(ctx, name, properties);
}

static void *fetches(void *arg)
{
  return works(*(int *)arg) ? arg : NULL;
}

static int amid_fetch(int i, void *arg)
{
  pthread_t t;
  int status;
  void *worked;
  (void)arg;
  atomic_store(&fetch, ASKED);
  if (pthread_create(&t, NULL, fetches, &i) != 0)
    return 0;
  while (atomic_load(&fetch) == ASKED)
    (void)sched_yield();
  atomic_store(&fetch, FORKING);
  pid_t child = fork();
  atomic_store(&fetch, FORKED);
  if (child == 0)
    _exit(works(i) ? 0 : 1);
  (void)pthread_join(t, &worked);
  if (child > 0 && !amid.ok)
    (void)kill(child, SIGKILL); /* it would wait for ever */
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && worked != NULL &&
         amid.ok;
}

/* ---- heap memory of a copy */

static size_t heap_bytes(void)
{
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

static size_t heap_before; /* heap bytes before the key was made */

/* All that is mapped, in bytes. */
static size_t mapped_bytes(void)
{
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%lu", &pages) != 1)
    pages = 0;
  if (f != NULL)
    fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

enum { MEGABYTE = 1 << 20 };                /* the packed store maps that much at a time */
static size_t mapped_before, mapped_may_be; /* before the first key; at most, after a copy */

static int copy_goes(int i, void *key)
{
  stores[i]->free(key);
  return heap_bytes() <= heap_before + 1024 && mapped_bytes() < mapped_may_be;
}

/* The child keeps a mapping for its next key, and none of the parent's. */
static int copy_goes_after_an_own_key(int i, void *key)
{
  pprf_key *own;
  int ok = stores[i]->setup(&own, 7, root) == PPRF_OK && stores[i]->punct(own, 5) == PPRF_OK;
  if (ok)
    stores[i]->free(own);
  stores[i]->free(key);
  return ok && mapped_bytes() < mapped_before + 3 * MEGABYTE / 2;
}

/* A key of many nodes is freed completely; it is made twice, since the first one allocates
 * memory that stays.  At depth 14 the library chooses pair slots for it. */
static int copies_go_whole(int i, void *arg)
{
  const struct pprf_impl *impl = stores[i];
  pprf_key *key;
  int ok = works(0); /* libcrypto is loaded */
  (void)arg;
  mapped_before = mapped_bytes();
  for (unsigned depth = 14; depth <= 33 && ok; depth += 19) {
    for (int round = 0; round < 2; round++) {
      heap_before = heap_bytes();
      if (impl->setup(&key, depth, root) != PPRF_OK)
        return 0;
      for (uint64_t k = 0; k < 500; k++)
        (void)impl->punct(key, k * UINT64_C(0x9e3779b97f4a7c15) >> (64 - depth));
      if (round == 0)
        impl->free(key);
    }
    /* slots know nothing of the mapping that the key had before: it stays until the child has a packed key */
    mapped_may_be = mapped_before + (impl == &impl_opt && depth == 14 ? 3 : 1) * MEGABYTE / 2;
    ok = (depth == 14 || heap_bytes() > heap_before + 1024) && in_child(copy_goes, i, key) &&
         in_child(copy_goes_after_an_own_key, i, key);
    impl->free(key);
    ok = ok && heap_bytes() <= heap_before + 1024;
  }
  return ok;
}

/* ---- random keys */

static pid_t said_id; /* process id that this program and libcrypto see; 0: the real one */
static pid_t loader;  /* the id of the process that loaded the library */

__attribute__((visibility("default"))) pid_t getpid(void)
{
  return said_id != 0 ? said_id : (pid_t)syscall(SYS_getpid);
}

/* The first value of a new random key. */
static int random_value(int i, uint8_t out[16])
{
  pprf_key *key;
  int ok = stores[i]->setup(&key, 8, NULL) == PPRF_OK && stores[i]->eval(key, 0, out) == PPRF_OK;
  stores[i]->free(key);
  return ok;
}

static int send_random_value(int i, void *arg)
{
  uint8_t out[16];
  return random_value(i, out) && write(*(int *)arg, out, 16) == 16;
}

/* Process ids are reused, and a namespace has its own: libcrypto's generator would give a child
 * with its ancestor's id the ancestor's output. */
static int random_keys(int i, void *arg)
{
  uint8_t first[16], childs[16], next[16];
  int ends[2];
  (void)arg;
  said_id = loader;
  int ok = pipe(ends) == 0 && random_value(i, first) && in_child(send_random_value, i, &ends[1]) &&
           read(ends[0], childs, 16) == 16 && random_value(i, next);
  said_id = 0;
  return ok && memcmp(first, childs, 16) != 0 && memcmp(childs, next, 16) != 0 &&
         memcmp(first, next, 16) != 0;
}

static pid_t drew; /* the process that called libcrypto's generator last */

int __real_RAND_priv_bytes(unsigned char *out, int n);
int __wrap_RAND_priv_bytes(unsigned char *out, int n);
int __wrap_RAND_priv_bytes(unsigned char *out, int n)
{
  drew = (pid_t)syscall(SYS_getpid);
  return __real_RAND_priv_bytes(out, n);
}

static int draw_beside(void *arg)
{
  uint8_t out[16];
  *(int *)arg = random_value(1, out);
  return 0;
}

/* A child that shares the memory may be killed while it holds the lock of libcrypto's generator, for
 * which the parent then waits.  Only the process that loaded the library uses that generator. */
static int drawn_by_loader(void)
{
  uint8_t out[16];
  int drawn = 0, own = random_value(1, out) && drew == loader;
  drew = 0;
  return own && beside(draw_beside, &drawn) && drawn && drew == 0;
}

/* ---- threads that end */

struct at_end {
  pthread_key_t key;
  int impl, exports; /* number of exports */
};

static int exports(int i)
{
  uint8_t file[100];
  size_t len = sizeof file;
  pprf_key *key;
  int ok =
    stores[i]->setup(&key, 8, root) == PPRF_OK && stores[i]->export_key(key, file, &len) == PPRF_OK;
  stores[i]->free(key);
  return ok;
}

static void export_at_end(void *arg)
{
  struct at_end *a = arg;
  a->exports += exports(a->impl);
}

static void *use_and_end(void *arg)
{
  struct at_end *a = arg;
  a->exports += exports(a->impl) && pthread_setspecific(a->key, a) == 0;
  return NULL;
}

/* A thread destructor of the program uses the library after the library's own destructor. */
static int destructors(int i, void *arg)
{
  struct at_end a = {.impl = i};
  pthread_t thread;
  (void)arg;
  return exports(i) /* makes the library's destructor */ &&
         pthread_key_create(&a.key, export_at_end) == 0 &&
         pthread_create(&thread, NULL, use_and_end, &a) == 0 && pthread_join(thread, NULL) == 0 &&
         a.exports == 2 && exports(i);
}

static void *outlive(void *arg)
{
  (void)usleep(20000); /* the main thread has ended */
  if (!exports(*(int *)arg))
    _exit(1);
  return NULL;
}

/* The last thread to end is not the main thread: it calls exit after its destructors have run. */
static int last_thread(int i, void *arg)
{
  static int impl;
  pthread_t thread;
  (void)arg;
  impl = i;
  if (!exports(i) || pthread_create(&thread, NULL, outlive, &impl) != 0)
    return 0;
  pthread_exit(NULL);
}

/* ---- locks */

static int says_unlocked(int i, void *arg)
{
  (void)i;
  return pprf_memory_locked(arg) == 0;
}

/* Memory locks are not inherited. */
static int locks(int i, void *arg)
{
  const struct pprf_options o = {.size = sizeof o, .seed = root, .depth = 8, .flags = PPRF_SHARED};
  static _Alignas(4096) uint8_t page[4096];
  pprf_key *key;
  int can = mlock(page, sizeof page) == 0; /* the limit may be 0 */
  (void)arg;
  if (stores[i] != &impl_slots)
    return 1; /* the only store that can be shared */
  int ok = pprf_setup_with(&key, &o) == PPRF_OK && pprf_memory_locked(key) == can &&
           in_child(says_unlocked, i, key) && pprf_memory_locked(key) == can;
  pprf_free(key);
  return ok;
}

/* ---- the seeds themselves */

static int has_no_seed(int i, void *arg)
{
  const struct pprf_key *key = arg;
  uint64_t any = 0;
  (void)i;
  for (unsigned k = 0; k < 256; k++)
    any |= key->store.slots.slot[k].lo | key->store.slots.slot[k].hi;
  return any == 0;
}

static int no_seeds(int i, void *arg)
{
  pprf_key *key;
  (void)arg;
  if (stores[i] != &impl_slots || stores[i]->setup(&key, 9, root) != PPRF_OK ||
      stores[i]->punct(key, 3) != PPRF_OK || has_no_seed(i, key))
    return 0;
  int ok = in_child(has_no_seed, i, key);
  stores[i]->free(key);
  return ok;
}

/* ---- a callback that forks */

struct forked {
  pid_t child;
  int calls;
};

static int forks_once(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct forked *s = arg;
  (void)leaf;
  (void)n;
  (void)values;
  if (s->calls++ == 0) {
    fflush(stdout);
    s->child = fork();
  }
  return 0;
}

/* An expansion ends in the child of its callback, where the key is a copy. */
static int expansion_forks(int i, void *arg)
{
  pprf_key *key;
  struct forked s = {-1, 0};
  uint64_t state = 1;
  int status, ok = stores[i]->setup(&key, 12, root) == PPRF_OK;
  (void)arg;
  for (int k = 0; k < 300 && ok; k++)
    (void)stores[i]->punct(key, tap_random(&state) >> 52);
  if (!ok)
    return 0;
  int err = more[i].expand(key, 0, 4095, forks_once, &s);
  if (s.child == 0)
    _exit(err == PPRF_ERR_FORKED && s.calls == 1 ? 0 : 1);
  ok = s.child > 0 && waitpid(s.child, &status, 0) == s.child && status == 0 && err == PPRF_OK &&
       s.calls > 1;
  stores[i]->free(key);
  return ok;
}

/* ---- the memory in a callback: opt's expansion is not on the heap */

struct expanding {
  jmp_buf back;
  int jump, calls, in_library;
  const uint8_t *values;
  pid_t child;
};

static int all_zero(const uint8_t *p, size_t n)
{
  while (n > 0 && p[n - 1] == 0)
    n--;
  return n == 0;
}

enum { DUMPED = 1, COPIED = 2, SWAPPED = 4 };

/* The flags of the mapping that contains an address. */
static int fate(const void *at)
{
  char line[400];
  int inside = 0, found = DUMPED | COPIED | SWAPPED;
  FILE *maps = fopen("/proc/self/smaps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long first, end;
    if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
      inside = first <= (uintptr_t)at && (uintptr_t)at < end;
    if (inside && strncmp(line, "VmFlags:", 8) == 0)
      found = (strstr(line, " dd") == NULL ? DUMPED : 0) |
              (strstr(line, " wf") == NULL ? COPIED : 0) |
              (strstr(line, " lo") == NULL ? SWAPPED : 0);
  }
  if (maps != NULL)
    fclose(maps);
  return found;
}

/* Whether a mapping is omitted from core dumps and cleared in children. */
static int is_kept(int fate_of_it)
{
  return (fate_of_it & (old_kernel ? DUMPED : DUMPED | COPIED)) == 0;
}

static int forks_or_jumps(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct expanding *s = arg;
  (void)leaf;
  if (s->calls++ > 0)
    return 0;
  s->values = values;
  s->in_library = is_kept(fate(values)) && !all_zero(values, 16);
  if (s->jump)
    longjmp(s->back, 1);
  fflush(stdout);
  s->child = fork();
  if (s->child == 0 && !old_kernel && !all_zero(values, 16 * n))
    _exit(2);
  return 0;
}

static int callback(int i, const struct pprf_options *o, int jump)
{
  static struct expanding s;
  pprf_key *key;
  uint8_t out[PPRF_VALUE_BYTES_MAX];
  volatile int ok = 0;
  int status;
  s = (struct expanding){.jump = jump, .child = -1};
  if (more[i].setup_with(&key, o) != PPRF_OK)
    return 0;
  if (setjmp(s.back) == 0) {
    int err = more[i].expand(key, 0, 4095, forks_or_jumps, &s);
    if (s.child == 0) { /* without MADV_WIPEONFORK the expansion of a shared key continues */
      unsigned char resident;
      ok = mincore((void *)((uintptr_t)s.values / 4096 * 4096), 1, &resident) != 0; /* unmapped */
      _exit(!ok || (old_kernel && o->flags != 0 ? err != PPRF_OK
                                                : err != PPRF_ERR_FORKED || s.calls != 1));
    }
    ok = !jump && err == PPRF_OK && s.calls > 1 && s.child > 0 &&
         waitpid(s.child, &status, 0) == s.child && status == 0;
  } else {
    ok = jump && is_kept(fate(s.values));
  }
  ok &=
    s.in_library && stores[i]->eval(key, 5, out) == PPRF_OK && stores[i]->punct(key, 5) == PPRF_OK;
  stores[i]->free(key);
  return ok;
}

/* In each suite, with a private and a shared key. */
static int callbacks(int i, void *arg)
{
  static const uint8_t seed[PPRF_VALUE_BYTES_MAX] = {7};
  struct pprf_options o = {.size = sizeof o, .depth = 12, .seed = seed};
  int ok = 1;
  (void)arg;
  for (o.suite = PPRF_SHA3_256; o.suite <= PPRF_MLS_SHA256; o.suite++)
    for (o.flags = 0; o.flags <= PPRF_SHARED; o.flags++)
      for (int jump = 0; jump < 2; jump++)
        ok &= callback(i, &o, jump);
  return ok;
}

/* ---- the memory of an expansion that has ended */

struct seen {
  pprf_key *key;
  const uint8_t *values;
  int fate, depth;
};

static int look(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct seen *s = arg;
  (void)n;
  if (s->depth > 0) { /* nested expansions */
    s->depth--;
    return pprf_expand(s->key, leaf, leaf, look, s);
  }
  s->values = values;
  s->fate = fate(values);
  return 0;
}

/* In a child the memory is locked, omitted from core dumps and cleared by fork, as in the
 * parent. */
static int same_fate(int i, void *arg)
{
  const struct seen *parents = arg;
  struct seen s = {.key = parents->key};
  (void)i;
  return pprf_expand(s.key, 5, 5, look, &s) == PPRF_OK && s.fate == parents->fate;
}

/* It is reused as it is; a child, where it is cleared and unlocked, sets it up again. */
static int used_again(int i, void *arg)
{
  static const uint8_t seed[PPRF_VALUE_BYTES_MAX] = {7};
  struct pprf_options o = {.size = sizeof o, .depth = 12, .seed = seed, .flags = PPRF_SHARED};
  int ok = 1;
  (void)arg;
  for (o.suite = PPRF_SHA3_256; o.suite <= PPRF_MLS_SHA256; o.suite++) {
    struct seen first = {0}, again = {0};
    if (more[i].setup_with(&first.key, &o) != PPRF_OK)
      return 0;
    again.key = first.key;
    ok &= pprf_expand(first.key, 5, 5, look, &first) == PPRF_OK && is_kept(first.fate);
    int before = advices;
    ok &= pprf_expand(first.key, 5, 6, look, &again) == PPRF_OK && again.fate == first.fate &&
          (old_kernel || (again.values == first.values && advices == before));
    ok &= in_child(same_fate, i, &first);
    again.depth = 9;
    ok &= pprf_expand(first.key, 5, 5, look, &again) == PPRF_OK && again.depth == 0 &&
          again.fate == first.fate;
    stores[i]->free(first.key);
  }
  return ok;
}

int main(void)
{
  static const struct {
    const char *claim;
    int (*f)(int impl, void *arg);
  } tests[] = {{"copies_are_refused_and_own_keys_work_in_children_and_theirs", tree_of_processes},
               {"the_first_key_may_be_a_childs", first_key_in_a_child},
               {"shared_keys_are_one_key", shared},
               {"an_expansion_ends_in_a_child_of_its_callback", expansion_forks},
               {"a_callback_that_forks_or_jumps_leaves_no_seed_on_the_heap", callbacks},
               {"an_expansions_memory_is_used_again_and_kept_alike_in_a_child", used_again},
               {"a_key_is_moved_by_export_and_import", moved},
               {"options_that_are_not_known_are_refused", options},
               {"a_child_in_the_same_memory_has_the_same_key", same_memory},
               {"forks_amid_busy_threads_leave_children_whole", amid_threads},
               {"forks_amid_changes_leave_children_whole", amid_changes},
               {"forks_amid_the_first_fetch_leave_children_whole", amid_fetch},
               {"a_copy_that_is_freed_leaves_nothing", copies_go_whole},
               {"random_keys_differ_whatever_ids_processes_have", random_keys},
               {"a_threads_own_destructor_may_use_keys", destructors},
               {"a_thread_may_outlive_the_main_thread", last_thread},
               {"a_shared_key_is_locked_for_its_maker_alone", locks}};
  loader = getpid();
  /* each in a process that has made no key; this process makes none */
  for (old_kernel = 0; old_kernel < 2; old_kernel++)
    for (int i = 0; i < STORES; i++)
      for (size_t k = 0; k < sizeof tests / sizeof *tests; k++)
        if ((tests[k].f != callbacks && tests[k].f != used_again) ||
            stores[i] != &impl_ref) /* ref does not ship: its expansions are on the heap */
          tap_ok(in_child(tests[k].f, i, NULL), "%s_%s%s", stores[i]->name, tests[k].claim,
                 old_kernel ? "_without_wipeonfork" : "");
  old_kernel = 0;
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (__real_madvise(page, 4096, MADV_WIPEONFORK) != 0)
    tap_note("this system does not clear pages at a fork");
  else
    tap_ok(in_child(no_seeds, 1, NULL), "opt_a_child_has_no_seed_in_its_copy");
  tap_ok(drawn_by_loader(), "opt_a_child_in_the_same_memory_leaves_libcryptos_generator_alone");
  return tap_end();
}
