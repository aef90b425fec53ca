/* SPDX-License-Identifier: Apache-2.0 */
/* Power cuts, kills, and calls that fail, at every call that changes a file of a vault.  The files lie in memory,
 * behind an SQLite VFS and behind the calls of cell.c.  A cut keeps what was synced and any part of the rest: writes
 * since the last sync reach the disk in any order, whole, torn or not at all; a failed sync drops what it likes.
 * usage: test_faults [--full | TRIALS] */
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../tools/tap.h"
#include "impls/impl.h"
#include "page.h"

enum {
  CELL = PPRF_VAULT_CELL_BYTES,
  DEPTH = 12,
  LEAVES = 1 << DEPTH,
  FILES = 12,
  TRIES = 80,
  ROOTS = 500,
  STEPS = 240
};
enum { WRITE, TRUNCATE };
enum { CUT, KILL, EIO_ONCE, ENOSPC_ONCE, QUIET }; /* what happens at step `when` of a session */
static int event, when, steps;
static bool dead; /* nothing reaches a file any more */
static bool reads_fail; /* one may */
static uint64_t state, cuts;
static int leaks;

static uint64_t rnd(uint64_t n)
{
  return tap_random(&state) % n;
}

/* ---- files that forget */

struct bytes {
  uint8_t *at;
  size_t len;
};
struct op {
  int kind;
  size_t at;
  struct bytes data;
};
struct file {
  char name[100];
  bool exists, entered; /* entered: its name is on the disk */
  bool ghost;           /* so is the one of a deleted file: `old` is its content */
  struct bytes now, disk, old;
  struct op op[4096]; /* since the last sync */
  int ops;
};
static struct file files[FILES], *cell_file = &files[0];
static char dir[64], store[80], mirror[80], copy[90], cell_path[90];

static void apply(struct bytes *to, const struct op *op, size_t from, size_t len)
{
  size_t end = op->at + (op->kind == WRITE ? from + len : 0);
  if (end > to->len || op->kind == TRUNCATE) {
    to->at = realloc(to->at, end + 1);
    if (end > to->len)
      memset(to->at + to->len, 0, end - to->len);
    to->len = end;
  }
  if (op->kind == WRITE)
    memcpy(to->at + op->at + from, op->data.at + from, len);
}

static void forget(struct file *f)
{
  for (int i = 0; i < f->ops; i++)
    free(f->op[i].data.at);
  f->ops = 0;
}

/* Some of what was not synced reaches the disk, the rest never will. */
static void settle(struct file *f, bool all)
{
  unsigned chance = (unsigned)rnd(3) * 2; /* of 4 */
  for (int i = 0; i < f->ops; i++) {
    const struct op *op = &f->op[i];
    if (all || (rnd(4) < chance && (op->kind == TRUNCATE || (op->data.len > 512 && rnd(4) != 0))))
      apply(&f->disk, op, 0, op->data.len);
    else if (op->kind == WRITE && chance > 0)
      for (size_t at = 0, n; at < op->data.len; at += n) { /* sectors, and parts of them */
        n = rnd(8) == 0 || op->data.len < 512 ? 1 + rnd(op->data.len) : 512;
        n = n < op->data.len - at ? n : op->data.len - at;
        if (rnd(2) == 0)
          apply(&f->disk, op, at, n);
      }
  }
  forget(f);
}

static void set(struct bytes *to, const struct bytes *from)
{
  to->at = realloc(to->at, from->len + 1);
  memcpy(to->at, from->at, from->len);
  to->len = from->len;
}

static void real_cell(void) /* cell.c reads the file itself */
{
  (void)unlink(cell_path);
  int fd = cell_file->exists ? open(cell_path, O_CREAT | O_WRONLY, 0600) : -1;
  if (fd >= 0 && (write(fd, cell_file->now.at, cell_file->now.len) < 0 || close(fd) != 0))
    abort();
}

static void power_cut(void)
{
  for (struct file *f = files; f < files + FILES; f++) {
    settle(f, false);
    if (f->ghost && rnd(2) == 0) {
      set(&f->disk, &f->old);
      f->exists = true;
    } else if (!f->entered && rnd(2) == 0) {
      f->exists = false;
      f->disk.len = 0;
    }
    f->ghost = false;
    f->entered = f->exists;
    if (f->disk.at != NULL)
      set(&f->now, &f->disk);
  }
  real_cell();
  cuts++;
}

