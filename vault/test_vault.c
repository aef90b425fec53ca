/* SPDX-License-Identifier: Apache-2.0 */
/* The vault against ref, and in every state that a crash, a bad cell or a damaged store can leave.
 * usage: test_vault [SEED] */
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tools/tap.h"
#include "impls/impl.h"
#include "page.h"
#include "pprf_vault.h"

#define check(...) tap_check((__VA_ARGS__), "line %d: %s", __LINE__, #__VA_ARGS__)
enum { CELL = PPRF_VAULT_CELL_BYTES, RECENT = 64, ROWS = 4000 };
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

static void put_image(const struct image *image)
{
  for (int i = 0; i < FILES; i++) {
    unlink(file_name(i));
    int fd = image->file[i].at == NULL ? -1 : open(file_name(i), O_WRONLY | O_CREAT, 0600);
    if (fd >= 0 && write(fd, image->file[i].at, image->file[i].len) != (ssize_t)image->file[i].len)
      abort();
    if (fd >= 0)
      close(fd);
  }
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
  check(pprf_vault_verify(v, &live) == PPRF_OK);
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

/* ---- copies of the files; test_faults.c has what a crash leaves */

static void does_not_open(const struct image *image, struct pprf_vault_cell cell, int err,
                          const char *text)
{
  pprf_vault *v;
  put_image(image);
  int is = pprf_vault_open(&v, store, &cell, &options);
  check(is == err && v == NULL && strstr(pprf_vault_error(), text) != NULL);
  if (is != err || strstr(pprf_vault_error(), text) == NULL)
    tap_note("%d, not %d: %s", is, err, pprf_vault_error());
}

static void copies(void)
{
  struct image after[4] = {{{{0}}}};
  uint8_t cells[4][CELL], older[3][CELL], now[CELL];
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 5, PPRF_SHA3_256);
  for (int i = 0; i < 4; i++) {
    memcpy(cells[i], value_of_cell, CELL);
    check(pprf_vault_erase(v, (uint64_t)(8 * i), NULL) == PPRF_OK);
    check(pprf_vault_commit(v, NULL) == PPRF_OK);
    pprf_vault_close(v);
    after[i] = take_image();
    v = again(memory());
  }
  for (int i = 0; i < 3; i++) { /* one handle */
    memcpy(older[i], value_of_cell, CELL);
    check(pprf_vault_erase(v, (uint64_t)(8 * i + 1), NULL) == PPRF_OK);
    check(pprf_vault_commit(v, NULL) == PPRF_OK);
  }
  memcpy(now, value_of_cell, CELL);
  pprf_vault_close(v);
  struct image last = take_image();
  for (int i = 0; i < 2; i++) {
    memcpy(value_of_cell, older[i], CELL);
    does_not_open(&last, memory(), PPRF_VAULT_ERR_ROLLBACK, "the cell was restored");
  }
  memcpy(now, older[0], CELL);
  for (int i = 0; i < 4; i++) {
    memcpy(value_of_cell, now, CELL);
    if (i < 3)
      does_not_open(&after[i], memory(), PPRF_VAULT_ERR_ROLLBACK, "the store was restored");
    memcpy(value_of_cell, cells[i], CELL); /* two or more commits old: its root is gone */
    if (i < 3)
      does_not_open(&after[3], memory(), PPRF_VAULT_ERR_ROLLBACK, "the cell was restored");
  }
  memcpy(value_of_cell, now, CELL);
  value_of_cell[31] ^= 1;
  does_not_open(&after[3], memory(), PPRF_VAULT_ERR_DAMAGED, "root");
  memset(value_of_cell, 0, CELL);
  does_not_open(&after[3], memory(), PPRF_VAULT_ERR_CELL, "never held");
  end_test("a store or a cell from a copy, a foreign cell and an empty one are told apart");
  for (int i = 0; i < 4; i++)
    free_image(&after[i]);
  no_files();
}

