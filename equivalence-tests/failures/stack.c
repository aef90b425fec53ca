/* SPDX-License-Identifier: Apache-2.0 */
/* TAP: no function needs more stack than PPRF_STACK_BYTES, in any suite, store and version of the
 * PRG. Each call runs in a new process and a new thread, whose stack is first filled with a
 * pattern. So the stack that a process's first call uses in libcrypto counts, and what is wiped.
 *
 * Usage: stack [--full]; stack --names prints the functions, one per line. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "pprf.h"
#include "../../tools/tap.h"
#ifdef SHARED
#include "pprf_shared.h"
#endif

/* pprf.h: half of it is enough if the library was compiled with optimization */
#ifdef __OPTIMIZE__
#define BOUND (PPRF_STACK_BYTES / 2)
#else
#define BOUND PPRF_STACK_BYTES
#endif
#define ROOM (1u << 18) /* the stack size of the threads */
#define LEAVES 1100u
#define HALF 40u /* leaves punctured before the call */

struct subject {
  unsigned suite, store, depth;
  const char *variable, *version; /* of the environment; NULL: the library chooses */
  pprf_key *key;
  uint8_t *file;
  size_t file_bytes;
};

static uint64_t leaf[LEAVES];
static int result[LEAVES];
static uint8_t value[LEAVES * PPRF_VALUE_BYTES_MAX];
static const uint8_t seed[PPRF_VALUE_BYTES_MAX] = {1}, salt[PPRF_SALT_BYTES] = {2};

static int has_salt(unsigned suite)
{
  return suite == PPRF_SHA3_256_SALTED || suite == PPRF_AES_128;
}

static int ignore(void *arg, uint64_t first, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)first;
  (void)n;
  (void)values;
  return 0;
}

/* ---- the calls; PPRF_ERR_RANGE for a suite, store and depth that the function cannot have */

static int do_setup(struct subject *s)
{
  return pprf_setup(&s->key, s->depth, s->suite == PPRF_SHA3_256 ? seed : NULL);
}

static int do_setup_with(struct subject *s)
{
  struct pprf_options o = {
    .size = sizeof o, .depth = s->depth, .store = s->store, .suite = s->suite};
  return pprf_setup_with(&s->key, &o);
}

static int do_setup_shared(struct subject *s)
{
  struct pprf_options o = {.size = sizeof o,
                           .depth = s->depth > 20 ? 20 : s->depth,
                           .store = s->store,
                           .suite = s->suite,
                           .flags = PPRF_SHARED};
  return s->store == PPRF_STORE_PACKED ? PPRF_ERR_RANGE : pprf_setup_with(&s->key, &o);
}

static int do_import(struct subject *s)
{
  int err = pprf_import(&s->key, s->file, s->file_bytes);
  return err == PPRF_ERR_SUITE ? PPRF_ERR_RANGE : err;
}

static int do_import_with(struct subject *s)
{
  struct pprf_import_options o = {
    .size = sizeof o, .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES, .store = s->store};
  return pprf_import_with(&s->key, s->file, s->file_bytes, &o);
}

static int do_import_nonsense(struct subject *s)
{
  s->file[s->file_bytes - 1] ^= 1;
  return do_import_with(s) == PPRF_ERR_FORMAT ? PPRF_OK : PPRF_ERR_CRYPTO;
}

static int do_eval(struct subject *s)
{
  return pprf_eval(s->key, leaf[LEAVES - 1], value);
}

static int do_punct(struct subject *s)
{
  return pprf_punct(s->key, leaf[LEAVES - 1]);
}

/* Until the key has all its nodes: its memory grows. */
static int do_eval_punct(struct subject *s)
{
  for (unsigned i = HALF; i < 400; i++) {
    int err = pprf_eval_punct(s->key, leaf[i], value);
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      return err;
  }
  return PPRF_OK;
}