static struct file *named(const char *name, bool make)
{
  for (struct file *f = files; f < files + FILES; f++)
    if (f->name[0] != 0 && strcmp(f->name, name) == 0)
      return f;
  for (struct file *f = files + 1; make && f < files + FILES; f++)
    if (f->name[0] == 0) {
      snprintf(f->name, sizeof f->name, "%s", name);
      return f;
    }
  return NULL;
}

static void sync_folder(const char *name)
{
  size_t len = (size_t)(strrchr(name, '/') - name);
  for (struct file *f = files; f < files + FILES; f++)
    if (strncmp(f->name, name, len + 1) == 0 && strchr(f->name + len + 1, '/') == NULL) {
      f->ghost = false;
      f->entered = f->exists;
    }
}

/* @return 0: go on, 1: this call fails */
static int step(void)
{
  if (dead || steps++ != when || event == QUIET)
    return dead;
  dead = event == CUT || event == KILL;
  return 1;
}

/* ---- secrets, which no file but the cell's may contain */

static uint64_t secret[1 << 16];

static uint64_t *place(uint64_t window)
{
  uint64_t *p = &secret[window * 0x9e3779b97f4a7c15u >> 48];
  while (*p != 0 && *p != window)
    p = p == secret + (1 << 16) - 1 ? secret : p + 1;
  return p;
}

static void keep_secret(const uint8_t *bytes)
{
  uint64_t window = get_le(bytes, 8);
  *place(window) = window;
}

/* A thief has all pages and all salts of roots that ever were, also those that no disk came to hold. */
static struct {
  uint64_t row;
  uint8_t key[KEY], sealed[SEALED_MAX];
} *ever;
static size_t pages_ever, salts;
static uint8_t salt_ever[ROOTS][KEY];
static struct tree its_tree;
static struct arena its_arena;

int __real_page_gcm(bool seal, const struct tree *tree, uint64_t row, const uint8_t key[KEY],
                    const uint8_t *in, uint8_t *out);
int __wrap_page_gcm(bool seal, const struct tree *tree, uint64_t row, const uint8_t key[KEY],
                    const uint8_t *in, uint8_t *out);
int __wrap_page_gcm(bool seal, const struct tree *tree, uint64_t row, const uint8_t key[KEY],
                    const uint8_t *in, uint8_t *out)
{
  struct nodes nodes = {NULL, 0, 0};
  if (seal && in[0] == 0 && leaf_decode(tree, in, &nodes) == PPRF_OK)
    for (size_t i = 0; i < nodes.count; i++)
      keep_secret(nodes.at[i].seed);
  nodes_free(tree, &nodes);
  keep_secret(key);
  int err = __real_page_gcm(seal, tree, row, key, in, out);
  if (seal && err == PPRF_OK) {
    if (pages_ever % 64 == 0)
      ever = realloc(ever, (pages_ever + 64) * sizeof *ever);
    ever[pages_ever].row = row;
    memcpy(ever[pages_ever].key, key, KEY);
    memcpy(ever[pages_ever++].sealed, out, SEALED_MAX);
    its_tree = *tree;
    its_tree.arena = &its_arena;
  }
  return err;
}

int __real_derive(uint8_t out[KEY], const uint8_t *from, size_t bytes, const uint8_t salt[KEY],
                  const char *info);
int __wrap_derive(uint8_t out[KEY], const uint8_t *from, size_t bytes, const uint8_t salt[KEY],
                  const char *info);
int __wrap_derive(uint8_t out[KEY], const uint8_t *from, size_t bytes, const uint8_t salt[KEY],
                  const char *info)
{
  size_t i = 0;
  while (i < salts && memcmp(salt_ever[i], salt, KEY) != 0)
    i++;
  if (i == salts && salts < ROOTS)
    memcpy(salt_ever[salts++], salt, KEY);
  return __real_derive(out, from, bytes, salt, info);
}

/* ---- the calls */

