/* SPDX-License-Identifier: Apache-2.0 */
/* The vault against ref, and in every state that a crash, a bad cell or a damaged store can leave.
 * usage: test_vault [SEED] */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tools/tap.h"
#include "impls/impl.h"
#include "page.h"
#include "pprf_vault.h"

#define check(...) tap_check((__VA_ARGS__), "line %d: %s", __LINE__, #__VA_ARGS__)
enum { CELL = PPRF_VAULT_CELL_BYTES, RECENT = 64 };
static uint64_t seed, state;
static char dir[64], store[80], cell_file[80], cell_spec[90];

static uint64_t rnd(uint64_t n)
{
  return tap_random(&state) % n;
}

static void end_test(const char *claim)
{
  if (tap_missed > 0)
    tap_note("again: build/vault/test_vault %llu; %s", (unsigned long long)seed,
             pprf_vault_error());
  tap_end_test(claim);
}

/* ---- a full disk */

static const char *full; /* no file whose name has this grows */
#pragma GCC visibility push(default)
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
  struct stat s;
  char link[32], name[200] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (full && readlink(link, name, sizeof name - 1) > 0 && strstr(name, full) &&
      fstat(fd, &s) == 0 && at + (off64_t)len > s.st_size)
    return errno = ENOSPC, -1;
  return syscall(SYS_pwrite64, fd, bytes, len, at);
}

static bool no_flags; /* of renameat2, in this file system */
static const char *meanwhile; /* a file that is made just before */
int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
  if (meanwhile != NULL)
    (void)close(open(meanwhile, O_CREAT | O_WRONLY, 0600));
  meanwhile = NULL;
  return no_flags && flags != 0 ? (errno = EINVAL, -1)
                                : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}
#pragma GCC visibility pop

/* ---- files */

struct image {
  struct bytes {
    uint8_t *at;
    size_t len;
  } file[5]; /* the store, its log, the cell's file, the mirror, its log */
};
enum { FILES = 5 };
static const char *const suffix[FILES] = {"", "-wal", ".cell", "", "-wal"};

static const char *file_name(int i)
{
  static char name[100];
  snprintf(name, sizeof name, "%s%s%s", i < 3 ? store : dir, i < 3 ? "" : "/mirror/vault",
           suffix[i]);
  return name;
}

static struct bytes read_file(const char *name)
{
  struct stat s;
  struct bytes b = {NULL, 0};
  int fd = open(name, O_RDONLY);
  if (fd >= 0 && fstat(fd, &s) == 0 && (b.at = malloc((size_t)s.st_size + 1)) != NULL)
    b.len = (size_t)pread(fd, b.at, (size_t)s.st_size, 0);
  if (fd >= 0)
    close(fd);
  return b;
}

static struct image take_image(void)
{
  struct image image;
  for (int i = 0; i < FILES; i++)
    image.file[i] = read_file(file_name(i));
  return image;
}

static void put_bytes(const char *name, const struct bytes *b)
{
  unlink(name);
  int fd = b->at == NULL ? -1 : open(name, O_WRONLY | O_CREAT, 0600);
  if (fd >= 0 && (write(fd, b->at, b->len) != (ssize_t)b->len || close(fd) != 0))
    abort();
}

static void put_image(const struct image *image)
{
  for (int i = 0; i < FILES; i++)
    put_bytes(file_name(i), &image->file[i]);
}

static void free_image(struct image *image)
{
  for (int i = 0; i < FILES; i++)
    free(image->file[i].at);
}

static void no_files(void)
{
  for (int i = 0; i < FILES; i++)
    unlink(file_name(i));
}

/* ---- a vault and the key of ref that it must equal */

static const uint8_t root_seed[32] = "a seed of 32 bytes for the tests",
                     salt[16] = "a salt for tests";
static uint8_t value_of_cell[CELL];
static struct pprf_vault_options options = {.size = sizeof options};

static struct pprf_options tree(unsigned depth, unsigned suite)
{
  bool salted = suite == PPRF_SHA3_256_SALTED || suite == PPRF_AES_128;
  return (struct pprf_options){.size = sizeof(struct pprf_options),
                               .seed = root_seed,
                               .depth = depth,
                               .suite = suite,
                               .salt = salted ? salt : NULL};
}

static struct pprf_vault_cell memory(void)
{
  struct pprf_vault_cell cell;
  check(pprf_vault_cell_memory(&cell, value_of_cell) == PPRF_OK);
  return cell;
}

static struct pprf_vault_cell in_file(void)
{
  struct pprf_vault_cell cell;
  check(pprf_vault_cell(&cell, cell_spec) == PPRF_OK);
  return cell;
}

static pprf_vault *new_vault(struct pprf_vault_cell cell, unsigned depth, unsigned suite)
{
  struct pprf_options o = tree(depth, suite);
  pprf_vault *v;
  check(pprf_vault_create(&v, store, &cell, &o, &options) == PPRF_OK);
  if (v == NULL)
    tap_note("create: %s", pprf_vault_error());
  return v != NULL ? v : (exit(1), NULL);
}

/* A closed vault of which n leaves are erased, its cell in memory. */
static void random_vault(int n)
{
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 63, PPRF_AES_128);
  for (int i = 0; i < n; i++)
    check(pprf_vault_erase(v, rnd(INT64_MAX), NULL) == PPRF_OK);
  check(pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
}

static pprf_vault *again(struct pprf_vault_cell cell)
{
  pprf_vault *v;
  check(pprf_vault_open(&v, store, &cell, &options) == PPRF_OK);
  if (v == NULL)
    tap_note("open: %s", pprf_vault_error());
  return v;
}

static pprf_vault *reopen(pprf_vault *v, struct pprf_vault_cell cell)
{
  pprf_vault_close(v);
  return again(cell);
}

static pprf_key *copy(const pprf_key *key)
{
  const struct pprf_import_options o = {.size = sizeof o,
                                        .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES};
  size_t len;
  pprf_key *made = NULL;
  impl_ref.export_key(key, NULL, &len);
  uint8_t *bytes = malloc(len);
  impl_ref.export_key(key, bytes, &len);
  check(impl_ref.import_with(&made, bytes, len, &o) == PPRF_OK);
  free(bytes);
  return made;
}

static bool same_leaf(pprf_vault *v, const pprf_key *key, uint64_t leaf)
{
  uint8_t a[32] = {1}, b[32] = {2};
  memset(a, 1, 32);
  memset(b, 1, 32);
  int is = pprf_vault_eval(v, leaf, a), should = impl_ref.eval(key, leaf, b);
  if (is != should || memcmp(a, b, 32) != 0)
    tap_note("leaf %llu: %d, ref %d", (unsigned long long)leaf, is, should);
  return is == should && memcmp(a, b, 32) == 0;
}

static uint64_t nodes(pprf_vault *v)
{
  struct pprf_vault_info info = {.size = sizeof info};
  check(pprf_vault_info(v, &info) == PPRF_OK);
  return info.nodes;
}

