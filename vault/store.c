/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_PAGES = 1000 };
/* Rows of the tables are not sealed.  No commit comes near this number, so a row beyond it is nobody's. */
#define FOREIGN "4611686018427387904"
static const char *const schema_name[] = {"main", "mirror"};

static int busy(const char *what)
{
  return fail(PPRF_VAULT_ERR_BUSY, "%s: another process, or another handle, has the vault open",
              what);
}

static int sql_failed(struct store *s, const char *what)
{
  int code = s->db == NULL ? SQLITE_NOMEM : sqlite3_extended_errcode(s->db);
  if ((code & 255) == SQLITE_NOMEM)
    return fail(PPRF_ERR_NOMEM, "store: %s: no memory", what);
  if ((code & 255) == SQLITE_BUSY || (code & 255) == SQLITE_LOCKED)
    return busy("store");
  if ((code & 255) == SQLITE_NOTADB || (code & 255) == SQLITE_CORRUPT)
    return fail(PPRF_VAULT_ERR_DAMAGED, "store: %s: %s", what, sqlite3_errmsg(s->db));
  return fail(PPRF_VAULT_ERR_STORE, "store: %s: %s (SQLite %d)", what, sqlite3_errmsg(s->db), code);
}

/* Run statements; each %w in the format is the schema. */
static int run(struct store *s, const char *what, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = sqlite3_vmprintf(format, args);
  va_end(args);
  int code = text == NULL ? SQLITE_NOMEM : sqlite3_exec(s->db, text, NULL, NULL, NULL);
  sqlite3_free(text);
  return code == SQLITE_OK ? PPRF_OK : sql_failed(s, what);
}

/* The result of a query, 0 if it has none or fails. */
static int ask(struct store *s, const char *query, uint64_t *number)
{
  sqlite3_stmt *st = NULL;
  int code = sqlite3_prepare_v2(s->db, query, -1, &st, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_step(st);
  *number = code == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
  int err = code == SQLITE_ROW || code == SQLITE_DONE ? PPRF_OK : sql_failed(s, "a number");
  (void)sqlite3_finalize(st);
  return err;
}

static int watch_log(void *arg, sqlite3 *db, const char *name, int pages)
{
  struct store *s = arg;
  (void)db;
  (void)name;
  s->frames = pages > s->frames ? pages : s->frames;
  return SQLITE_OK;
}

static const char tables[] =
  "CREATE TABLE %w.vault (id INTEGER PRIMARY KEY, head BLOB NOT NULL);"
  "CREATE TABLE %w.page (row INTEGER PRIMARY KEY, sealed BLOB NOT NULL);"
  "CREATE TABLE %w.root (counter INTEGER PRIMARY KEY, row INTEGER NOT NULL, salt BLOB NOT NULL);";

/* Settings of a database: WAL and FULL sync each commit. */
static int prepare_schema(struct store *s, int i)
{
  const char *n = schema_name[i];
  sqlite3_stmt *st = NULL;
  int err = run(s, "settings", "PRAGMA %w.page_size=4096; PRAGMA %w.synchronous=FULL", n, n);
  char *text = sqlite3_mprintf("PRAGMA %w.journal_mode=WAL", n);
  if (err == PPRF_OK && (sqlite3_prepare_v2(s->db, text, -1, &st, NULL) != SQLITE_OK ||
                         sqlite3_step(st) != SQLITE_ROW))
    err = sql_failed(s, "journal");
  else if (err == PPRF_OK && strcmp((const char *)sqlite3_column_text(st, 0), "wal") != 0)
    err = fail(PPRF_VAULT_ERR_STORE, "store: SQLite cannot use WAL here");
  else if (err == PPRF_OK && sqlite3_step(st) != SQLITE_DONE) /* the change is written only now */
    err = sql_failed(s, "journal");
  (void)sqlite3_finalize(st);
  sqlite3_free(text);
  return err == PPRF_OK ? run(s, "lock", "BEGIN EXCLUSIVE; COMMIT") : err;
}

static int make_tables(struct store *s, int i, const struct tree *tree)
{
  const char *n = schema_name[i];
  int err = run(s, "begin", "BEGIN IMMEDIATE");
  if (err == PPRF_OK)
    err = run(s, "tables", tables, n, n, n);
  sqlite3_stmt *st = NULL;
  char *text = sqlite3_mprintf("INSERT INTO %w.vault VALUES (1, ?)", n);
  if (err == PPRF_OK && (sqlite3_prepare_v2(s->db, text, -1, &st, NULL) != SQLITE_OK ||
                         sqlite3_bind_blob(st, 1, tree->head, PUBLIC, SQLITE_STATIC) != SQLITE_OK ||
                         sqlite3_step(st) != SQLITE_DONE))
    err = sql_failed(s, "head");
  (void)sqlite3_finalize(st);
  sqlite3_free(text);
  return err == PPRF_OK ? run(s, "commit", "COMMIT") : err;
}

/* No views, which could be endless, no triggers and no virtual tables: these have no root page. */
static const char *const only_tables[] = {
  "SELECT count(*) = 3 AND sum(type = 'table' AND rootpage > 0) = 3 FROM main.sqlite_schema",
  "SELECT count(*) = 3 AND sum(type = 'table' AND rootpage > 0) = 3 FROM mirror.sqlite_schema"};

static int read_head(struct store *s, int i, struct tree *tree)
{
  sqlite3_stmt *st = NULL;
  char *text = sqlite3_mprintf("SELECT head FROM %w.vault WHERE id = 1", schema_name[i]);
  bool good = store_number(s, only_tables[i]) == 1 &&
              sqlite3_prepare_v2(s->db, text, -1, &st, NULL) == SQLITE_OK &&
              sqlite3_step(st) == SQLITE_ROW && sqlite3_column_bytes(st, 0) == PUBLIC;
  if (good)
    memcpy(tree->head, sqlite3_column_blob(st, 0), PUBLIC);
  int code = sqlite3_errcode(s->db); /* ERROR: no such table */
  bool read =
    code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE || code == SQLITE_ERROR;
  int err = good ? PPRF_OK : read ? PPRF_VAULT_ERR_DAMAGED : sql_failed(s, "open");
  (void)sqlite3_finalize(st);
  sqlite3_free(text);
  if (!read || (err == PPRF_OK && tree_of_head(tree)))
    return err;
  return fail(PPRF_VAULT_ERR_DAMAGED, "store: the %s database is not a vault of this version",
              schema_name[i]);
}

static int prepare_statements(struct store *s, int i)
{
  static const char *const format[] = {
    "SELECT sealed FROM %w.page WHERE row = ?", "INSERT OR REPLACE INTO %w.page VALUES (?, ?)",
    "INSERT OR REPLACE INTO %w.root VALUES (?, ?, ?)", "DELETE FROM %w.root WHERE counter < ?"};
  sqlite3_stmt **st[] = {&s->get[i], &s->put[i], &s->root[i], &s->old[i]};
  for (int k = 0; k < 4; k++) {
    char *text = sqlite3_mprintf(format[k], schema_name[i]);
    int code = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, st[k], NULL);
    sqlite3_free(text);
    if (code != SQLITE_OK)
      return sql_failed(s, "tables");
  }
  return PPRF_OK;
}