static void a_damaged_cell(void)
{
  pprf_vault_close(new_vault(in_file(), 5, PPRF_AES_128));
  struct image image = take_image();
  memset(image.file[2].at, 1, image.file[2].len);
  does_not_open(&image, in_file(), PPRF_VAULT_ERR_CELL, "damaged");
  free_image(&image);
  no_files();
  end_test("a damaged file of a cell is told");
}

/* ---- damage */

static sqlite3 *raw;
static int sql(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = sqlite3_vmprintf(format, args);
  va_end(args);
  int code = sqlite3_exec(raw, text, NULL, NULL, NULL);
  sqlite3_free(text);
  return code;
}

static void damaged_pages(void)
{
  static const char *const harm[] = {
    "UPDATE page SET sealed = zeroblob(length(sealed)) WHERE row = %d",
    "UPDATE page SET sealed = substr(sealed, 1, length(sealed) - 1) WHERE row = %d",
    "UPDATE page SET sealed = x'00' WHERE row = %d",
    "DELETE FROM page WHERE row = %d",
    "UPDATE page SET sealed = (SELECT o.sealed FROM page o WHERE o.row != page.row LIMIT 1) WHERE row = %d",
    "UPDATE page SET sealed = zeroblob(5000) WHERE row = %d",
    "INSERT INTO page VALUES (9223372036854775807 - %d, x'00')"};
  int rows[400], count = 0;
  sqlite3_stmt *st;
  uint8_t out[16];
  pprf_vault *v;
  random_vault(40);
  struct image image = take_image();
  check(sqlite3_open(store, &raw) == SQLITE_OK);
  /* 1: the first root */
  sqlite3_prepare_v2(raw, "SELECT row FROM page WHERE row > 1", -1, &st, NULL);
  while (sqlite3_step(st) == SQLITE_ROW && count < 400)
    rows[count++] = sqlite3_column_int(st, 0);
  sqlite3_finalize(st);
  sqlite3_close(raw);
  check(count > 10);
  for (int i = 0; i < count; i++)
    for (size_t k = 0; k < sizeof harm / sizeof *harm; k++) {
      char page[32];
      snprintf(page, sizeof page, "page %d:", rows[i]);
      put_image(&image);
      check(sqlite3_open(store, &raw) == SQLITE_OK && sql(harm[k], rows[i]) == SQLITE_OK);
      sqlite3_close(raw);
      struct pprf_vault_cell cell = memory();
      struct bytes harmed = read_file(store);
      int err = pprf_vault_open(&v, store, &cell, NULL);
      if (err == PPRF_OK) {
        check(rows[i] != rows[count - 1] && k < 6); /* the root is written last */
        err = pprf_vault_verify(v, NULL);
        check(pprf_vault_erase(v, 0, NULL) == PPRF_VAULT_ERR_DAMAGED);
        check(pprf_vault_commit(v, NULL) == PPRF_VAULT_ERR_DAMAGED);
        check(pprf_vault_eval(v, rnd(INT64_MAX), out) != PPRF_VAULT_ERR_CLOSED);
      }
      check(err == PPRF_VAULT_ERR_DAMAGED && strstr(pprf_vault_error(), "page") != NULL);
      if (v == NULL && k < 6)
        check(strstr(pprf_vault_error(), page) != NULL);
      pprf_vault_close(v);
      struct bytes then = read_file(store);
      check(then.len == harmed.len && memcmp(then.at, harmed.at, then.len) == 0);
      free(harmed.at);
      free(then.at);
    }
  options.cache_bytes = 0;
  put_image(&image);
  check(
    sqlite3_open(store, &raw) == SQLITE_OK &&
    sql(
      "%s",
      "ALTER TABLE vault RENAME TO v; CREATE VIEW vault AS WITH "
      "RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS id, NULL AS head FROM r WHERE n < 0") ==
      SQLITE_OK); /* endless */
  sqlite3_close(raw);
  struct pprf_vault_cell cell = memory();
  check(pprf_vault_open(&v, store, &cell, NULL) == PPRF_VAULT_ERR_DAMAGED && v == NULL);
  put_image(&image);
  check(truncate(store, 100) == 0);
  free(image.file[0].at);
  image.file[0] = read_file(store);
  does_not_open(&image, memory(), PPRF_VAULT_ERR_DAMAGED, "store");
  free_image(&image);
  no_files();
  end_test(
    "a damaged, foreign, short, missing or misnumbered page is named, and nothing is written then");
}