static void whole_tree_is_the_same(pprf_vault *v, const pprf_key *key)
{
  for (uint64_t leaf = 0; leaf < UINT64_C(1) << impl_ref.depth(key); leaf++)
    check(same_leaf(v, key, leaf));
  check(nodes(v) == impl_ref.node_count(key));
  check(pprf_vault_verify(v, NULL) == PPRF_OK);
}

/* ---- values, errors and node counts */

static void every_set(unsigned depth, unsigned suite)
{
  for (uint64_t set = 0; set < UINT64_C(1) << (1u << depth); set++) {
    struct pprf_options o = tree(depth, suite);
    pprf_key *key;
    check(impl_ref.setup_with(&key, &o) == PPRF_OK);
    memset(value_of_cell, 0, CELL);
    pprf_vault *v = new_vault(memory(), depth, suite);
    for (uint64_t leaf = 0; leaf < UINT64_C(1) << depth; leaf++)
      if (set >> leaf & 1) {
        check(pprf_vault_erase(v, leaf, NULL) == PPRF_OK);
        check(pprf_vault_erase(v, leaf, NULL) == PPRF_ERR_PUNCTURED);
        check(impl_ref.punct(key, leaf) == PPRF_OK);
      }
    check(pprf_vault_erase(v, UINT64_C(1) << depth, NULL) == PPRF_ERR_RANGE);
    check(pprf_vault_erase_range(v, 1, 0, NULL) == PPRF_ERR_RANGE);
    whole_tree_is_the_same(v, key);
    check(pprf_vault_commit(v, NULL) == PPRF_OK);
    v = reopen(v, memory());
    whole_tree_is_the_same(v, key);
    pprf_vault_close(v);
    impl_ref.free(key);
    no_files();
  }
}

/* A leaf near an earlier one, or anywhere. */
static uint64_t some_leaf(unsigned depth, uint64_t recent[RECENT])
{
  uint64_t mask = depth == 63 ? INT64_MAX : (UINT64_C(1) << depth) - 1;
  uint64_t *r = &recent[rnd(RECENT)];
  if (rnd(3) != 0)
    return (*r + rnd(5)) & mask;
  return *r = tap_random(&state) & mask;
}

static void random_operations(unsigned depth, unsigned suite, int count)
{
  struct pprf_options o = tree(depth, suite);
  uint64_t recent[RECENT] = {0}, number = 0, next = 1, final = 0;
  pprf_key *key, *saved;
  check(impl_ref.setup_with(&key, &o) == PPRF_OK);
  saved = copy(key);
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), depth, suite);
  for (int op = 0; op < count && tap_missed == 0 && v != NULL; op++) {
    uint64_t leaf = some_leaf(depth, recent), last = some_leaf(depth, recent);
    unsigned what = (unsigned)rnd(100);
    int is = PPRF_OK, should = PPRF_OK;
    if (what < 60) {
      is = pprf_vault_erase(v, leaf, &number);
      should = impl_ref.punct(key, leaf);
    } else if (what < 63) { /* mostly short */
      last =
        last < leaf || rnd(8) != 0 ? leaf + rnd(1000) % (((UINT64_C(1) << depth) - leaf)) : last;
      is = pprf_vault_erase_range(v, leaf, last, &number);
      should = impl_ref.punct_range(key, leaf, last);
    } else if (what < 97)
      check(same_leaf(v, key, leaf));
    else if (what < 99) {
      check(pprf_vault_commit(v, &final) == PPRF_OK && final == next - 1);
      impl_ref.free(saved);
      saved = copy(key);
    } else {
      v = reopen(v, memory());
      impl_ref.free(key);
      key = copy(saved);
      next = 1;
    }
    check(is == should);
    if (what < 63) {
      check(number == (is == PPRF_OK ? next : 0));
      next += is == PPRF_OK;
    }
    check(nodes(v) == impl_ref.node_count(key));
    if (tap_missed > 0)
      tap_note("op %d of depth %u, suite %u: kind %u, leaf %llu..%llu: %d, ref %d", op, depth,
               suite, what, (unsigned long long)leaf, (unsigned long long)last, is, should);
  }
  check(pprf_vault_commit(v, NULL) == PPRF_OK);
  v = reopen(v, memory());
  check(pprf_vault_verify(v, NULL) == PPRF_OK);
  check(nodes(v) == impl_ref.node_count(key));
  for (int i = 0; i < 2000; i++)
    check(same_leaf(v, key, some_leaf(depth, recent)));
  if (depth < 4) /* to the end, and beyond */
    check(pprf_vault_erase_range(v, 0, (UINT64_C(1) << depth) - 1, NULL) ==
            impl_ref.punct_range(key, 0, (UINT64_C(1) << depth) - 1) &&
          pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  impl_ref.free(key);
  impl_ref.free(saved);
  no_files();
}

static void a_vault_equals_one_key(void)
{
  for (unsigned suite = 1; suite <= 4; suite++) {
    for (unsigned depth = 1; depth <= 3; depth++)
      every_set(depth, suite);
    tap_end_test(pprf_suite_name(suite));
  }
  options.cache_bytes = 1 << 16; /* a few pages */
  for (unsigned suite = 1; suite <= 4; suite++) {
    random_operations(1, suite, 100);
    random_operations(24, suite, 3000);
    random_operations(63, suite, suite == PPRF_AES_128 ? 6000 : 1500);
  }
  options.cache_bytes = 0;
  end_test("random operations equal ref's, at depths 1, 24 and 63");
}