static void forget_statements(struct store *s, int i)
{
  sqlite3_stmt **st[] = {&s->get[i], &s->put[i], &s->root[i], &s->old[i]};
  for (int k = 0; k < 4; k++) {
    (void)sqlite3_finalize(*st[k]);
    *st[k] = NULL;
  }
}

static const char same_roots[] =
  "SELECT NOT EXISTS (SELECT * FROM main.root EXCEPT SELECT * FROM mirror.root) AND "
  "NOT EXISTS (SELECT * FROM mirror.root EXCEPT SELECT * FROM main.root)";

/* Make an empty file. */
static bool make_file(const char *path)
{
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  return fd >= 0 && close(fd) == 0;
}

/* The name of a file for SQLite, which takes other names for addresses (file:..) or for memory. */
static char *name_of(const char *path)
{
  return sqlite3_mprintf("%s%s", *path == '/' ? "" : "./", path);
}

/* Whether SQLite's own way to files may be replaced: a program may have put another one in its place. */
static bool plain_files(void)
{
  const sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  return vfs != NULL && strcmp(vfs->zName, "unix") == 0;
}

/* Keep others out, by SQLite's own lock bytes, but with a lock of this descriptor: one of the process would be gone when
 * anything in it closes the file, after a copy for example (fcntl(2)).  SQLite itself then locks nothing; if it must, this
 * is another byte. */
static int lock_file(struct store *s, int i, const char *path)
{
  struct flock bytes = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512};
  if (!plain_files())
    bytes.l_start = INT64_MAX - 512;
  if (!descriptor_open(&s->lock[i], path, O_RDWR))
    return fail(PPRF_VAULT_ERR_STORE, "store %s: %s", path, strerror(errno));
  if (fcntl(s->lock[i].fd, F_OFD_SETLK, &bytes) == 0)
    return PPRF_OK;
  return errno == EAGAIN || errno == EACCES
           ? busy(path)
           : fail(PPRF_VAULT_ERR_STORE, "store %s: locking: %s", path, strerror(errno));
}