/* Three levels, of which the lowest is damaged, and no room: pages go as soon as they were used. */
static void damage_and_no_cache(void)
{
  uint8_t out[16];
  int good = 0, bad = 0;
  pprf_vault *v;
  random_vault(400);
  check(
    sqlite3_open(store, &raw) == SQLITE_OK &&
    sql(
      "%s",
      "UPDATE page SET sealed = x'00' WHERE row % 2 = 1 AND row < (SELECT count(*) / 2 FROM page)") ==
      SQLITE_OK);
  sqlite3_close(raw);
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

/* ---- all that a thief can have: every row ever written, and the newest cell */

static struct row {
  int64_t row;
  uint8_t sealed[SEALED_MAX];
  bool live;
} *all_rows;
static int row_count;

/* Add the rows of the store as it is on disk, read from a copy. */
static void add_rows(void)
{
  sqlite3_stmt *st;
  struct image image = take_image();
  char kept[80];
  memcpy(kept, store, sizeof kept);
  snprintf(store, sizeof store, "%s/copy", dir);
  put_image(&image);
  check(sqlite3_open(store, &raw) == SQLITE_OK);
  check(sqlite3_prepare_v2(raw, "SELECT row, sealed FROM page", -1, &st, NULL) == SQLITE_OK);
  while (sqlite3_step(st) == SQLITE_ROW && row_count < ROWS) {
    struct row *r = &all_rows[row_count++];
    r->row = sqlite3_column_int64(st, 0);
    check(sqlite3_column_bytes(st, 1) == SEALED_MAX);
    memcpy(r->sealed, sqlite3_column_blob(st, 1), SEALED_MAX);
    for (int i = 0; i + 1 < row_count; i++)
      if (all_rows[i].row == r->row && memcmp(all_rows[i].sealed, r->sealed, SEALED_MAX) == 0) {
        row_count--;
        break;
      }
  }
  sqlite3_finalize(st);
  sqlite3_close(raw);
  no_files();
  memcpy(store, kept, sizeof store);
  free_image(&image);
}

/* Open what a key opens, and go on with the keys in it. @return pages opened */
static int steal(const struct tree *t, const uint8_t key[KEY], uint64_t named)
{
  uint8_t plain[PAGE_MAX];
  int opened = 0;
  for (int i = 0; i < row_count; i++) {
    struct row *r = &all_rows[i];
    if (page_gcm(false, t, (uint64_t)r->row, key, r->sealed, plain) != PPRF_OK)
      continue;
    check((uint64_t)r->row == named && !r->live); /* one page, and the one that is meant */
    r->live = true;
    opened++;
    for (size_t k = 0; plain[0] > 0 && k < get_le(plain + 1, 2); k++) {
      const uint8_t *at = plain + PAGE_HEAD + k * ENTRY;
      opened += steal(t, at + 16, get_le(at + 8, 8));
    }
  }
  return opened;
}

static void a_thief(void)
{
  struct tree t = {.depth = 0};
  uint8_t key[KEY];
  uint64_t live, root = 0;
  sqlite3_stmt *st;
  all_rows = calloc(ROWS, sizeof *all_rows);
  row_count = 0;
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 63, PPRF_AES_128);
  for (int commit = 0; commit < 12; commit++) {
    for (int i = 0; i < (commit == 0 ? 200 : 4); i++)
      check(pprf_vault_erase(v, tap_random(&state) & INT64_MAX, NULL) == PPRF_OK);
    check(pprf_vault_commit(v, NULL) == PPRF_OK);
    add_rows();
  }
  check(pprf_vault_verify(v, &live) == PPRF_OK && live > 50);
  pprf_vault_close(v);
  check(sqlite3_open(store, &raw) == SQLITE_OK);
  check(
    sqlite3_prepare_v2(
      raw,
      "SELECT head, root.row, salt, (SELECT count(*) FROM page) FROM vault, root ORDER BY counter DESC",
      -1, &st, NULL) == SQLITE_OK &&
    sqlite3_step(st) == SQLITE_ROW);
  memcpy(t.head, sqlite3_column_blob(st, 0), PUBLIC);
  root = (uint64_t)sqlite3_column_int64(st, 1);
  check(tree_of_head(&t) &&
        derive(key, value_of_cell, CELL, sqlite3_column_blob(st, 2), "pprf vault root") == PPRF_OK);
  check((uint64_t)sqlite3_column_int64(st, 3) < live + 20); /* rows are used again */
  sqlite3_finalize(st);
  sqlite3_close(raw);
  check(row_count > (int)live + 20 && row_count < ROWS);
  check(steal(&t, key, root) == (int)live);
  free(all_rows);
  no_files();
  end_test("every row ever written and the newest cell open the live pages, and no other");
}