static int change(struct file *f, int kind, const void *bytes, size_t len, size_t at)
{
  struct op op = {kind, at, {malloc(len + 1), len}};
  int fails = dead ? 2 : step();
  if (fails == 1 && kind == WRITE)
    op.data.len = rnd(len + 1); /* as far as it came */
  if (fails == 2 || f->ops == 4096 || (fails == 1 && (kind == TRUNCATE || event == KILL))) {
    free(op.data.at);
    return fails == 0 ? (abort(), 0) : 1;
  }
  if (kind == WRITE)
    memcpy(op.data.at, bytes, len);
  uint64_t window = 0;
  for (size_t i = 0; i < op.data.len && f != cell_file; i++) {
    window = window >> 8 | (uint64_t)op.data.at[i] << 56;
    leaks += i >= 7 && window != 0 && *place(window) != 0;
  }
  apply(&f->now, &op, 0, op.data.len);
  f->op[f->ops++] = op;
  f->exists = true;
  return fails;
}

static int sync_file(struct file *f)
{
  bool was = dead;
  if (event == EIO_ONCE && rnd(8) == 0 && steps < when) /* few calls are syncs */
    when = steps;
  int fails = step();
  if (!was && !dead)
    settle(f, fails == 0);
  return fails;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
  if (rnd(8) == 0 &&
      steps < when) /* one of some 40 calls of a commit, and the one that matters most */
    when = steps;
  int fails = change(cell_file, WRITE, bytes, len, (size_t)at);
  for (size_t i = 0; i + CELL <= len; i += len)
    keep_secret((const uint8_t *)bytes + 8);
  if (!dead && cell_file->ops > 0) {
    const struct op *op = &cell_file->op[cell_file->ops - 1];
    (void)syscall(SYS_pwrite64, fd, op->data.at, op->data.len, at);
  }
  errno = event == ENOSPC_ONCE ? ENOSPC : EIO;
  return fails ? -1 : (ssize_t)len;
}

int fdatasync(int fd)
{
  (void)fd;
  errno = EIO;
  return sync_file(cell_file) ? -1 : 0;
}

int fsync(int fd)
{
  struct stat s;
  if (fstat(fd, &s) != 0 || !S_ISDIR(s.st_mode))
    return fdatasync(fd);
  errno = EIO;
  if (step())
    return -1;
  sync_folder(cell_file->name);
  return 0;
}

int RAND_priv_bytes(unsigned char *bytes, int len)
{
  return event != QUIET && rnd(200) == 0 ? 0 : RAND_bytes(bytes, len);
}

struct handle {
  sqlite3_file base;
  struct file *f;
  bool folder; /* the first sync is one of the folder too, as in SQLite's own VFS */
};
#define OF(h) (((struct handle *)(void *)(h))->f)

static int vfs_close(sqlite3_file *h)
{
  if (strncmp(OF(h)->name, "temporary", 9) == 0) {
    forget(OF(h));
    OF(h)->name[0] = 0;
    OF(h)->exists = false;
    OF(h)->now.len = OF(h)->disk.len = 0;
  }
  return SQLITE_OK;
}