static int open_database(sqlite3 **db, const char *name)
{
  return sqlite3_open_v2(name, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX,
                         plain_files() ? "unix-none" : NULL);
}

static int attach(struct store *s, bool *empty)
{
  int err = run(s, "mirror", "ATTACH %Q AS mirror", s->mirror);
  uint64_t tables_in_it = 0;
  if (err == PPRF_OK)
    err = ask(s, "SELECT count(*) FROM mirror.sqlite_schema", &tables_in_it);
  *empty = tables_in_it == 0;
  return err;
}

static int use_mirror(struct store *s)
{
  int err = prepare_schema(s, 1);
  return err == PPRF_OK ? prepare_statements(s, 1) : err;
}

int store_mirror(struct store *s, const char *path, const char *directory, const struct tree *tree,
                 enum mirror *is)
{
  const char *name = strrchr(path, '/');
  struct tree its;
  struct stat a, b;
  bool empty = true;
  char *file = sqlite3_mprintf("%s/%s", directory, name == NULL ? path : name + 1);
  s->mirror = file != NULL ? name_of(file) : NULL;
  sqlite3_free(file);
  if (s->mirror == NULL)
    return fail(PPRF_ERR_NOMEM, "mirror: no memory");
  if (stat(path, &a) == 0 && stat(s->mirror, &b) == 0 && a.st_ino == b.st_ino &&
      a.st_dev == b.st_dev)
    return fail(PPRF_VAULT_ERR_STORE, "mirror %s: the store itself is there", directory);
  if (!make_file(s->mirror) && errno != EEXIST)
    return fail(PPRF_VAULT_ERR_STORE, "mirror %s: %s", s->mirror, strerror(errno));
  int err = lock_file(s, 1, s->mirror);
  if (err == PPRF_OK)
    err = attach(s, &empty);
  if (err == PPRF_OK && !empty)
    err = read_head(s, 1, &its);
  if (err == PPRF_VAULT_ERR_DAMAGED)
    return fail(err, "mirror %s: %s; move the file away to have a mirror made", s->mirror,
                pprf_vault_error());
  if (err == PPRF_OK && !empty && memcmp(its.head, tree->head, PUBLIC) != 0)
    err =
      fail(PPRF_VAULT_ERR_EXISTS, "mirror %s: another vault is there under this name", directory);
  if (err == PPRF_OK && !store_mirrored(s))
    err = store_set_mirrored(s, true);
  if (err == PPRF_OK)
    *is = empty                                                          ? MISSING
          : use_mirror(s) == PPRF_OK && store_number(s, same_roots) == 1 ? CURRENT
                                                                         : BEHIND;
  return err;
}