static void pages_stay_full(void)
{
  uint64_t live;
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 63, PPRF_AES_128);
  for (int i = 0; i < 900; i++) {
    check(pprf_vault_erase(v, tap_random(&state) & INT64_MAX, NULL) == PPRF_OK);
    if (i % 3 == 0)
      check(pprf_vault_commit(v, NULL) == PPRF_OK);
  }
  struct pprf_vault_info info = {.size = sizeof info};
  check(pprf_vault_info(v, &info) == PPRF_OK && pprf_vault_verify(v, &live) == PPRF_OK);
  check(info.disk_bytes < 4096 * (live + live / 16 + 40)); /* rows are used again */
  tap_note("%llu nodes in %llu pages of 4096 bytes", (unsigned long long)nodes(v),
           (unsigned long long)live);
  check(4096 * live <= 25 * nodes(v));
  check(pprf_vault_erase_range(v, 1, INT64_MAX, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_verify(v, &live) == PPRF_OK && nodes(v) == 1 && live <= 4);
  v = reopen(v, memory()); /* the next commit removes the old pages, and verify shortens the file */
  check(pprf_vault_erase(v, 0, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_verify(v, NULL) == PPRF_OK && nodes(v) == 0);
  struct stat file;
  check(stat(store, &file) == 0 && file.st_size < 20 * 4096);
  pprf_vault_close(v);
  no_files();
  end_test(
    "a node takes at most 25 bytes on disk after random erasures, and pages without nodes go");
}

/* ---- leaf pages, and the memory of their nodes */

static struct arena arena;
static const struct tree small = {.depth = 4, .seed = 16, .arena = &arena};

/* What decoding gives of two nodes side by side, each start and height; count: as the page says. */
static int decoded(uint64_t start, unsigned height, uint64_t next, unsigned above, uint64_t count)
{
  const struct node node[] = {{.start = start, .height = height}, {.start = next, .height = above}};
  struct nodes nodes = {NULL, 0, 0};
  uint8_t plain[PAGE_MAX];
  leaf_encode(&small, node, 2, plain);
  put_le(plain + 1, count, 2);
  int err = leaf_decode(&small, plain, &nodes);
  check(nodes.count == (err == PPRF_OK ? count : 0));
  for (size_t i = 0; i < nodes.count && i < 2; i++)
    check(nodes.at[i].start == node[i].start && nodes.at[i].height == node[i].height);
  nodes_free(&small, &nodes);
  return err;
}

static void leaf_pages(void)
{
  for (uint64_t start = 0; start < 18; start++)
    for (unsigned height = 0; height < 6; height++)
      for (uint64_t next = 0; next < 18; next++)
        for (unsigned above = 0; above < 6; above++) {
          uint64_t end = start + (UINT64_C(1) << height), stop = next + (UINT64_C(1) << above);
          bool siblings = next == end && above == height && start % (UINT64_C(2) << height) == 0;
          bool cover = start % (end - start) == 0 && next % (stop - next) == 0 && next >= end &&
                       stop <= 16 && !siblings;
          tap_check((decoded(start, height, next, above, 2) == PPRF_OK) == cover,
                    "nodes at %d of height %u, at %d of height %u", (int)start, height, (int)next,
                    above);
        }
  check(decoded(0, 4, 0, 0, 1) == PPRF_OK && decoded(0, 0, 2, 0, 0) == PPRF_OK);
  check(decoded(0, 0, 2, 0, 237) == PPRF_VAULT_ERR_DAMAGED && /* as many as fit are zeros here */
        decoded(0, 0, 2, 0, 65535) == PPRF_VAULT_ERR_DAMAGED);
  end_test("a leaf page is taken if its nodes are a cover, of any two nodes of a small tree");
}

static void memory_of_nodes(void)
{
  enum { SETS = 300 };
  static struct nodes set[SETS];
  for (int i = 0; i < 6000; i++) {
    size_t k = rnd(SETS), n = rnd(i % 100 == 0 ? 30000 : 600) + 1;
    for (size_t j = 0; j < set[k].count; j++)
      check(set[k].at[j].start == k && set[k].at[j].height == j % 64);
    if (i % 3 == 0)
      nodes_free(&small, &set[k]);
    check(nodes_reserve(&small, &set[k], n) == PPRF_OK && set[k].room >= n);
    for (; set[k].count < n; set[k].count++) {
      check(set[k].at[set[k].count].start == 0);
      set[k].at[set[k].count] = (struct node){.start = k, .height = set[k].count % 64};
    }
  }
  pid_t child = fork();
  if (child == 0) {
    for (size_t k = 0; k < SETS; k++)
      for (size_t j = 0; j < set[k].count; j++)
        if (set[k].at[j].start != 0 || set[k].at[j].height != 0)
          _exit(1);
    _exit(0);
  }
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0);
  char line[300];
  unsigned long from, to;
  bool here = false, seen = false;
  FILE *f = fopen("/proc/self/smaps", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
      here = from <= (uintptr_t)set[0].at && (uintptr_t)set[0].at < to;
    else if (here && strncmp(line, "VmFlags:", 8) == 0)
      seen = strstr(line, " dd") != NULL && strstr(line, " wf") != NULL;
  check(f != NULL && fclose(f) == 0 && seen);
  for (size_t k = 0; k < SETS; k++)
    nodes_free(&small, &set[k]);
  arena_end(&arena);
  check(arena.slabs == NULL);
  end_test(
    "nodes keep their memory, which no core dump and no child of fork has, until they are freed");
}

/* Erasures without a commit cut the page in memory; then ranges empty some of its parts. */
static void large_batches(void)
{
  enum { PART = 1100 };
  for (uint64_t parts = 1; parts <= 4; parts++)
    for (uint64_t kept = 0; kept < parts * PART; kept += kept < 400 ? 130 : 370)
      for (int end = 0; end < 2; end++) { /* where leaves are kept */
        uint64_t leaves = 2 * parts * PART, from = end == 0 ? 0 : leaves - 2 * kept, last;
        memset(value_of_cell, 0, CELL);
        pprf_vault *v = new_vault(memory(), 24, PPRF_AES_128);
        for (uint64_t i = 0; i < leaves; i += 2)
          check(pprf_vault_erase(v, i, NULL) == PPRF_OK);
        last = from + 2 * kept;
        check(pprf_vault_erase_range(v, last, (1 << 24) - 1, NULL) == PPRF_OK);
        check(from == 0 || pprf_vault_erase_range(v, 0, from - 1, NULL) == PPRF_OK);
        check(pprf_vault_commit(v, NULL) == PPRF_OK);
        v = reopen(v, memory());
        check(v != NULL && pprf_vault_verify(v, NULL) == PPRF_OK && nodes(v) == kept);
        uint8_t out[16];
        for (uint64_t i = from; i < last; i++)
          check(pprf_vault_eval(v, i, out) == (i % 2 == 1 ? PPRF_OK : PPRF_ERR_PUNCTURED));
        pprf_vault_close(v);
        no_files();
      }
  end_test("a commit of many erasures, of which ranges empty pages, opens again");
}

static void another_vfs(void)
{
  pid_t pid = fork();
  if (pid == 0) {
    static sqlite3_vfs other;
    other = *sqlite3_vfs_find("unix");
    other.zName = "other";
    check(sqlite3_vfs_register(&other, 1) == SQLITE_OK);
    pprf_vault *v = reopen(new_vault(in_file(), 24, PPRF_AES_128), in_file());
    check(v != NULL && pprf_vault_verify(v, NULL) == PPRF_OK);
    struct pprf_vault_cell cell = in_file();
    pprf_vault *second;
    check(pprf_vault_open(&second, store, &cell, NULL) == PPRF_VAULT_ERR_BUSY);
    pprf_vault_close(v);
    _exit(tap_missed);
  }
  int status;
  check(waitpid(pid, &status, 0) == pid && status == 0);
  no_files();
  end_test("a vault works where the program has replaced SQLite's way to files");
}

static void commits_by_themselves(void)
{
  struct pprf_vault_info info = {.size = sizeof info};
  memset(value_of_cell, 0, CELL);
  options.count = 3;
  pprf_vault *v = new_vault(memory(), 24, PPRF_AES_128);
  for (uint64_t i = 1; i < 8; i++)
    check(pprf_vault_erase(v, i, NULL) == PPRF_OK && pprf_vault_info(v, &info) == PPRF_OK &&
          info.final == i / 3 * 3);
  options.count = 0;
  options.seconds = 1;
  v = reopen(v, memory());
  for (uint64_t i = 0; i < 3000; i++) {
    check(pprf_vault_erase(v, 100 + i, NULL) == PPRF_OK && pprf_vault_info(v, &info) == PPRF_OK);
    if (info.final > 0)
      break;
    (void)usleep(10000);
  }
  check(info.final > 1 && info.final == info.erased);
  options.seconds = 0;
  pprf_vault_close(v);
  no_files();
  end_test(
    "an erasure commits if it is the third without a commit, or if the oldest is a second old");
}

static void backups(void)
{
  char copy[96];
  uint8_t out[16];
  snprintf(copy, sizeof copy, "%s.copy", store);
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 63, PPRF_AES_128);
  for (uint64_t i = 0; i < 300; i++)
    check(pprf_vault_erase(v, i << 54, NULL) == PPRF_OK);
  check(pprf_vault_commit(v, NULL) == PPRF_OK);
  full = ".copy";
  check(pprf_vault_backup(v, copy) == PPRF_VAULT_ERR_STORE && access(copy, F_OK) != 0);
  full = NULL;
  char other[120];
  snprintf(other, sizeof other, "%s-wal", copy); /* SQLite would take it for the copy's */
  check(link(store, other) == 0);
  check(pprf_vault_backup(v, copy) == PPRF_VAULT_ERR_EXISTS && unlink(other) == 0);
  check(pprf_vault_backup(v, other) == PPRF_VAULT_ERR_STORE && access(other, F_OK) != 0);
  no_flags = true; /* as on a network disk */
  check(pprf_vault_backup(v, copy) == PPRF_OK && unlink(copy) == 0);
  no_flags = false;
  meanwhile = copy; /* another one is quicker */
  check(pprf_vault_backup(v, copy) == PPRF_VAULT_ERR_EXISTS && meanwhile == NULL &&
        unlink(copy) == 0);
  check(pprf_vault_backup(v, copy) == PPRF_OK);
  check(pprf_vault_backup(v, copy) == PPRF_VAULT_ERR_EXISTS &&
        pprf_vault_backup(v, store) == PPRF_VAULT_ERR_EXISTS &&
        pprf_vault_backup(v, NULL) == PPRF_ERR_NULL);
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK);
  pprf_vault_close(v); /* without a commit */
  check(rename(copy, store) == 0);
  v = again(memory());
  check(pprf_vault_verify(v, NULL) == PPRF_OK && pprf_vault_eval(v, 0, out) == PPRF_ERR_PUNCTURED &&
        pprf_vault_eval(v, 1, out) == PPRF_OK);
  pprf_vault_close(v);
  no_files();
  end_test("a backup of an open vault is whole, and nothing is written over");
}