static int vfs_read(sqlite3_file *h, void *out, int len, sqlite3_int64 at)
{
  const struct bytes *b = &OF(h)->now;
  if (reads_fail && event == EIO_ONCE && rnd(20) == 0) {
    reads_fail = false;
    return SQLITE_IOERR_READ;
  }
  size_t have = (size_t)at < b->len ? b->len - (size_t)at : 0;
  have = have < (size_t)len ? have : (size_t)len;
  memset(out, 0, (size_t)len);
  if (have > 0)
    memcpy(out, b->at + at, have);
  return have == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int vfs_write(sqlite3_file *h, const void *bytes, int len, sqlite3_int64 at)
{
  return !change(OF(h), WRITE, bytes, (size_t)len, (size_t)at) ? SQLITE_OK
         : event == ENOSPC_ONCE                                ? SQLITE_FULL
                                                               : SQLITE_IOERR_WRITE;
}

static int vfs_truncate(sqlite3_file *h, sqlite3_int64 len)
{
  return change(OF(h), TRUNCATE, NULL, 0, (size_t)len) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int vfs_sync(sqlite3_file *h, int flags)
{
  struct handle *handle = (struct handle *)(void *)h;
  (void)flags;
  if (sync_file(OF(h)))
    return SQLITE_IOERR_FSYNC;
  if (handle->folder)
    sync_folder(OF(h)->name);
  handle->folder = false;
  return SQLITE_OK;
}

static int vfs_size(sqlite3_file *h, sqlite3_int64 *len)
{
  *len = (sqlite3_int64)OF(h)->now.len;
  return SQLITE_OK;
}

static int vfs_lock(sqlite3_file *h, int kind)
{
  (void)h;
  return (void)kind, SQLITE_OK;
}

static int vfs_reserved(sqlite3_file *h, int *out)
{
  (void)h;
  return *out = 0;
}

static int vfs_control(sqlite3_file *h, int what, void *arg)
{
  (void)h, (void)arg;
  return (void)what, SQLITE_NOTFOUND;
}

static int vfs_sector(sqlite3_file *h)
{
  return (void)h, 4096;
}

static int vfs_device(sqlite3_file *h)
{
  return (void)h, SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *h, int flags, int *out)
{
  static const sqlite3_io_methods methods = {
    1,        vfs_close, vfs_read,     vfs_write,   vfs_truncate, vfs_sync,   vfs_size,
    vfs_lock, vfs_lock,  vfs_reserved, vfs_control, vfs_sector,   vfs_device, NULL,
    NULL,     NULL,      NULL,         NULL,        NULL};
  static unsigned temporary;
  char made[32];
  (void)vfs;
  snprintf(made, sizeof made, "temporary%u", temporary++);
  struct file *f = named(name == NULL ? made : name, true);
  if (f == NULL)
    return SQLITE_CANTOPEN;
  *(struct handle *)(void *)h =
    (struct handle){{&methods}, f, (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0};
  f->exists = true;
  if (out != NULL)
    *out = flags;
  return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int folder)
{
  struct file *f = named(name, false);
  (void)vfs;
  if (f == NULL || !f->exists)
    return SQLITE_IOERR_DELETE_NOENT;
  if (step())
    return SQLITE_IOERR_DELETE;
  settle(f, false);
  if (f->entered)
    set(&f->old, &f->disk);
  f->ghost = f->ghost || f->entered;
  f->exists = f->entered = false;
  f->now.len = f->disk.len = 0;
  if (folder)
    sync_folder(name);
  return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
  const struct file *f = named(name, false);
  (void)vfs, (void)flags;
  *out = f != NULL && f->exists && f->now.len > 0;
  return SQLITE_OK;
}

/* ---- a cell that misbehaves */

static uint8_t held[CELL], late[CELL]; /* late: a request on its way; zero: none */
static bool odd, wrong; /* wrong: another value was read */

static void deliver(
  void) /* a cell refuses a counter that does not grow: a late request must not undo a newer one */
{
  if (get_le(late, 8) > get_le(held, 8))
    memcpy(held, late, CELL);
  memset(late, 0, CELL);
}

static int odd_read(void *arg, uint8_t value[CELL])
{
  (void)arg;
  if (rnd(3) == 0)
    deliver();
  memcpy(value, held, CELL);
  if (dead || (odd && rnd(25) == 0))
    return fail(PPRF_VAULT_ERR_CELL, "cell: no answer");
  if (get_le(value, 8) == 0)
    return PPRF_VAULT_CELL_EMPTY;
  if (odd && rnd(25) == 0) {
    value[8 + rnd(24)] ^= 1;
    wrong = true;
  }
  return PPRF_OK;
}

static int odd_write(void *arg, const uint8_t value[CELL])
{
  bool was = dead;
  int what = odd ? (int)rnd(10) : 0, fails = step();
  (void)arg;
  keep_secret(value + 8);
  if (was || (fails && rnd(2) == 0))
    return fail(PPRF_VAULT_ERR_UNKNOWN, "cell: no answer");
  if (what == 1 || what == 2) /* late, or twice */
    memcpy(late, value, CELL);
  if (what == 1 || what == 3 || what == 4) /* 3: never */
    return fail(what == 4 ? PPRF_VAULT_ERR_CELL : PPRF_VAULT_ERR_UNKNOWN, "cell: too busy");
  memcpy(held, value, CELL);
  return fails || what == 5 ? fail(PPRF_VAULT_ERR_UNKNOWN, "cell: no answer") : PPRF_OK;
}

static bool in_file;
static struct pprf_vault_cell cell(void)
{
  struct pprf_vault_cell c = {sizeof c, NULL, odd_read, NULL, odd_write, NULL, ""};
  char spec[100];
  snprintf(spec, sizeof spec, "file:%s", cell_path);
  tap_check(!in_file || pprf_vault_cell(&c, spec) == PPRF_OK, "a cell in a file");
  return c;
}

/* ---- what must be true */

static uint8_t value[LEAVES][16];    /* ref's */
static uint8_t erased[LEAVES];       /* in the handle */
static uint8_t tried[TRIES]
                    [LEAVES];  /* by each commit that was tried; 0: what the last opening found */
static uint64_t number[TRIES];       /* of its last erasure */
static const uint8_t root[16] = "a seed for tests", salt[16] = "a salt for tests";
static const struct pprf_options key = {
  .size = sizeof key, .seed = root, .salt = salt, .depth = DEPTH, .suite = PPRF_AES_128};
static int tries, final;             /* final: the last commit that was reported so */
static struct pprf_vault_options options = {.size = sizeof options};

/* Open what a key opens, and go on with the keys in it; row 0: any. */
static void steal(const uint8_t known[KEY], uint64_t row, bool opened[LEAVES])
{
  uint8_t plain[PAGE_MAX];
  for (size_t i = 0; i < pages_ever; i++)
    if (memcmp(ever[i].key, known, KEY) == 0) {
      struct nodes nodes = {NULL, 0, 0};
      tap_check((row == 0 || row == ever[i].row) &&
                  __real_page_gcm(false, &its_tree, ever[i].row, known, ever[i].sealed, plain) ==
                    PPRF_OK,
                "a key seals another page than the one beside it");
      if (plain[0] == 0)
        (void)leaf_decode(&its_tree, plain, &nodes);
      for (size_t k = 0; k < nodes.count; k++)
        memset(opened + nodes.at[k].start, true, (size_t)1 << nodes.at[k].height);
      nodes_free(&its_tree, &nodes);
      for (size_t k = 0; plain[0] > 0 && k < get_le(plain + 1, 2); k++) {
        const uint8_t *at = plain + PAGE_HEAD + k * ENTRY;
        steal(at + 16, get_le(at + 8, 8), opened);
      }
    }
}

/* With the cell as it is, in the file's two slots and on the disk below, a thief opens what is not erased. */
static void thief(const char *when_)
{
  bool opened[LEAVES] = {false};
  uint8_t top[KEY];
  const uint8_t *cell[4] = {held};
  int cells = in_file ? 0 : 1, wrong_leaves = 0;
  for (size_t at = 0; in_file && at <= 4096; at += 4096) {
    if (cell_file->now.len >= at + CELL)
      cell[cells++] = cell_file->now.at + at;
    if (cell_file->disk.len >= at + CELL)
      cell[cells++] = cell_file->disk.at + at;
  }
  for (int i = 0; i < cells; i++)
    for (size_t k = 0; k < salts; k++)
      if (__real_derive(top, cell[i], CELL, salt_ever[k], "pprf vault root") == PPRF_OK)
        steal(top, 0, opened);
  for (int leaf = 0; leaf < LEAVES; leaf++)
    wrong_leaves += opened[leaf] == (erased[leaf] != 0);
  tap_check(wrong_leaves == 0 && salts < ROOTS, "%s a thief opens %d leaves too many or too few",
            when_, wrong_leaves);
}

/* A vault that was opened has the state of the last final commit, or of one tried after it; all else is as it was. */
static void look(pprf_vault *v, const char *which)
{
  uint8_t got[LEAVES], out[16];
  int k = final;
  for (uint64_t leaf = 0; leaf < LEAVES; leaf++) {
    int err = pprf_vault_eval(v, leaf, out);
    got[leaf] = err == PPRF_ERR_PUNCTURED;
    tap_check(err == PPRF_ERR_PUNCTURED || (err == PPRF_OK && memcmp(out, value[leaf], 16) == 0),
              "%s, leaf %llu: %d, %s", which, (unsigned long long)leaf, err, pprf_vault_error());
  }
  while (k <= tries && memcmp(tried[k], got, LEAVES) != 0)
    k++;
  tap_check(k <= tries, "%s: not the state of commit %d .. %d", which, final, tries);
  memcpy(tried[0], got, LEAVES);
  memcpy(erased, got, LEAVES);
  tries =
    get_le(late, 8) == 0 ? 0 : tries; /* a late request may still bring what it was made for */
  memset(number, 0xff, sizeof number);
  number[0] = final = 0;
}

static pprf_vault *open_vault(const char *path, bool quiet)
{
  struct pprf_vault_cell c = cell();
  pprf_vault *v;
  reads_fail = true;
  int err = pprf_vault_open(&v, path, &c, &options);
  reads_fail = false;
  tap_check(err == PPRF_OK || !quiet, "%s does not open: %d, %s", path, err, pprf_vault_error());
  return v;
}

static bool commit(pprf_vault *v, uint64_t last)
{
  struct bytes was = {NULL, 0};
  uint64_t until, before = number[final];
  tries++;
  memcpy(tried[tries], erased, LEAVES);
  number[tries] = last;
  if (in_file)
    set(&was, &cell_file->now);
  wrong = false;
  reads_fail = true;
  int err = pprf_vault_commit(v, &until);
  reads_fail = false;
  tap_check(!wrong || err == PPRF_VAULT_ERR_CELL, "a wrong value in the cell: %d", err);
  tap_check(err != PPRF_VAULT_ERR_CLOSED || pprf_vault_erase(v, 0, NULL) == err,
            "a closed handle erases");
  tap_check(err != PPRF_OK || until == last, "commit reports %llu of %llu",
            (unsigned long long)until, (unsigned long long)last);
  tap_check(err != PPRF_VAULT_ERR_DAMAGED && err != PPRF_VAULT_ERR_ROLLBACK, "commit: %s",
            pprf_vault_error());
  int seen = err == PPRF_OK ? err : pprf_vault_verify(v, NULL);
  tap_check(seen != PPRF_VAULT_ERR_DAMAGED, "verify: %s", pprf_vault_error());
  for (int k = final + 1; k <= tries; k++)
    final = number[k] > 0 && number[k] <= until ? k : final;
  if (err == PPRF_OK && was.len > 4096 &&
      last > before) { /* the value that opened the state before is gone */
    size_t slot = get_le(was.at, 8) < get_le(was.at + 4096, 8) ? 0 : 4096;
    tap_check(memmem(cell_file->disk.at, cell_file->disk.len, was.at + slot, CELL) == NULL,
              "an old cell value stays");
  }
  free(was.at);
  if (err == PPRF_OK)
    thief("after a commit");
  return err != PPRF_VAULT_ERR_CLOSED && seen != PPRF_VAULT_ERR_CLOSED && !dead;
}

/* Erase leaves, one by one or many, and count them as erased. */
static void erase(pprf_vault *v, int count, uint64_t *last)
{
  for (int i = 0; i < count && !dead; i++) {
    uint64_t from = rnd(LEAVES), to = rnd(60) == 0 ? from + rnd(LEAVES - from) : from, n;
    int err = pprf_vault_erase_range(v, from, to, &n);
    tap_check(dead || err == PPRF_OK || err == PPRF_ERR_PUNCTURED, "erase: %s", pprf_vault_error());
    if (err == PPRF_OK) {
      memset(erased + from, 1, to - from + 1);
      *last = n;
    }
  }
}

static bool chain; /* of a failed sync, an end without care, and a power cut in the next session */

static void session(pprf_vault *v, uint64_t last)
{
  for (int commits = 1 + (int)rnd(5); commits > 0; commits--) {
    erase(v, (int)rnd(12), &last);
    if (!commit(v, last))
      break;
    int err = rnd(5) != 0 ? PPRF_OK : pprf_vault_verify(v, NULL);
    tap_check(err != PPRF_VAULT_ERR_DAMAGED, "verify: %s", pprf_vault_error());
    if (err == PPRF_VAULT_ERR_CLOSED)
      break;
  }
  if (chain || rnd(2) == 0) /* the rest never happens, or the vault is closed with care */
    dead = dead || event != QUIET;
  pprf_vault_close(v);
}

static void whole(const char *which, const char *path)
{
  pprf_vault *v = open_vault(path, true);
  if (v == NULL)
    return;
  look(v, which);
  tap_check(pprf_vault_verify(v, NULL) == PPRF_OK, "%s: %s", which, pprf_vault_error());
  pprf_vault_close(v);
  thief(which);
}

static void no_world(void)
{
  for (struct file *f = files; f < files + FILES; f++) {
    forget(f);
    f->exists = f->entered = f->ghost = false;
    f->now.len = f->disk.len = 0;
    if (f != cell_file)
      f->name[0] = 0;
  }
  (void)(unlink(store), unlink(copy), unlink(cell_path));
  memset(secret, 0, sizeof secret);
  pages_ever = salts = 0;
  memset(held, 0, CELL);
  memset(late, 0, CELL);
  memset(erased, 0, LEAVES);
  memset(tried[0], 0, LEAVES);
  tries = final = 0;
}

static void start(int what, uint64_t at)
{
  event = what;
  when = (int)at;
  steps = 0;
  dead = false;
}

/* Sessions, each with its event, then a power cut; the first event is the next in turn. */
static void trial(uint64_t seed)
{
  uint64_t last = 0;
  pprf_vault *v;
  state = seed;
  no_world();
  in_file = rnd(2) == 0;
  options.mirror = rnd(2) == 0 ? mirror : NULL;
  odd = chain = false;
  start(rnd(4) == 0 ? (int)rnd(4) : QUIET, rnd(80));
  struct pprf_vault_cell c = cell();
  int err = pprf_vault_create(&v, store, &c, &key, &options);
  tap_check(err == PPRF_OK || event != QUIET, "create: %s", pprf_vault_error());
  tap_check(v == NULL || named(store, false)->now.at[18] == 2, "a vault without a log");
  odd = !in_file;
  erase(v, v == NULL ? 0 : 500, &last);
  if (v != NULL && commit(v, last))
    session(v, last);
  else
    pprf_vault_close(v);
  if (event == CUT && dead)
    power_cut();
  if (v == NULL) { /* there is no vault, or one with nothing erased */
    start(QUIET, 0);
    if ((v = open_vault(store, false)) != NULL)
      look(v, "a vault that was being made");
    pprf_vault_close(v);
    return;
  }
  chain = rnd(3) == 0;
  for (int i = 0, sessions = chain ? 2 : 1 + (int)rnd(3); i < sessions; i++) {
    odd = !in_file;
    uint64_t at = i == 0 ? seed / 4 * 37 % STEPS : rnd(chain && rnd(3) != 0 ? 8 : STEPS);
    start(chain ? (i == 0 ? EIO_ONCE : CUT) : i == 0 ? (int)(seed % 4) : (int)rnd(5), at);
    for (int again = 0; again < 4 && !dead; again++)
      if ((v = open_vault(store, false)) != NULL) {
        if (tries > 0 && !dead)
          look(v, "a session");
        session(v, 0);
      }
    if (event == CUT && dead)
      power_cut();
    deliver();
    start(QUIET, 0);
    odd = false;
    if (!chain && rnd(2) == 0)
      whole("after a session", store);
  }
  power_cut();
  whole("the store", store);
  if (options.mirror != NULL) {
    options.mirror = NULL;
    whole("the mirror", copy);
  }
  tap_check(leaks == 0, "%d times a key, a seed or a cell's value was written", leaks);
  leaks = 0;
  if (tap_missed > 0)
    tap_note("again: SEED=%llu build/vault/test_faults 1", (unsigned long long)seed);
}

int main(int argc, char **argv)
{
  uint64_t seed = tap_seed(),
           trials = argc > 1 && !tap_full(argc, argv) ? strtoull(argv[1], NULL, 0) : 60;
  sqlite3_vfs vfs = *sqlite3_vfs_find(NULL);
  pprf_key *ref;
  trials = tap_full(argc, argv) ? 4 * STEPS + 240 : trials;
  vfs.zName = "forgets";
  vfs.szOsFile = sizeof(struct handle);
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  vfs.xAccess = vfs_access;
  snprintf(dir, sizeof dir, "%s/pprf-vault-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (mkdtemp(dir) == NULL || sqlite3_vfs_register(&vfs, 1) != SQLITE_OK ||
      impl_ref.setup_with(&ref, &key) != PPRF_OK)
    return 1;
  snprintf(store, sizeof store, "%s/vault", dir);
  snprintf(cell_path, sizeof cell_path, "%s/vault.cell", dir);
  snprintf(mirror, sizeof mirror, "%s/mirror", dir);
  snprintf(copy, sizeof copy, "%s/vault", mirror);
  memcpy(cell_file->name, cell_path, sizeof cell_path);
  (void)mkdir(mirror, 0700);
  for (uint64_t leaf = 0; leaf < LEAVES; leaf++)
    (void)impl_ref.eval(ref, leaf, value[leaf]);
  impl_ref.free(ref);
  tap_note("seed %llu", (unsigned long long)seed);
  for (uint64_t i = 0; i < trials && tap_missed == 0; i++) {
    tap_progress("trials", i, trials);
    trial(seed + i);
  }
  tap_note("%llu power cuts", (unsigned long long)cuts);
  tap_end_test(
    "after each cut and failure final erasures are final, nothing else is lost, no secret is in a file");
  no_world();
  free(ever);
  (void)(rmdir(mirror), rmdir(dir));
  return tap_end();
}