/* A range in the middle, then all leaves. */
static int do_punct_range(struct subject *s)
{
  uint64_t last = (UINT64_C(1) << s->depth) - 1;
  int err = pprf_punct_range(s->key, last / 3, last / 3 * 2);
  return err != PPRF_OK ? err : pprf_punct_range(s->key, 0, last - 1);
}

static int do_delegate(struct subject *s)
{
  pprf_key *sub;
  int err = pprf_delegate(s->key, 1, (UINT64_C(1) << s->depth) - 2, &sub);
  pprf_free(sub);
  return err;
}

static int do_eval_batch(struct subject *s)
{
  return pprf_eval_batch(s->key, leaf, LEAVES, value, result);
}

static int do_punct_batch(struct subject *s)
{
  return pprf_punct_batch(s->key, leaf, LEAVES, result);
}

static int do_expand(struct subject *s)
{
  return pprf_expand(s->key, leaf[LEAVES - 1], leaf[LEAVES - 1] | 0xfff, ignore, NULL);
}

static int do_prefault(struct subject *s)
{
  return s->depth > 20 && s->depth <= PPRF_SLOTS_DEPTH_MAX ? PPRF_ERR_RANGE : pprf_prefault(s->key);
}

static int do_node_count(struct subject *s)
{
  return pprf_node_count(s->key) == 0;
}

static int do_memory_bytes(struct subject *s)
{
  return pprf_memory_bytes(s->key) == 0;
}

static int do_depth(struct subject *s)
{
  return pprf_depth(s->key) == 0;
}

static int do_suite(struct subject *s)
{
  return pprf_suite(s->key) == 0;
}

static int do_value_bytes(struct subject *s)
{
  return pprf_value_bytes(s->key) == 0;
}

static int do_memory_locked(struct subject *s)
{
  return pprf_memory_locked(s->key) < 0;
}

static int do_export(struct subject *s)
{
  size_t len = s->file_bytes;
  return pprf_export(s->key, s->file, &len);
}

static int do_free(struct subject *s)
{
  pprf_free(s->key);
  return PPRF_OK;
}

static int do_prg_name(struct subject *s)
{
  (void)s;
  return pprf_prg_name() == NULL;
}

static int do_aes_name(struct subject *s)
{
  (void)s;
  return pprf_aes_name() == NULL;
}

static int do_sha256_name(struct subject *s)
{
  (void)s;
  return pprf_sha256_name() == NULL;
}

static int do_prg_select(struct subject *s)
{
  return s->version == NULL ? PPRF_ERR_RANGE : pprf_prg_select(s->version);
}

static int do_suite_name(struct subject *s)
{
  return pprf_suite_name(s->suite) == NULL;
}

static int do_strerror(struct subject *s)
{
  (void)s;
  return pprf_strerror(PPRF_ERR_SUITE) == NULL;
}

static int do_version(struct subject *s)
{
  (void)s;
  return pprf_version() == NULL;
}

#ifdef SHARED
static void *shared; /* the memory of a shared key of depth 12 */

static int do_shared_bytes(struct subject *s)
{
  return s->depth > PPRF_SLOTS_DEPTH_MAX ? PPRF_ERR_RANGE : pprf_shared_bytes(s->depth) == 0;
}

static int do_shared_open(struct subject *s)
{
  shared = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return pprf_shared_open(&s->key, 12, shared);
}

static int do_shared_start(struct subject *s)
{
  uint8_t fresh[PPRF_SALT_BYTES];
  int err = s->suite == PPRF_MLS_SHA256 ? PPRF_ERR_RANGE : do_shared_open(s);
  return err != PPRF_OK ? err : pprf_shared_start(s->key, s->suite, fresh);
}

static int do_shared_set(struct subject *s)
{
  int err = do_shared_start(s);
  return err != PPRF_OK ? err : pprf_shared_set(s->key, s->suite, salt, 1);
}