/* ---- copies of the files; test_faults.c has what a crash leaves */

static void is_refused(struct pprf_vault_cell cell, int err, const char *text)
{
  pprf_vault *v;
  int is = pprf_vault_open(&v, store, &cell, &options);
  check(is == err && v == NULL && strstr(pprf_vault_error(), text) != NULL);
  if (is != err || strstr(pprf_vault_error(), text) == NULL)
    tap_note("%d, not %d: %s", is, err, pprf_vault_error());
}

static void does_not_open(const struct image *image, struct pprf_vault_cell cell, int err,
                          const char *text)
{
  put_image(image);
  is_refused(cell, err, text);
}

static void copies(void)
{
  enum { N = 5 };
  struct image image[N];
  uint8_t cell[N][CELL];
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 5, PPRF_SHA3_256);
  for (int i = 0; i < N; i++) {
    check(pprf_vault_erase(v, (uint64_t)(4 * i), NULL) == PPRF_OK);
    check(pprf_vault_commit(v, NULL) == PPRF_OK);
    memcpy(cell[i], value_of_cell, CELL);
    image[i] = take_image();
  }
  pprf_vault_close(v);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      memcpy(value_of_cell, cell[k], CELL);
      if (k > i)
        does_not_open(&image[i], memory(), PPRF_VAULT_ERR_ROLLBACK, "the store was restored");
      else if (k < i - 1) /* its root is gone */
        does_not_open(&image[i], memory(), PPRF_VAULT_ERR_ROLLBACK, "the cell was restored");
      else {
        put_image(&image[i]);
        pprf_vault_close(again(memory()));
      }
    }
  memcpy(value_of_cell, cell[N - 1], CELL);
  value_of_cell[31] ^= 1;
  does_not_open(&image[N - 1], memory(), PPRF_VAULT_ERR_DAMAGED, "root");
  memset(value_of_cell, 0, CELL);
  does_not_open(&image[N - 1], memory(), PPRF_VAULT_ERR_CELL, "never held");
  image[0].file[2] = read_file("/proc/self/exe");
  does_not_open(&image[0], in_file(), PPRF_VAULT_ERR_CELL, "damaged");
  end_test(
    "a store or a cell from a copy, a foreign cell, a damaged and an empty one are told apart");
  for (int i = 0; i < N; i++)
    free_image(&image[i]);
  no_files();
}

/* ---- damage */

/* Change rows of a database. @return how many */
static int change(const char *file, const char *format, ...)
{
  sqlite3 *raw;
  va_list args;
  va_start(args, format);
  char *text = sqlite3_vmprintf(format, args);
  va_end(args);
  check(sqlite3_open(file, &raw) == SQLITE_OK &&
        sqlite3_exec(raw, text, NULL, NULL, NULL) == SQLITE_OK);
  sqlite3_free(text);
  int changed = sqlite3_total_changes(raw);
  sqlite3_close(raw);
  return changed;
}