/* ---- every image of the disk ever seen, and the newest cell */

static _Atomic int calls, fails_at = -1; /* at this call the process ends, or the call fails */
static bool it_ends;

static bool call_fails(void)
{
  if (calls++ != fails_at)
    return false;
  if (it_ends)
    _exit(2);
  errno = EIO;
  return true;
}

/* The calls by which SQLite and cell.c change files, and the one that gives random bytes. */
#pragma GCC visibility push(default)
static bool full; /* no file grows */
ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
  struct stat s;
  if (full && fstat(fd, &s) == 0 && at + (off64_t)len > s.st_size)
    return errno = ENOSPC, -1;
  return call_fails() ? -1 : syscall(SYS_pwrite64, fd, bytes, len, at);
}

static int reads, read_fails = -1; /* this read fails */
ssize_t pread64(int fd, void *bytes, size_t len, off64_t at)
{
  return reads++ == read_fails ? (errno = EIO, -1) : syscall(SYS_pread64, fd, bytes, len, at);
}

int fsync(int fd)
{
  return call_fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
  return call_fails() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t len)
{
  return call_fails() ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int unlink(const char *name)
{
  return call_fails() ? -1 : (int)syscall(SYS_unlink, name);
}

int RAND_priv_bytes(unsigned char *bytes, int len)
{
  return call_fails() ? 0 : RAND_bytes(bytes, len);
}
#pragma GCC visibility pop

/* Open a store of an image, with one of its roots, as if that were the root of one value in the newest cell's file.
 * @return whether it opens; if so, no leaf of the set `gone` may have a value */
static bool transplant(const struct image *image, int from, int64_t root, const struct bytes *cell,
                       size_t slot, uint64_t gone)
{
  uint8_t one[2 * 4096] = {0}, out[16];
  struct image stolen = {{image->file[from], image->file[from + 1], {one, sizeof one}}};
  struct pprf_vault_cell c = in_file();
  pprf_vault *v;
  memcpy(one + slot, cell->at + slot, CELL + 32);
  put_image(&stolen);
  check(sqlite3_open(store, &raw) == SQLITE_OK &&
        sql("DELETE FROM root WHERE counter != %lld; UPDATE root SET counter = %lld", root,
            (int64_t)get_le(one + slot, 8)) == SQLITE_OK);
  sqlite3_close(raw);
  if (pprf_vault_open(&v, store, &c, NULL) != PPRF_OK)
    return false;
  for (uint64_t leaf = 0; leaf < 32; leaf++)
    check((gone >> leaf & 1) == 0 || pprf_vault_eval(v, leaf, out) == PPRF_ERR_PUNCTURED);
  pprf_vault_close(v);
  return true;
}

/* Pair the images with the newest cell's file.  @return pairs that opened */
static int pair(const struct image *image, int count, uint64_t gone)
{
  struct image newest = take_image();
  int opened = 0;
  for (int i = 0; i < count; i++)
    for (int from = 0; from <= 3; from += 3) {
      int64_t root[8];
      int roots = 0;
      sqlite3_stmt *st = NULL;
      struct image one = {{image[i].file[from], image[i].file[from + 1]}};
      put_image(&one);
      sqlite3_open(store, &raw);
      (void)sqlite3_prepare_v2(raw, "SELECT counter FROM root", -1, &st, NULL);
      while (roots < 8 && sqlite3_step(st) == SQLITE_ROW)
        root[roots++] = sqlite3_column_int64(st, 0);
      sqlite3_finalize(st);
      sqlite3_close(raw);
      for (int k = 0; k < 2 * roots; k++)
        if (newest.file[2].len > (k % 2 == 0 ? 0u : 4096u))
          opened +=
            transplant(&image[i], from, root[k / 2], &newest.file[2], k % 2 == 0 ? 0 : 4096, gone);
    }
  put_image(&newest);
  free_image(&newest);
  return opened;
}

/* Erase a leaf, with a second attempt after an error.  @return 0 it is final, 1 it is not */
static int erase_leaf(uint64_t leaf)
{
  struct pprf_vault_cell cell = in_file();
  pprf_vault *v;
  int err = pprf_vault_open(&v, store, &cell, &options);
  if (err == PPRF_OK)
    err = pprf_vault_erase(v, leaf, NULL);
  for (int i = 0; i < 3 && v != NULL && (i == 0 || err != PPRF_OK); i++)
    err = pprf_vault_commit(v, NULL);
  pprf_vault_close(v);
  return err != PPRF_OK;
}

/* A vault in which leaf 0 is erased; leaf 1, by a process that ends at a call, or in which that call fails; and two
 * more.  After each step the images so far are paired with the cell.  @return whether there was such a call */
static bool erased_stays_erased(int call, bool ends, int *opened)
{
  struct image image[4];
  uint64_t gone = 0;
  int status = 0;
  pprf_vault_close(new_vault(in_file(), 5, PPRF_AES_128));
  for (int i = 0; i < 4; i++) {
    pid_t pid = i == 1 ? fork() : 0;
    if (i == 1 && pid == 0) {
      it_ends = ends;
      calls = 0;
      fails_at = call;
      int result = erase_leaf(1);
      _exit(calls > call ? result : 3 + result);
    }
    if (i == 1)
      check(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    bool final = i == 1 ? WEXITSTATUS(status) % 3 == 0 : erase_leaf((uint64_t)i) == 0;
    check(final || i == 1);
    gone |= (uint64_t) final << i;
    image[i] = take_image();
    *opened += pair(image, i + 1, gone);
  }
  for (int i = 0; i < 4; i++)
    free_image(&image[i]);
  no_files();
  return WEXITSTATUS(status) < 3;
}

static void every_image(void)
{
  char mirror[80];
  snprintf(mirror, sizeof mirror, "%s/mirror", dir);
  check(mkdir(mirror, 0700) == 0);
  for (int with = 0; with < 2; with++) {
    int opened = 0, call[2] = {0, 0};
    options.mirror = with ? mirror : NULL;
    for (int ends = 0; ends < 2; ends++)
      while (erased_stays_erased(call[ends], ends, &opened) && call[ends] < 1000)
        call[ends]++;
    tap_note("%d calls end the process, %d fail; %d pairs open", call[1], call[0], opened);
    check(call[0] > 15 && call[1] > 15 && opened > 4 * call[0]);
  }
  options.mirror = NULL;
  check(rmdir(mirror) == 0);
  end_test(
    "no image of the disk opens an erased leaf with the newest cell, also after a commit that was cut off");
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
  char command[200]; /* a program of its own, after handles of this process were refused */
  snprintf(command, sizeof command, "exec /proc/%d/exe --open %s", (int)getpid(), store);
  check(WEXITSTATUS(system(command)) == PPRF_VAULT_ERR_BUSY);
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  pid = fork();
  if (pid == 0)
    for (;;)
      pause();
  v = reopen(v, in_file()); /* while a child has the cell's file too */
  check(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
  check(v != NULL && pprf_vault_verify(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  no_files();
  options.count = 10;
  v = new_vault(in_file(), 24, PPRF_SHA3_256);
  struct pprf_vault_info info = {.size = sizeof info};
  for (uint64_t i = 0; i < 25; i++)
    check(pprf_vault_erase(v, i, NULL) == PPRF_OK);
  check(pprf_vault_info(v, &info) == PPRF_OK && info.final == 20 && info.commit == 3);
  pprf_vault_close(v);
  no_files();
  options.count = 0;
  end_test(
    "threads take turns, other processes and children are refused, erasures commit by count");
}

/* Two vaults with one cell: the one that did not write it last says so, and loses nothing. */
static void one_cell_of_two(void)
{
  char kept[80];
  uint64_t final;
  memcpy(kept, store, sizeof kept);
  memset(value_of_cell, 0, CELL);
  pprf_vault *v = new_vault(memory(), 24, PPRF_AES_128), *other;
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  uint8_t its[CELL];
  memcpy(its, value_of_cell, CELL);
  memset(value_of_cell, 0, CELL);
  snprintf(store, sizeof store, "%s/other", dir);
  other = new_vault(memory(), 24, PPRF_AES_128);
  check(pprf_vault_erase(v, 2, NULL) == PPRF_OK);
  check(pprf_vault_commit(v, &final) == PPRF_VAULT_ERR_CELL && final == 1 &&
        strstr(pprf_vault_error(), "no longer") != NULL);
  check(pprf_vault_erase(other, 2, NULL) == PPRF_OK && pprf_vault_commit(other, NULL) == PPRF_OK);
  pprf_vault_close(other);
  no_files();
  memcpy(store, kept, sizeof store);
  memcpy(value_of_cell, its, CELL);
  check(pprf_vault_commit(v, &final) == PPRF_OK && final == 2);
  pprf_vault_close(v);
  no_files();
  end_test("a vault whose cell another one has written changes nothing");
}

/* A request for one value at a time, which arrives later. */
static uint8_t late[CELL];
static int write_late(void *arg, const uint8_t value[CELL])
{
  (void)arg;
  memcpy(late, value, CELL);
  return PPRF_VAULT_ERR_UNKNOWN;
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

static void mirrors(void)
{
  char mirror[80], kept[80];
  memcpy(kept, store, sizeof kept);
  uint8_t out[16];
  snprintf(mirror, sizeof mirror, "%s/mirror", dir);
  check(mkdir(mirror, 0700) == 0);
  options.mirror = mirror;
  pprf_vault *v = new_vault(in_file(), 24, PPRF_AES_128);
  for (uint64_t i = 1; i < 300; i++) /* several pages */
    check(pprf_vault_erase(v, i * 50000, NULL) == PPRF_OK);
  check(pprf_vault_erase(v, 7, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  pprf_vault_close(v);
  options.mirror = NULL; /* a commit without the mirror, which is then brought up to date */
  v = again(in_file());
  check(pprf_vault_erase_range(v, 100, 3000, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_erase(v, 9, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  options.mirror = mirror;
  v = reopen(v, in_file());
  uint64_t both, one;
  for (uint64_t leaf = 15000001; leaf < 15000003; leaf++)
    check(pprf_vault_erase(v, leaf, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_verify(v, &both) == PPRF_OK);
  pprf_vault_close(v);
  check(sqlite3_open(store, &raw) == SQLITE_OK && /* the store loses pages that the mirror has */
        sql("%s", "DELETE FROM page WHERE row > (SELECT row FROM root ORDER BY counter DESC)") ==
          SQLITE_OK &&
        sqlite3_changes(raw) > 0);
  sqlite3_close(raw);
  v = again(in_file());
  check(pprf_vault_erase(v, 5000001, NULL) == PPRF_OK && pprf_vault_commit(v, NULL) == PPRF_OK);
  check(pprf_vault_verify(v, NULL) == PPRF_VAULT_ERR_DAMAGED);
  pprf_vault_close(v);
  options.mirror = NULL;
  unlink(store); /* the disk is dead */
  snprintf(store, sizeof store, "%s/mirror/vault", dir);
  v = again(in_file());
  check(pprf_vault_verify(v, &one) == PPRF_OK && both == 2 * one);
  for (uint64_t leaf = 0; leaf < 4000; leaf++)
    check(pprf_vault_eval(v, leaf, out) ==
          (leaf == 7 || leaf == 9 || (leaf >= 100 && leaf <= 3000) ? PPRF_ERR_PUNCTURED : PPRF_OK));
  pprf_vault_close(v);
  unlink(store);
  memcpy(store, kept, sizeof store);
  check(rmdir(mirror) == 0);
  no_files();
  end_test("a mirror opens in the store's place, and is brought up to date");
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
  full = true;
  v = again(in_file());
  check(pprf_vault_eval(v, 0, out) == PPRF_ERR_PUNCTURED && pprf_vault_eval(v, 1, out) == PPRF_OK);
  check(pprf_vault_erase(v, 1, NULL) == PPRF_OK &&
        pprf_vault_commit(v, NULL) == PPRF_VAULT_ERR_STORE);
  full = false;
  check(pprf_vault_commit(v, NULL) == PPRF_OK && pprf_vault_eval(v, 1, out) == PPRF_ERR_PUNCTURED);
  pprf_vault_close(v);
  free_image(&image);
  no_files();
  end_test("a vault on a full disk opens and evaluates, and commits when there is room again");
}

/* A disk that fails to read once, at each read of an opening and a commit: no page in use is lost. */
static void failed_reads(void)
{
  uint8_t out[16], kept[CELL];
  bool more = true;
  int good = 0, failed = 0;
  pprf_vault *v;
  random_vault(400);
  struct image image = take_image();
  memcpy(kept, value_of_cell, CELL);
  for (int at = 0; more; at++) {
    struct pprf_vault_cell cell = memory();
    put_image(&image);
    memcpy(value_of_cell, kept, CELL);
    reads = 0;
    read_fails = at;
    int err = pprf_vault_open(&v, store, &cell, NULL);
    if (err == PPRF_OK)
      err = pprf_vault_erase(v, 0, NULL);
    if (err == PPRF_OK)
      err = pprf_vault_commit(v, NULL);
    more = reads > at;
    *(err == PPRF_OK ? &good : &failed) += 1;
    read_fails = -1;
    v = reopen(v, memory());
    check(v != NULL && pprf_vault_verify(v, NULL) == PPRF_OK);
    check(pprf_vault_eval(v, 0, out) == (err == PPRF_OK ? PPRF_ERR_PUNCTURED : PPRF_OK));
    pprf_vault_close(v);
  }
  check(good > 0 && failed > 5);
  free_image(&image);
  no_files();
  end_test("a read that fails is an error, or does no harm");
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
  copies();
  a_damaged_cell();
  damaged_pages();
  damage_and_no_cache();
  a_thief();
  every_image();
  threads_and_processes();
  one_cell_of_two();
  a_late_request();
  a_full_disk();
  failed_reads();
  pages_stay_full();
  a_vault_equals_one_key();
  rmdir(dir);
  return tap_end();
}