static int do_shared_rest(struct subject *s)
{
  int err = do_shared_start(s);
  if (err != PPRF_OK)
    return err;
  pprf_shared_lock(s->key);
  if (pprf_shared_handle_bytes(s->key) == 0 || pprf_shared_memory_bytes(s->key) == 0)
    return PPRF_ERR_CRYPTO;
  pprf_shared_clear(s->key);
  pprf_shared_close(s->key);
  return PPRF_OK;
}

static int do_split_value(struct subject *s)
{
  return s->suite == PPRF_MLS_SHA256
           ? PPRF_ERR_RANGE
           : pprf_split_value(s->suite, salt, 7, seed, value, value + PPRF_SEED_BYTES);
}
#endif

static const struct call {
  const char *name;
  int (*make)(struct subject *s);
  int first;   /* it is the process's first call; else another thread makes the key */
  int expands; /* run with each version of the PRG */
} calls[] = {
  {"pprf_setup", do_setup, 1, 1},
  {"pprf_setup_with", do_setup_with, 1, 1},
  {"pprf_setup_with", do_setup_shared, 1, 1},
  {"pprf_import", do_import, 1, 1},
  {"pprf_import_with", do_import_with, 1, 1},
  {"pprf_import_with", do_import_nonsense, 1, 0},
  {"pprf_eval", do_eval, 0, 1},
  {"pprf_punct", do_punct, 0, 1},
  {"pprf_eval_punct", do_eval_punct, 0, 1},
  {"pprf_punct_range", do_punct_range, 0, 1},
  {"pprf_delegate", do_delegate, 0, 1},
  {"pprf_eval_batch", do_eval_batch, 0, 1},
  {"pprf_punct_batch", do_punct_batch, 0, 1},
  {"pprf_expand", do_expand, 0, 1},
  {"pprf_prefault", do_prefault, 0, 1},
  {"pprf_node_count", do_node_count, 0, 0},
  {"pprf_memory_bytes", do_memory_bytes, 0, 0},
  {"pprf_depth", do_depth, 0, 0},
  {"pprf_suite", do_suite, 0, 0},
  {"pprf_value_bytes", do_value_bytes, 0, 0},
  {"pprf_memory_locked", do_memory_locked, 0, 0},
  {"pprf_export", do_export, 0, 1},
  {"pprf_free", do_free, 0, 0},
  {"pprf_prg_name", do_prg_name, 1, 0},
  {"pprf_aes_name", do_aes_name, 1, 0},
  {"pprf_sha256_name", do_sha256_name, 1, 0},
  {"pprf_prg_select", do_prg_select, 1, 1},
  {"pprf_suite_name", do_suite_name, 1, 0},
  {"pprf_strerror", do_strerror, 1, 0},
  {"pprf_version", do_version, 1, 0},
#ifdef SHARED
  {"pprf_shared_bytes", do_shared_bytes, 1, 0},
  {"pprf_shared_open", do_shared_open, 1, 0},
  {"pprf_shared_start", do_shared_start, 1, 1},
  {"pprf_shared_set", do_shared_set, 1, 0},
  {"pprf_shared_lock", do_shared_rest, 1, 0},
  {"pprf_shared_handle_bytes", do_shared_rest, 1, 0},
  {"pprf_shared_memory_bytes", do_shared_rest, 1, 0},
  {"pprf_shared_clear", do_shared_rest, 1, 0},
  {"pprf_shared_close", do_shared_rest, 1, 0},
  {"pprf_split_value", do_split_value, 1, 1},
#endif
};

/* ---- a thread whose stack shows how deep it went */

/* A word that no program would write there. */
static uint64_t pattern(const uint64_t *at)
{
  uint64_t state = (uint64_t)(uintptr_t)at ^ UINT64_C(0x5b1c3f7a9d2e8064);
  return tap_random(&state);
}

struct measured {
  struct subject *subject;
  const struct call *call;
  uint64_t *stack;
  size_t bytes;
  int err;
};