/* Write the store to a database, in one transaction. */
static int copy_to(struct store *s, const char *what, const char *file)
{
  sqlite3 *to = NULL;
  int code = open_database(&to, file), err = PPRF_OK;
  if (code == SQLITE_OK)
    code =
      sqlite3_exec(to, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL", NULL, NULL, NULL);
  sqlite3_backup *b = code == SQLITE_OK ? sqlite3_backup_init(to, "main", s->db, "main") : NULL;
  if (b != NULL) {
    (void)sqlite3_backup_step(b, -1);
    code = sqlite3_backup_finish(b);
  }
  if (b == NULL || code != SQLITE_OK)
    err = fail(PPRF_VAULT_ERR_STORE, "%s %s: it cannot be made: %s (SQLite %d)", what, file,
               sqlite3_errmsg(to), code);
  (void)sqlite3_close(to);
  return err;
}

int store_copy(struct store *s)
{
  bool empty;
  forget_statements(s, 1);
  int err = run(s, "mirror", "DETACH mirror");
  if (err == PPRF_OK)
    err = copy_to(s, "mirror", s->mirror);
  if (err == PPRF_OK)
    err = attach(s, &empty);
  return err == PPRF_OK ? use_mirror(s) : err;
}

/* Give a file its name, which nothing has.  Network file systems often lack the first way, some the second. */
static bool name_file(const char *from, const char *path)
{
  if (renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
    return true;
  if (errno == EEXIST)
    return false;
  if (link(from, path) == 0) {
    (void)unlink(from);
    return true;
  }
  return errno != EEXIST && make_file(path) && rename(from, path) == 0;
}

/* By way of a file of another name: a copy that was cut off is not taken for one. */
int store_backup(struct store *s, const char *path)
{
  static const char *const end[] = {"", "-wal",
                                    "-journal"}; /* SQLite would take these for the copy's */
  struct stat other;
  char *part = sqlite3_mprintf("%s.XXXXXX", path), *name = NULL;
  int err = part != NULL ? PPRF_OK : fail(PPRF_ERR_NOMEM, "backup: no memory"), fd = -1;
  for (int i = 0; i < 3 && err == PPRF_OK; i++) {
    char *taken = sqlite3_mprintf("%s%s", path, end[i]);
    if (taken == NULL || lstat(taken, &other) == 0)
      err = taken == NULL ? fail(PPRF_ERR_NOMEM, "backup: no memory")
                          : fail(PPRF_VAULT_ERR_EXISTS, "backup %s: File exists", taken);
    sqlite3_free(taken);
  }
  for (int i = 1; i < 3 && err == PPRF_OK; i++) { /* SQLite would remove it */
    size_t len = strlen(path), tail = strlen(end[i]);
    if (len >= tail && strcmp(path + len - tail, end[i]) == 0)
      err = fail(PPRF_VAULT_ERR_STORE, "backup %s: SQLite has such names for logs", path);
  }
  if (err == PPRF_OK && (sync_directory(path) != 0 || (fd = mkostemp(part, O_CLOEXEC)) < 0))
    err = fail(PPRF_VAULT_ERR_STORE, "backup %s: %s", path, strerror(errno));
  if (fd >= 0) {
    (void)close(fd);
    name = name_of(part);
    err = name != NULL ? copy_to(s, "backup", name) : fail(PPRF_ERR_NOMEM, "backup: no memory");
    if (err == PPRF_OK && !name_file(part, path))
      err = fail(errno == EEXIST ? PPRF_VAULT_ERR_EXISTS : PPRF_VAULT_ERR_STORE, "backup %s: %s",
                 path, strerror(errno));
    if (err != PPRF_OK)
      (void)unlink(part);
    else if (sync_directory(path) != 0) {
      err = fail(PPRF_VAULT_ERR_STORE, "backup %s: %s", path, strerror(errno));
      (void)unlink(path);
    }
  }
  sqlite3_free(name);
  sqlite3_free(part);
  return err;
}

int store_join(struct store *s)
{
  uint64_t last; /* rows that the store has lost may be whole in the mirror */
  int err = ask(s, "SELECT max(row) FROM mirror.page WHERE row < " FOREIGN, &last);
  s->last_row = last > s->last_row ? last : s->last_row;
  s->schemas = 2;
  s->frames = LOG_PAGES;
  return err == PPRF_OK ? store_settle(s) : err;
}

bool store_mirrored(struct store *s)
{
  return store_number(s, "PRAGMA main.user_version") == 1;
}

int store_set_mirrored(struct store *s, bool mirrored)
{
  return run(s, "mirror", "PRAGMA main.user_version=%d", (int)mirrored);
}

/* SQLite would open the file for reading only, and say later that it cannot. */
static bool may_write(const char *path)
{
  char *real = realpath(path, NULL);
  bool may = real != NULL && faccessat(AT_FDCWD, real, W_OK, AT_EACCESS) == 0 &&
             faccessat(AT_FDCWD, dirname(real), W_OK, AT_EACCESS) == 0;
  free(real);
  return may;
}

int store_open(struct store *s, const char *path, bool make, struct tree *tree)
{
  if (make ? !make_file(path) : access(path, F_OK) != 0)
    return fail(make && errno == EEXIST ? PPRF_VAULT_ERR_EXISTS : PPRF_VAULT_ERR_STORE,
                "store %s: %s", path, strerror(errno));
  s->made = make;
  if (!may_write(path))
    return fail(PPRF_VAULT_ERR_STORE, "store %s: %s: opening writes to the file and its directory",
                path, strerror(errno));
  s->schemas = 1;
  int err = lock_file(s, 0, path);
  char *name = err == PPRF_OK ? name_of(path) : NULL;
  if (err == PPRF_OK && (name == NULL || open_database(&s->db, name) != SQLITE_OK))
    err = sql_failed(s, path);
  sqlite3_free(name);
  if (err != PPRF_OK)
    return err;
  (void)sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 1 << 20); /* a foreign row may be longer */
  sqlite3_wal_hook(s->db, watch_log,
                   s); /* in place of SQLite's own checkpoints, whose errors nobody sees */
  /* Before a table is touched: an exclusive lock needs no shared memory and keeps others out.  It is set for databases
   * that are attached later too, which are read at once. */
  err = run(s, "lock", "PRAGMA locking_mode=EXCLUSIVE");
  if (err == PPRF_OK && !make) /* before a setting that writes: the file may be another program's */
    err = read_head(s, 0, tree);
  if (err == PPRF_OK)
    err = prepare_schema(s, 0);
  if (err == PPRF_OK && make)
    err = make_tables(s, 0, tree);
  if (err == PPRF_OK)
    err = prepare_statements(s, 0);
  s->frames =
    LOG_PAGES; /* what a killed process left in the log may never have been synced: write it anew */
  if (err == PPRF_OK && (err = store_settle(s)) == PPRF_VAULT_ERR_STORE)
    err = PPRF_OK; /* the disk may be full: all can be read, and the next commit tries again */
  return err == PPRF_OK ? ask(s, "SELECT max(row) FROM page WHERE row < " FOREIGN, &s->last_row)
                        : err;
}

void store_close(struct store *s)
{
  for (int i = 0; i < 2; i++)
    forget_statements(s, i);
  (void)sqlite3_close_v2(s->db);
  for (int i = 0; i < 2; i++)
    descriptor_close(&s->lock[i]);
  sqlite3_free(s->mirror);
  memset(s, 0, sizeof *s);
}

uint64_t store_number(struct store *s, const char *query)
{
  uint64_t number;
  (void)ask(s, query, &number);
  return number;
}

int store_newest(struct store *s, uint64_t most, uint64_t *counter)
{
  char query[80];
  (void)sqlite3_snprintf(sizeof query, query, "SELECT max(counter) FROM root WHERE counter <= %lld",
                         (long long)most);
  return ask(s, query, counter);
}

int store_get(struct store *s, int schema, uint64_t row, uint8_t *sealed)
{
  sqlite3_stmt *st = s->get[schema];
  int err = PPRF_OK;
  (void)sqlite3_bind_int64(st, 1, (sqlite3_int64)row);
  int code = sqlite3_step(st);
  int len = code == SQLITE_ROW ? sqlite3_column_bytes(st, 0) : 0;
  if (code == SQLITE_DONE)
    err = fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: the %s store has no such row",
               (unsigned long long)row, schema_name[schema]);
  else if (code != SQLITE_ROW)
    err = sql_failed(s, "a page");
  else if (len != SEALED_MAX)
    err = fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: it has %d bytes", (unsigned long long)row, len);
  else
    memcpy(sealed, sqlite3_column_blob(st, 0), SEALED_MAX);
  (void)sqlite3_reset(st);
  return err;
}