static void damaged_pages(void)
{
  static const char *const harm[] = {
    "UPDATE page SET sealed = zeroblob(length(sealed)) WHERE row = %d",
    "UPDATE page SET sealed = substr(sealed, 1, length(sealed) - 1) WHERE row = %d",
    "UPDATE page SET sealed = x'00' WHERE row = %d",
    "DELETE FROM page WHERE row = %d",
    "UPDATE page SET sealed = (SELECT o.sealed FROM page o WHERE o.row != page.row LIMIT 1) WHERE row = %d",
    "UPDATE page SET sealed = zeroblob(5000) WHERE row = %d"};
  uint8_t out[16];
  int rows = 2; /* 1: the first root */
  pprf_vault *v;
  random_vault(40);
  struct image image = take_image();
  for (bool more = true; more && tap_missed == 0; rows++)
    for (size_t k = 0; k < sizeof harm / sizeof *harm; k++) {
      char page[32];
      snprintf(page, sizeof page, "page %d:", rows);
      put_image(&image);
      if (!(more = change(store, harm[k], rows) > 0))
        break;
      struct pprf_vault_cell cell = memory();
      struct bytes harmed = read_file(store);
      int err = pprf_vault_open(&v, store, &cell, NULL);
      if (err == PPRF_OK) {
        err = pprf_vault_verify(v, NULL);
        check(pprf_vault_erase(v, 0, NULL) == PPRF_VAULT_ERR_DAMAGED);
        check(pprf_vault_commit(v, NULL) == PPRF_VAULT_ERR_DAMAGED);
        check(pprf_vault_eval(v, rnd(INT64_MAX), out) != PPRF_VAULT_ERR_CLOSED);
      }
      check(err == PPRF_VAULT_ERR_DAMAGED && strstr(pprf_vault_error(), "page") != NULL);
      if (v == NULL)
        check(strstr(pprf_vault_error(), page) != NULL);
      pprf_vault_close(v);
      struct bytes then = read_file(store);
      check(then.len == harmed.len && memcmp(then.at, harmed.at, then.len) == 0);
      free(harmed.at);
      free(then.at);
    }
  check(rows > 10);
  put_image(&image);
  (void)change(store, "ALTER TABLE vault RENAME TO v; CREATE VIEW vault AS WITH RECURSIVE r(n) AS "
                      "(SELECT 1 UNION ALL SELECT n + 1 FROM r) "
                      "SELECT n AS id, NULL AS head FROM r WHERE n < 0"); /* endless */
  is_refused(memory(), PPRF_VAULT_ERR_DAMAGED, "not a vault");
  put_image(&image);
  check(truncate(store, 100) == 0);
  free(image.file[0].at);
  image.file[0] = read_file(store);
  does_not_open(&image, memory(), PPRF_VAULT_ERR_DAMAGED, "store");
  free_image(&image);
  no_files();
  end_test("a damaged, foreign, short or missing page is named, and nothing is written then");
}

static long most_memory(void)
{
  struct rusage used;
  check(getrusage(RUSAGE_SELF, &used) == 0);
  return used.ru_maxrss; /* in kB */
}