static void *thread(void *arg)
{
  struct measured *m = arg;
  const uint64_t *at = m->stack;
  m->err = m->call->make(m->subject);
  while (*at == pattern(at))
    at++;
  m->bytes = (size_t)((const char *)__builtin_frame_address(0) - (const char *)at);
  return NULL;
}

/* In a child: make the call, write how much stack it used, and exit with its result. */
static void measure(struct subject *s, const struct call *call, int fd)
{
  struct measured m = {.subject = s, .call = call};
  pthread_attr_t attr;
  pthread_t id;
  if (s->version != NULL)
    setenv(s->variable, s->version, 1);
  if (!call->first && (m.err = do_import_with(s)) != PPRF_OK)
    _exit(m.err);
  m.stack = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m.stack == MAP_FAILED)
    _exit(100);
  for (size_t i = 0; i < ROOM / 8; i++)
    m.stack[i] = pattern(&m.stack[i]);
  if (pthread_attr_init(&attr) != 0 || pthread_attr_setstack(&attr, m.stack, ROOM) != 0 ||
      pthread_create(&id, &attr, thread, &m) != 0 || pthread_join(id, NULL) != 0 ||
      write(fd, &m.bytes, sizeof m.bytes) != sizeof m.bytes)
    _exit(101);
  _exit(m.err);
}

/* A thread with the stack that pprf.h advises. */
static void *in_small_thread(void *arg)
{
  struct subject *s = arg;
  int err = do_setup_with(s);
  if (err == PPRF_OK)
    err = do_eval_batch(s);
  if (err == PPRF_OK)
    err = do_eval_punct(s);
  if (err == PPRF_OK)
    err = do_delegate(s);
  if (err == PPRF_OK)
    err = do_punct_range(s);
  if (err == PPRF_OK)
    err = do_export(s);
  do_free(s);
  return err == PPRF_OK || err == PPRF_ERR_BUFFER ? NULL : s;
}