int store_root(struct store *s, uint64_t counter, struct root *root)
{
  sqlite3_stmt *st = NULL;
  int code =
    sqlite3_prepare_v2(s->db, "SELECT row, salt FROM root WHERE counter = ?", -1, &st, NULL);
  if (code == SQLITE_OK)
    (void)sqlite3_bind_int64(st, 1, (sqlite3_int64)counter);
  if (code == SQLITE_OK)
    code = sqlite3_step(st);
  int err = PPRF_OK;
  if (code == SQLITE_ROW && sqlite3_column_bytes(st, 1) == KEY) {
    root->counter = counter;
    root->row = (uint64_t)sqlite3_column_int64(st, 0);
    memcpy(root->salt, sqlite3_column_blob(st, 1), KEY);
  } else if (code == SQLITE_DONE)
    err = PPRF_VAULT_ERR_ROLLBACK;
  else
    err = code == SQLITE_ROW
            ? fail(PPRF_VAULT_ERR_DAMAGED, "store: the root of commit %llu has no salt",
                   (unsigned long long)counter)
            : sql_failed(s, "roots");
  (void)sqlite3_finalize(st);
  return err;
}

int rows_push(struct rows *rows, uint64_t row)
{
  if (rows->count == rows->room) {
    size_t room = 2 * rows->room + 16;
    uint64_t *at = realloc(rows->at, room * sizeof *at);
    if (at == NULL)
      return PPRF_ERR_NOMEM;
    rows->at = at;
    rows->room = room;
  }
  rows->at[rows->count++] = row;
  return PPRF_OK;
}