/* What lies unsealed in the store may say anything: it does not stop a vault, nor take its memory. */
static void foreign_numbers(void)
{
  static const char *const harm[] = {
    "INSERT INTO page VALUES (9223372036854775807, x'00')",
    "INSERT INTO page VALUES (4611686018427387903, x'00')",
    "INSERT INTO page SELECT max(row) + 4294967295, x'00' FROM page",
    "INSERT INTO page VALUES (-1, x'00')",
    "INSERT INTO root SELECT 9223372036854775807, max(row), salt FROM root",
    "INSERT INTO root SELECT max(counter) + 1048576, row, salt FROM root",
    "INSERT INTO root VALUES (-1, -1, x'00')"};
  uint8_t kept[CELL], out[16];
  random_vault(200);
  pprf_vault *v = again(memory());
  check(pprf_vault_erase_range(v, UINT64_C(1) << 50, INT64_MAX, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  struct image image = take_image();
  memcpy(kept, value_of_cell, CELL);
  for (size_t k = 0; k <= sizeof harm / sizeof *harm; k++) {
    memcpy(value_of_cell, kept, CELL);
    put_image(&image);
    if (k == 0) { /* a database of 2^25 pages, nearly all of them a hole */
      uint8_t pages[4] = {2};
      int fd = open(store, O_WRONLY);
      check(pwrite(fd, pages, 4, 28) == 4 && ftruncate(fd, (off_t)4096 << 25) == 0 &&
            close(fd) == 0);
    } else
      check(change(store, harm[k - 1]) > 0);
    for (int round = 1; round <= 4; round += 3) { /* commits that need more rows than are free */
      v = again(memory());
      long before = most_memory();
      for (int i = 0; i < 300 * round; i++) {
        check(pprf_vault_erase(v, 4 * rnd(UINT64_C(1) << 48) + (unsigned)round / 2, NULL) ==
              PPRF_OK);
        check((i != 0 && i != 300 * round - 1) || pprf_vault_commit(v, NULL) == PPRF_OK);
      }
      check(most_memory() - before < 32 << 10);
      pprf_vault_close(v);
    }
    v = again(memory());
    check(pprf_vault_verify(v, NULL) == PPRF_OK && pprf_vault_eval(v, 3, out) == PPRF_OK);
    pprf_vault_close(v);
  }
  free_image(&image);
  no_files();
  end_test("foreign rows, roots and holes in the store neither stop a vault nor take its memory");
}

/* Three levels, of which the lowest is damaged, and no room: pages go as soon as they were used. */
static void damage_and_no_cache(void)
{
  uint8_t out[16];
  int good = 0, bad = 0;
  pprf_vault *v;
  random_vault(400);
  check(change(store, "UPDATE page SET sealed = x'00' WHERE row %% 2 = 1 AND "
                      "row < (SELECT count(*) / 2 FROM page)") > 0);
  options.cache_bytes = 1;
  v = again(memory());
  for (int i = 0; i < 200; i++) {
    int err = pprf_vault_eval(v, rnd(INT64_MAX), out);
    good += err == PPRF_OK;
    bad += err == PPRF_VAULT_ERR_DAMAGED;
  }
  check(good > 20 && bad > 10 && good + bad == 200);
  options.cache_bytes = 0;
  pprf_vault_close(v);
  no_files();
  end_test("beside damaged pages all others give values, without a cache too");
}

/* ---- one process, many threads */

static void *worker(void *arg)
{
  pprf_vault *v = arg;
  uint8_t out[16];
  static _Atomic uint64_t next;
  for (int i = 0; i < 300; i++) {
    uint64_t leaf = next++;
    if (pprf_vault_erase(v, 2 * leaf, NULL) != PPRF_OK ||
        pprf_vault_eval(v, 2 * leaf, out) != PPRF_ERR_PUNCTURED ||
        pprf_vault_eval(v, 2 * leaf + 1, out) != PPRF_OK ||
        (i % 50 == 0 && pprf_vault_commit(v, NULL) != PPRF_OK))
      return v;
  }
  return NULL;
}

static void threads_and_processes(void)
{
  pthread_t thread[4];
  uint64_t final;
  void *failed = NULL;
  pprf_vault *v = new_vault(in_file(), 24, PPRF_SHA3_256), *second;
  for (int i = 0; i < 4; i++)
    check(pthread_create(&thread[i], NULL, worker, v) == 0);
  for (int i = 0; i < 4; i++)
    check(pthread_join(thread[i], &failed) == 0 && failed == NULL);
  check(pprf_vault_commit(v, &final) == PPRF_OK && final == 1200);
  struct pprf_vault_cell cell = in_file();
  check(pprf_vault_open(&second, store, &cell, NULL) == PPRF_VAULT_ERR_BUSY && second == NULL);
  pid_t pid = fork();
  if (pid == 0) {
    uint8_t out[16];
    cell = in_file();
    bool good = pprf_vault_eval(v, 1, out) == PPRF_ERR_FORKED &&
                pprf_vault_commit(v, NULL) == PPRF_ERR_FORKED &&
                pprf_vault_open(&second, store, &cell, NULL) == PPRF_VAULT_ERR_BUSY;
    pprf_vault_close(v);
    _exit(good ? 0 : 1);
  }
  int status;
  check(waitpid(pid, &status, 0) == pid && status == 0);
  int copied =
    open(store, O_RDONLY); /* as a backup does: its close gives up the process's own locks */
  check(copied >= 0 && close(copied) == 0);
  pid = fork();
  if (pid == 0) { /* nor may another program write to the database */
    sqlite3 *db;
    _exit(sqlite3_open(store, &db) == SQLITE_OK &&
              sqlite3_exec(db, "SELECT count(*) FROM page", NULL, NULL, NULL) == SQLITE_BUSY
            ? 0
            : 1);
  }
  check(waitpid(pid, &status, 0) == pid && status == 0);
  char command[200]; /* a program of its own, after handles of this process were refused */
  snprintf(command, sizeof command, "exec /proc/%d/exe --open %s", (int)getpid(), store);
  check(WEXITSTATUS(system(command)) == PPRF_VAULT_ERR_BUSY);
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  pid = fork();
  if (pid == 0)
    for (;;)
      pause();
  v = reopen(v, in_file()); /* while a child has a copy */
  check(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
  check(v != NULL && pprf_vault_verify(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  int ends[2], lives[2];
  check(pipe(ends) == 0 && pipe(lives) == 0);
  pid = fork();
  if (pid == 0) { /* a process that is killed; its child lives until the pipe closes */
    v = again(in_file());
    if (fork() == 0) {
      (void)close(ends[1]);
      (void)!write(lives[1], "", 1);
      _exit((int)read(ends[0], command, 1));
    }
    (void)!read(lives[0], command, 1);
    (void)kill(getpid(), SIGKILL);
  }
  check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
  v = again(in_file());
  check(v != NULL);
  pprf_vault_close(v);
  check(close(ends[0]) + close(ends[1]) + close(lives[0]) + close(lives[1]) == 0);
  no_files();
  end_test("threads take turns, other processes and children are refused");
}

/* The cell is another vault's too: the one that did not write it last says so, and loses nothing. */
static void one_cell_of_two(void)
{
  uint64_t final;
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 24, PPRF_AES_128);
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_erase(v, 2, NULL) == PPRF_OK);
  value_of_cell[9] ^= 1;
  check(pprf_vault_commit(v, &final) == PPRF_VAULT_ERR_CELL && final == 1 &&
        strstr(pprf_vault_error(), "no longer") != NULL);
  value_of_cell[9] ^= 1;
  check(pprf_vault_commit(v, &final) == PPRF_OK && final == 2);
  pprf_vault_close(v);
  no_files();
  end_test("a vault whose cell something else has written changes nothing");
}

/* A request for one value at a time, which arrives later. */
static uint8_t late[CELL];
static int write_late(void *arg, const uint8_t value[CELL])
{
  (void)arg;
  memcpy(late, value, CELL);
  return PPRF_VAULT_ERR_UNKNOWN;
}

static pprf_vault *forks;
static int forked;
static int write_forking(void *arg, const uint8_t value[CELL])
{
  (void)arg;
  pid_t child = fork();
  if (child == 0) {
    pprf_vault_close(forks);
    _exit(0);
  }
  memcpy(value_of_cell, value, CELL);
  return waitpid(child, &forked, 0) == child ? PPRF_OK : PPRF_VAULT_ERR_UNKNOWN;
}

/* To the child, the commit looks like another thread's. */
static void a_fork_in_a_call(void)
{
  struct pprf_vault_cell cell = memory();
  memset(value_of_cell, 0, CELL);
  forks = new_vault(cell, 24, PPRF_AES_128);
  pprf_vault_close(forks);
  cell.write = write_forking;
  forks = again(cell);
  forked = 1;
  check(pprf_vault_erase(forks, 5, NULL) == PPRF_OK && pprf_vault_commit(forks, NULL) == PPRF_OK);
  check(forked == 0 && pprf_vault_verify(forks, NULL) == PPRF_OK);
  pprf_vault_close(forks);
  no_files();
  end_test("a child that was forked in the middle of a call closes its copy");
}

/* Two handles try to commit, with many free rows; then the request of the first one arrives. */
static void a_late_request(void)
{
  uint8_t first[CELL], out[16];
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 63, PPRF_AES_128);
  for (int i = 0; i < 200; i++)
    check(pprf_vault_erase(v, 4 + rnd(INT64_MAX - 4), NULL) == PPRF_OK);
  check(pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_erase_range(v, 4, INT64_MAX, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  for (uint64_t leaf = 0; leaf < 2; leaf++) {
    struct pprf_vault_cell cell = memory();
    cell.write = write_late;
    v = again(cell);
    check(leaf == 0 || pprf_vault_verify(v, NULL) == PPRF_OK);
    check(pprf_vault_erase(v, leaf, NULL) == PPRF_OK &&
          pprf_vault_commit(v, NULL) == PPRF_VAULT_ERR_UNKNOWN);
    pprf_vault_close(v);
    if (leaf == 0)
      memcpy(first, late, CELL);
  }
  memcpy(value_of_cell, first, CELL);
  v = again(memory());
  check(pprf_vault_verify(v, NULL) == PPRF_OK && pprf_vault_eval(v, 0, out) == PPRF_ERR_PUNCTURED &&
        pprf_vault_eval(v, 1, out) == PPRF_OK);
  pprf_vault_close(v);
  no_files();
  end_test("what a late request confirms is whole, whatever was tried after it");
}

/* ---- records, mirrors, arguments */

static void records(void)
{
  static const size_t lengths[] = {0, 1, 15, 16, 17, 4096, 100000};
  uint8_t *text = malloc(100000), *sealed = malloc(100028), *out = malloc(100000), zero[32] = {0};
  pprf_vault *v = new_vault(in_file(), 24, PPRF_MLS_SHA256);
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    size_t n = lengths[i], bit = rnd(8 * (n + 28));
    for (size_t k = 0; k < n; k++)
      text[k] = (uint8_t)rnd(256);
    check(pprf_vault_seal(v, i, text, n, sealed) == PPRF_OK);
    memset(out, 1, n);
    check(pprf_vault_unseal(v, i, sealed, n + 28, out) == PPRF_OK && memcmp(out, text, n) == 0);
    check(pprf_vault_unseal(v, i + 100, sealed, n + 28, out) == PPRF_VAULT_ERR_RECORD);
    sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    check(pprf_vault_unseal(v, i, sealed, n + 28, out) == PPRF_VAULT_ERR_RECORD);
    check(memcmp(out, zero, n < 32 ? n : 32) == 0);
    sealed[bit / 8] ^= (uint8_t)(1 << bit % 8);
    check(pprf_vault_erase(v, i, NULL) == PPRF_OK);
    check(pprf_vault_unseal(v, i, sealed, n + 28, out) == PPRF_ERR_PUNCTURED);
    check(pprf_vault_seal(v, i, text, n, sealed) == PPRF_ERR_PUNCTURED);
  }
  check(pprf_vault_unseal(v, 50, sealed, 27, out) == PPRF_VAULT_ERR_RECORD);
  pprf_vault_close(v);
  no_files();
  free(text);
  free(sealed);
  free(out);
  end_test("records open under their own id, unchanged, until it is erased");
}

/* Does the vault say this of its mirror?  NULL: nothing. */
static bool notice_has(const char *text)
{
  struct pprf_vault_info info = {.size = sizeof info};
  pprf_vault *v = again(in_file());
  check(pprf_vault_info(v, &info) == PPRF_OK);
  bool has = text == NULL ? info.notice == NULL : info.notice && strstr(info.notice, text);
  pprf_vault_close(v);
  return has;
}

/* Open with the mirror: is the user told what was wrong with it, and are both whole then? */
static void is_repaired(const char *told)
{
  const char *mirror = options.mirror;
  uint64_t both = 0, one = 1;
  check(notice_has(told));
  pprf_vault *v = again(in_file());
  check(pprf_vault_erase(v, 15000000 + rnd(1000000), NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK && pprf_vault_verify(v, &both) == PPRF_OK);
  pprf_vault_close(v);
  struct image image = take_image();
  for (int i = 0; i < 2; i++) /* the disk is dead */
    put_bytes(file_name(i), &image.file[3 + i]);
  options.mirror = NULL;
  v = again(in_file());
  check(pprf_vault_verify(v, &one) == PPRF_OK && both == 2 * one);
  for (uint64_t leaf = 0; leaf < 4000; leaf++)
    check(pprf_vault_eval(v, leaf, (uint8_t[16]){0}) ==
          (leaf == 7 || (leaf >= 100 && leaf <= 3000) ? PPRF_ERR_PUNCTURED : PPRF_OK));
  pprf_vault_close(v);
  options.mirror = mirror;
  put_image(&image);
  free_image(&image);
}

static const char all_but_roots[] = "DELETE FROM page WHERE row NOT IN (SELECT row FROM root)";

/* A vault with a mirror. @return its files */
static struct image mirrored(void)
{
  static char mirror[80];
  snprintf(mirror, sizeof mirror, "%s/mirror", dir);
  check(mkdir(mirror, 0700) == 0);
  options.mirror = mirror;
  pprf_vault *v = new_vault(in_file(), 24, PPRF_AES_128);
  for (uint64_t i = 1; i < 300; i++) /* several pages */
    check(pprf_vault_erase(v, i * 50000, NULL) == PPRF_OK);
  check(pprf_vault_erase(v, 7, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  return take_image();
}

static void no_mirror(struct image *older)
{
  free_image(older);
  no_files();
  check(rmdir(options.mirror) == 0);
  options.mirror = NULL;
}

static void commit_range(uint64_t first, uint64_t last)
{
  pprf_vault *v = again(in_file());
  check(pprf_vault_erase_range(v, first, last, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
}

static void mirrors(void)
{
  struct image older = mirrored();
  const char *mirror = options.mirror, *copy = strdup(file_name(3));
  options.mirror = NULL; /* a commit without it */
  check(notice_has("not written now"));
  commit_range(100, 3000);
  options.mirror = mirror;
  is_repaired("not of the same commit");
  is_repaired(NULL);
  put_bytes(copy, &older.file[3]);
  is_repaired("not of the same commit");
  for (int page = 3; page < 5; page++) { /* of SQLite: the first one of a table */
    struct bytes now = read_file(copy);
    memset(now.at + (ptrdiff_t)4096 * (page - 1), 0xff, 4096);
    put_bytes(copy, &now);
    free(now.at);
    is_repaired("made anew");
  }
  check(change(copy, all_but_roots) > 0);
  is_repaired("no such row");
  check(change(copy, "UPDATE page SET sealed = zeroblob(4056)") > 0);
  is_repaired("does not open under its key");
  unlink(copy);
  is_repaired("there was none");
  options.mirror = ""; /* it is given up, and the vault asks for it no more */
  check(notice_has(NULL));
  options.mirror = NULL;
  check(notice_has(NULL));
  options.mirror = mirror;
  no_mirror(&older);
  free((void *)copy);
  end_test("a mirror that is missing, old or damaged is made anew, and opens in the store's place");
}

static bool has_bytes(const char *name, const struct bytes *b)
{
  struct bytes its = read_file(name);
  bool has = its.len == b->len && memcmp(its.at, b->at, b->len) == 0;
  free(its.at);
  return has;
}

static void mirrors_that_are_kept(void)
{
  struct image older = mirrored();
  struct bytes text = {(uint8_t *)"another program's words", 23};
  const char *copy = strdup(file_name(3));
  commit_range(100, 3000);
  put_bytes(copy, &text);
  is_refused(in_file(), PPRF_VAULT_ERR_DAMAGED, "move the file away");
  check(has_bytes(copy, &text));
  put_bytes(copy, &older.file[3]);
  full = "/mirror/";
  is_refused(in_file(), PPRF_VAULT_ERR_STORE, "full");
  full = NULL;
  is_repaired("not of the same commit");
  pprf_vault *v = again(in_file()); /* nothing is final without it */
  full = "/mirror/";
  check(pprf_vault_erase(v, 8, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_VAULT_ERR_CLOSED && strstr(pprf_vault_error(), "full"));
  full = NULL;
  pprf_vault_close(v);
  is_repaired("not of the same commit");
  put_bytes(copy, &older.file[3]); /* a store that is not whole never goes over its mirror */
  check(change(store, all_but_roots) > 0);
  is_refused(in_file(), PPRF_VAULT_ERR_DAMAGED, "not made anew, as the store is not whole: page");
  check(has_bytes(copy, &older.file[3]));
  put_image(&older); /* it loses pages that the mirror has */
  v = again(in_file());
  for (uint64_t leaf = 15000001; leaf < 15000003; leaf++)
    check(pprf_vault_erase(v, leaf, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  check(change(store, "DELETE FROM page WHERE row > (SELECT row FROM root ORDER BY counter DESC)"));
  v = again(in_file());
  check(pprf_vault_erase(v, 5000001, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_verify(v, NULL) == PPRF_VAULT_ERR_DAMAGED);
  pprf_vault_close(v);
  struct bytes its = read_file(copy);
  put_bytes(store, &its);
  v = again(in_file());
  check(pprf_vault_verify(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  free(its.at);
  no_mirror(&older);
  free((void *)copy);
  end_test("a mirror is never lost to a store that is not whole, nor another program's file");
}

static void arguments(void)
{
  struct pprf_options o = tree(24, PPRF_AES_128);
  struct pprf_vault_cell cell = in_file();
  pprf_vault *v;
  uint8_t out[16];
  check(pprf_vault_create(&v, "/no/such/folder/vault", &cell, &o, NULL) == PPRF_VAULT_ERR_STORE &&
        v == NULL);
  cell = in_file();
  check(pprf_vault_open(&v, store, &cell, NULL) == PPRF_VAULT_ERR_STORE && v == NULL);
  o.depth = 64;
  cell = in_file();
  check(pprf_vault_create(&v, store, &cell, &o, NULL) == PPRF_ERR_RANGE &&
        access(store, F_OK) != 0);
  o.depth = 24;
  v = new_vault(in_file(), 24, PPRF_AES_128);
  pprf_vault *w;
  pprf_vault_close(v);
  cell = in_file();
  check(pprf_vault_create(&w, store, &cell, &o, NULL) ==
        PPRF_VAULT_ERR_EXISTS); /* the cell's value */
  unlink(cell_file);
  cell = in_file();
  check(pprf_vault_create(&w, store, &cell, &o, NULL) == PPRF_VAULT_ERR_EXISTS); /* the store */
  check(access(cell_file, F_OK) != 0 && access(store, F_OK) == 0);
  check(pprf_vault_open(NULL, store, &cell, NULL) == PPRF_ERR_NULL &&
        pprf_vault_open(&v, store, NULL, NULL) == PPRF_ERR_NULL);
  check(pprf_vault_eval(NULL, 0, out) == PPRF_ERR_NULL &&
        pprf_vault_commit(NULL, NULL) == PPRF_ERR_NULL);
  no_files();
  end_test("wrong arguments are refused, and change no file");
}

/* The file or its directory cannot be written, or the process gets no word of its children. */
static void what_opening_needs(void)
{
  struct pprf_vault_cell cell;
  pprf_vault *v;
  char open_again[120];
  pprf_vault_close(new_vault(in_file(), 24, PPRF_AES_128));
  pid_t printing = fork();
  if (printing == 0) { /* without standard streams: what is printed there goes into no file */
    for (int fd = 0; fd < 3; fd++)
      (void)close(fd);
    cell = in_file();
    int err = pprf_vault_open(&v, store, &cell, NULL);
    for (int fd = 0; fd < 3; fd++)
      (void)!write(fd, "printed", 7);
    pprf_vault_close(v);
    _exit(err);
  }
  int printed;
  check(waitpid(printing, &printed, 0) == printing && printed == 0);
  pprf_vault_close(again(in_file()));
  check(chmod(dir, 0777) == 0 && chmod(cell_file, 0666) == 0);
  for (int i = 0; i < 3; i++) {
    check(chmod(store, i == 0 ? 0444 : 0666) == 0 && chmod(dir, i == 1 ? 0555 : 0777) == 0);
    pid_t pid = fork();
    if (pid == 0) {
      bool user = geteuid() != 0 || seteuid(65534) == 0;
      cell = in_file();
      int err = pprf_vault_open(&v, store, &cell, NULL);
      pprf_vault_close(v);
      _exit(!user ? 1
            : i == 2
              ? err != PPRF_OK
              : err != PPRF_VAULT_ERR_STORE || !strstr(pprf_vault_error(), "Permission denied: "));
    }
    int status;
    check(waitpid(pid, &status, 0) == pid && status == 0);
  }
  check(chmod(dir, 0700) == 0);
  (void)signal(SIGCHLD, SIG_IGN);
  snprintf(open_again, sizeof open_again, "cat %s #", cell_file);
  check(pprf_vault_cell(&cell, open_again) == PPRF_OK);
  check(pprf_vault_open(&v, store, &cell, NULL) == PPRF_VAULT_ERR_CELL &&
        strstr(pprf_vault_error(), "SIGCHLD") != NULL);
  (void)signal(SIGCHLD, SIG_DFL);
  no_files();
  end_test("a store that cannot be written, and a process without SIGCHLD, get a clear error");
}

/* A killed process left a log, and the disk is full. */
static void a_full_disk(void)
{
  uint8_t out[16];
  pprf_vault *v = new_vault(in_file(), 63, PPRF_AES_128);
  for (uint64_t i = 0; i < 40; i++)
    check(pprf_vault_erase(v, i << 57, NULL) == PPRF_OK);
  check(pprf_vault_commit(v, NULL) == PPRF_OK);
  struct image image = take_image();
  pprf_vault_close(v);
  put_image(&image);
  check(image.file[1].len > 40000);
  full = "/";
  v = again(in_file());
  check(pprf_vault_eval(v, 0, out) == PPRF_ERR_PUNCTURED && pprf_vault_eval(v, 1, out) == PPRF_OK);
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_VAULT_ERR_STORE);
  full = NULL;
  check(pprf_vault_commit(v, NULL) == PPRF_OK && pprf_vault_eval(v, 1, out) == PPRF_ERR_PUNCTURED);
  check(pprf_vault_erase_range(v, 2, INT64_MAX, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK);
  v = reopen(v, in_file());
  check(pprf_vault_erase(v, 0, NULL) == PPRF_ERR_PUNCTURED &&
        pprf_vault_erase(v, INT64_MAX, NULL) == PPRF_ERR_PUNCTURED);
  full = "/";
  check(pprf_vault_verify(v, NULL) == PPRF_OK && pprf_vault_eval(v, 1, out) == PPRF_ERR_PUNCTURED);
  full = NULL;
  check(pprf_vault_verify(v, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  free_image(&image);
  no_files();
  end_test("a vault on a full disk opens and evaluates, and commits when there is room again");
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "--open") == 0) {
    uint8_t any[CELL] = {1};
    struct pprf_vault_cell cell;
    pprf_vault *v;
    (void)pprf_vault_cell_memory(&cell, any);
    return pprf_vault_open(&v, argv[2], &cell, NULL);
  }
  seed = argc > 1 ? strtoull(argv[1], NULL, 0) : tap_seed();
  state = seed;
  tap_note("seed %llu", (unsigned long long)seed);
  snprintf(dir, sizeof dir, "%s/pprf-vault-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (mkdtemp(dir) == NULL)
    return 1;
  snprintf(store, sizeof store, "%s/vault", dir);
  snprintf(cell_file, sizeof cell_file, "%s/vault.cell", dir);
  snprintf(cell_spec, sizeof cell_spec, "file:%s", cell_file);
  arguments();
  records();
  mirrors();
  mirrors_that_are_kept();
  commits_by_themselves();
  large_batches();
  another_vfs();
  backups();
  copies();
  damaged_pages();
  damage_and_no_cache();
  foreign_numbers();
  threads_and_processes();
  one_cell_of_two();
  a_late_request();
  a_fork_in_a_call();
  what_opening_needs();
  a_full_disk();
  leaf_pages();
  memory_of_nodes();
  pages_stay_full();
  a_vault_equals_one_key();
  rmdir(dir);
  return tap_end();
}