static int small_thread_is_enough(unsigned suite)
{
  struct subject s = {.suite = suite, .store = PPRF_STORE_PACKED, .depth = 63};
  int status = -1;
  pid_t pid = fork();
  if (pid == 0) {
    pthread_attr_t attr;
    pthread_t id;
    void *wrong;
    size_t bytes = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    if (bytes < PTHREAD_STACK_MIN)
      bytes = PTHREAD_STACK_MIN;
    _exit(pthread_attr_init(&attr) != 0 ||
          pthread_attr_setstacksize(&attr, bytes + PPRF_STACK_BYTES) != 0 ||
          pthread_create(&id, &attr, in_small_thread, &s) != 0 || pthread_join(id, &wrong) != 0 ||
          wrong != NULL);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* ---- all calls */

static size_t most[sizeof calls / sizeof *calls];

static void try_call(struct subject *s, unsigned i)
{
  size_t bytes = 0;
  int fd[2], status;
  if (pipe(fd) != 0) {
    perror("pipe");
    exit(1);
  }
  pid_t pid = fork();
  if (pid == 0)
    measure(s, &calls[i], fd[1]);
  close(fd[1]);
  int heard = pid > 0 && read(fd[0], &bytes, sizeof bytes) == sizeof bytes;
  close(fd[0]);
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    status = -1;
  if (heard && WIFEXITED(status) && WEXITSTATUS(status) == PPRF_ERR_RANGE)
    return;
  tap_check(heard && status == 0, "%s, %s, store %u, depth %u, %s: status %#x", calls[i].name,
            pprf_suite_name(s->suite), s->store, s->depth, s->version ? s->version : "chosen",
            status);
  if (bytes > most[i]) {
    most[i] = bytes;
    if (bytes > BOUND || getenv("VERBOSE"))
      tap_note("%s, %s, store %u, depth %u, %s: %zu bytes", calls[i].name,
               pprf_suite_name(s->suite), s->store, s->depth, s->version ? s->version : "chosen",
               bytes);
  }
}

/* A key file, made in a child, since this process does not use the library. */
static void make_file(struct subject *s)
{
  static uint8_t *room;
  size_t *bytes;
  if (room == NULL)
    room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bytes = (size_t *)(void *)(room + 2 * ROOM - sizeof *bytes);
  *bytes = ROOM;
  pid_t pid = fork();
  if (pid == 0) {
    struct pprf_options o = {.size = sizeof o,
                             .depth = s->depth,
                             .suite = s->suite,
                             .seed = seed,
                             .salt = has_salt(s->suite) ? salt : NULL};
    int err = pprf_setup_with(&s->key, &o);
    if (err == PPRF_OK)
      err = pprf_punct_batch(s->key, leaf, HALF, NULL);
    if (err == PPRF_OK)
      err = pprf_export(s->key, room, bytes);
    _exit(err);
  }
  int status = -1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
    printf("Bail out! cannot make a key file: %#x\n", status);
    exit(1);
  }
  s->file = malloc(*bytes);
  s->file_bytes = *bytes;
  memcpy(s->file, room, *bytes);
}

static void with_version(unsigned suite, const char *variable, const char *version, int full)
{
  static const struct {
    unsigned store, depth;
  } kinds[] = {{PPRF_STORE_DEFAULT, 12}, {PPRF_STORE_SLOTS, 32},  {PPRF_STORE_PACKED, 63},
               {PPRF_STORE_SLOTS, 12},   {PPRF_STORE_PACKED, 12}, {PPRF_STORE_DEFAULT, 63}};
  for (unsigned k = 0; k < (full ? 6 : 3); k++) {
    struct subject s = {.suite = suite,
                        .store = kinds[k].store,
                        .depth = kinds[k].depth,
                        .variable = variable,
                        .version = version};
    uint64_t state = s.depth;
    for (unsigned i = 0; i < LEAVES; i++)
      leaf[i] = tap_random(&state) >> (64 - s.depth);
    make_file(&s);
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
      if (version == NULL || calls[i].expands)
        try_call(&s, i);
    free(s.file);
  }
}

/* Whether the library has a version and the processor supports it. */
static int has(const char *version)
{
  int status = -1;
  pid_t pid = fork();
  if (pid == 0)
    _exit(pprf_prg_select(version));
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char **argv)
{
  static const struct {
    const char *variable, *name[7];
    unsigned suite[3];
  } choice[] = {
    {"PPRF_PRG",
     {NULL, "evp", "builtin", "scalar", "avx2", "avx512"},
     {PPRF_SHA3_256, PPRF_SHA3_256_SALTED}},
    {"PPRF_AES",
     {NULL, "aes-evp", "aes-builtin", "aes-bitsliced", "aes-ni", "aes-vaes", "aes-armv8"},
     {PPRF_AES_128}},
    {"PPRF_SHA256",
     {NULL, "sha256-evp", "sha256-builtin", "sha256-scalar", "sha256-ni", "sha256-armv8"},
     {PPRF_MLS_SHA256}}};
  if (argc > 1 && strcmp(argv[1], "--names") == 0) {
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
      printf("%s\n", calls[i].name);
    return 0;
  }
  for (unsigned c = 0; c < 3; c++)
    for (unsigned v = 0; v < 7; v++)
      if (v == 0 || (choice[c].name[v] != NULL && has(choice[c].name[v])))
        for (const unsigned *suite = choice[c].suite; *suite != 0; suite++)
          with_version(*suite, choice[c].variable, choice[c].name[v], tap_full(argc, argv));
  tap_end_test("every_call_succeeds");
  for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
    tap_ok(most[i] > 0 && most[i] <= BOUND, "%s_needs_no_more_stack_than_pprf.h_says: %zu bytes",
           calls[i].name, most[i]);
  for (unsigned suite = PPRF_SHA3_256; suite <= PPRF_MLS_SHA256; suite++)
    tap_ok(small_thread_is_enough(suite),
           "a_thread_of_PTHREAD_STACK_MIN_and_that_much_works_with_%s", pprf_suite_name(suite));
  return tap_end();
}