/* Run a statement in the store and its mirror, with numbers and perhaps bytes after them. */
static int write_row(struct store *s, sqlite3_stmt *const st[2], const char *what, uint64_t a,
                     uint64_t b, const uint8_t *bytes, size_t len)
{
  int err = PPRF_OK;
  for (int i = 0; i < s->schemas && err == PPRF_OK; i++) {
    (void)sqlite3_bind_int64(st[i], 1, (sqlite3_int64)a);
    if (b != 0)
      (void)sqlite3_bind_int64(st[i], 2, (sqlite3_int64)b);
    if (bytes != NULL)
      (void)sqlite3_bind_blob(st[i], b != 0 ? 3 : 2, bytes, (int)len, SQLITE_STATIC);
    err = sqlite3_step(st[i]) == SQLITE_DONE ? PPRF_OK : sql_failed(s, i == 0 ? what : "mirror");
    (void)sqlite3_reset(st[i]);
  }
  return err;
}

int store_begin(struct store *s)
{
  int err = store_settle(s);
  return err == PPRF_OK ? run(s, "begin", "BEGIN IMMEDIATE") : err;
}

int store_put(struct store *s, uint64_t row, const uint8_t *sealed)
{
  return write_row(s, s->put, "write a page", row, 0, sealed, SEALED_MAX);
}

int store_end(struct store *s, const struct root *from, const struct root *root)
{
  int err = write_row(s, s->old, "remove an old root", from->counter, 0, NULL, 0);
  if (err == PPRF_OK)
    err = write_row(s, s->root, "write a root", root->counter, root->row, root->salt, KEY);
  return err == PPRF_OK ? run(s, "commit", "COMMIT") : err;
}

void store_undo(struct store *s)
{
  (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* A process that ended left this log.  If a sync of it failed, the system gives what was written, counts it as
 * written, and the disk may not have it (fsync(2)): write it again. */
static int write_log_again(struct store *s, int i)
{
  sqlite3_file *log = NULL;
  sqlite3_int64 len = 0;
  uint8_t part[4096];
  int code = sqlite3_file_control(s->db, schema_name[i], SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log != NULL && log->pMethods != NULL)
    code = log->pMethods->xFileSize(log, &len);
  for (sqlite3_int64 at = 0, n; at < len && code == SQLITE_OK; at += n) {
    n = len - at < (int)sizeof part ? len - at : (int)sizeof part;
    code = log->pMethods->xRead(log, part, (int)n, at);
    if (code == SQLITE_OK)
      code = log->pMethods->xWrite(log, part, (int)n, at);
  }
  return code == SQLITE_OK ? PPRF_OK
                           : fail(PPRF_VAULT_ERR_STORE, "store: the log: %s", sqlite3_errstr(code));
}

int store_settle(struct store *s)
{
  if (s->frames < LOG_PAGES)
    return PPRF_OK;
  for (; s->logs < s->schemas; s->logs++) {
    int err = write_log_again(s, s->logs);
    if (err != PPRF_OK)
      return err;
  }
  if (sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL) != SQLITE_OK)
    return sql_failed(s, "checkpoint");
  s->frames = 0;
  return PPRF_OK;
}

int store_shrink(struct store *s, const struct rows *used)
{
  int err = PPRF_OK;
  if (store_number(s, "PRAGMA page_count") <= used->count + used->count / 16 + 16)
    return err;
  for (int i = 0; i < s->schemas && err == PPRF_OK; i++) {
    err = store_begin(s);
    for (size_t k = 0; k <= used->count && err == PPRF_OK; k++) { /* between two of them */
      int64_t from = k == 0 ? INT64_MIN : (int64_t)used->at[k - 1] + 1,
              to = k == used->count ? INT64_MAX : (int64_t)used->at[k] - 1;
      if (from <= to)
        err = run(s, "unused pages", "DELETE FROM %w.page WHERE row BETWEEN %lld AND %lld",
                  schema_name[i], from, to);
    }
    if (err == PPRF_OK && (err = run(s, "commit", "COMMIT")) == PPRF_OK)
      err = run(s, "vacuum", "VACUUM %w", schema_name[i]);
  }
  bool full = err != PPRF_OK && (sqlite3_errcode(s->db) & 255) == SQLITE_FULL;
  if (err != PPRF_OK)
    store_undo(s);
  s->frames = LOG_PAGES;
  if (err == PPRF_OK)
    err = store_settle(s);
  return err == PPRF_OK || full /* then all is as it was, and no sync has failed */
           ? PPRF_OK
           : fail(PPRF_VAULT_ERR_CLOSED, "%s; open the vault again", pprf_vault_error());
}
