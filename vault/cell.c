/* SPDX-License-Identifier: Apache-2.0 */
/* Cells: a file, a command, memory. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "page.h"

extern char **environ;
enum { CELL = PPRF_VAULT_CELL_BYTES, SLOT = 4096, RECORD = CELL + 32 };
static const char SECONDS[] = "60";

struct cell {
  struct descriptor file;
  bool loaded, given;      /* given: an attempt to commit has had the next value */
  int at;                  /* the slot of the current value */
  uint8_t slot[2][CELL];   /* of a file: the current value and the next one */
  char warning[256];
  char text[];             /* the path, or the command */
};

/* ---- a file
 *
 * Two slots in separate blocks hold the current value, K, and the one that the next commit will use, K'.  A
 * write overwrites K by a fresh K'', with one sync: K is gone, K' is current.  If it is torn, its slot is no record,
 * and K' is current all the same.  If it did not happen, K is.  K' is replaced, synced, when the file is opened and
 * before a second attempt to commit: what an attempt that was cut off sealed under K' must never open again. */

static int file_failed(const struct cell *c, int err, const char *what)
{
  return fail(err, "cell %s: %s: %s", c->text, what, strerror(errno));
}

/* A record: the value, and the SHA-256 of it and a name, which tells a torn write. */
static void make_record(uint8_t record[RECORD], const uint8_t value[CELL])
{
  uint8_t named[CELL + 16] = "";
  memcpy(named, value, CELL);
  memcpy(named + CELL, "pprf vault cell", 16);
  memcpy(record, value, CELL);
  SHA256(named, sizeof named, record + CELL);
  OPENSSL_cleanse(named, sizeof named);
}

static bool read_slot(struct cell *c, int i)
{
  uint8_t got[RECORD], good[RECORD];
  bool ok = pread(c->file.fd, got, RECORD, (off_t)i * SLOT) == RECORD;
  make_record(good, got);
  ok = ok && CRYPTO_memcmp(got, good, RECORD) == 0;
  memcpy(c->slot[i], got, CELL);
  OPENSSL_cleanse(got, sizeof got);
  OPENSSL_cleanse(good, sizeof good);
  return ok;
}

static int write_slot(struct cell *c, int i, int (*sync)(int))
{
  uint8_t record[RECORD];
  make_record(record, c->slot[i]);
  bool ok = pwrite(c->file.fd, record, RECORD, (off_t)i * SLOT) == RECORD && sync(c->file.fd) == 0;
  OPENSSL_cleanse(record, sizeof record);
  return ok ? PPRF_OK : file_failed(c, PPRF_VAULT_ERR_CLOSED, "write and sync");
}

/* A fresh value whose counter follows that of slot 1 - i; after an error the slot is as it was. */
static int refresh(struct cell *c, int i)
{
  uint8_t value[CELL];
  int err = draw(value, CELL);
  put_le(value, get_le(c->slot[1 - i], 8) + 1, 8);
  if (err == PPRF_OK)
    memcpy(c->slot[i], value, CELL);
  OPENSSL_cleanse(value, sizeof value);
  return err;
}

static int open_file(struct cell *c, int flags)
{
  if (!descriptor_open(&c->file, c->text, O_RDWR | flags))
    return errno == ENOENT ? PPRF_VAULT_CELL_EMPTY : file_failed(c, PPRF_VAULT_ERR_CELL, "open");
  if (flock(c->file.fd, LOCK_EX | LOCK_NB) != 0)
    return fail(PPRF_VAULT_ERR_BUSY, "cell %s: another process, or another handle, has it open",
                c->text);
  return PPRF_OK;
}

/* The other slot is written at each first read: a commit that was cut off may have used it, it may be torn, or never
 * have been synced. */
static int load_file(struct cell *c)
{
  bool good[2] = {read_slot(c, 0), read_slot(c, 1)};
  uint64_t a = get_le(c->slot[0], 8), b = get_le(c->slot[1], 8);
  if (lseek(c->file.fd, 0, SEEK_END) == 0)
    return PPRF_VAULT_CELL_EMPTY;
  if ((!good[0] && !good[1]) || (good[0] && good[1] && a + 1 != b && b + 1 != a))
    return fail(PPRF_VAULT_ERR_CELL, "cell %s: it is damaged, or is no cell", c->text);
  c->at = good[0] && (!good[1] || a < b) ? 0 : 1;
  int err = refresh(c, 1 - c->at);
  if (err == PPRF_OK)
    err = write_slot(c, 1 - c->at, fdatasync);
  c->loaded = err == PPRF_OK;
  return err;
}

static int file_read(void *arg, uint8_t value[CELL])
{
  struct cell *c = arg;
  int err = c->file.fd >= 0 ? PPRF_OK : open_file(c, 0);
  if (err == PPRF_OK && !c->loaded)
    err = load_file(c);
  memset(value, 0, CELL);
  if (err == PPRF_OK)
    memcpy(value, c->slot[c->at], CELL);
  return err;
}

static int file_next(void *arg, uint8_t value[CELL])
{
  struct cell *c = arg;
  int err = PPRF_OK;
  if (!c->loaded) { /* the first value of all */
    if (c->file.fd < 0)
      err = open_file(c, O_CREAT | O_EXCL);
    c->at = 1;
    memset(c->slot[1], 0, CELL);
    if (err == PPRF_OK)
      err = refresh(c, 0);
    if (err == PPRF_OK)
      err = write_slot(c, 0, fsync);
    if (err == PPRF_OK && sync_directory(c->text) != 0)
      err = file_failed(c, PPRF_VAULT_ERR_CELL, "sync the directory");
    c->loaded = err == PPRF_OK;
  } else if (c->given && (err = refresh(c, 1 - c->at)) == PPRF_OK)
    err = write_slot(c, 1 - c->at, fdatasync);
  c->given = true;
  memcpy(value, c->slot[1 - c->at], CELL);
  return err;
}

static int file_write(void *arg, const uint8_t value[CELL])
{
  struct cell *c = arg;
  if (!c->loaded || CRYPTO_memcmp(value, c->slot[1 - c->at], CELL) != 0)
    return fail(PPRF_VAULT_ERR_CELL, "cell %s: another value than the next one", c->text);
  int err = refresh(c, c->at);
  if (err != PPRF_OK)
    return err;
  err = write_slot(c, c->at, fdatasync);
  c->at = 1 - c->at;
  c->given = false;
  return err;
}

static void cell_close(void *arg)
{
  struct cell *c = arg;
  descriptor_close(&c->file);
  wipe_free(c, sizeof *c);
}

/* What overwriting can promise depends on what lies below the file. */
static void warn_of_file(struct cell *c)
{
  static const struct {
    unsigned long type;
    const char *name, *promise;
  } known[] = {
    {0xef53, "ext4",
     "overwrites in place, but the journal (data=journal) and flash keep old blocks"},
    {0x58465342, "XFS",
     "overwrites in place unless the file is cloned, but flash keeps old blocks"},
    {0x9123683e, "btrfs", "never overwrites in place: old values stay on the disk"},
    {0x2fc12fc1, "ZFS", "never overwrites in place: old values stay on the disk"},
    {0xf2f52010, "F2FS", "never overwrites in place: old values stay on the disk"},
    {0xca451a4e, "bcachefs", "never overwrites in place: old values stay on the disk"},
    {0x794c7630, "overlay", "overwrites as the layer below does; an image of it may keep a value"},
    {0x6969, "NFS", "overwrites as the server does, of which nothing is known here"},
    {0x01021994, "tmpfs", "lies in memory and swap: the vault is lost at a restart"},
  };
  struct statfs s;
  char *copy = strdup(c->text);
  bool found = statfs(c->text, &s) == 0 || (copy != NULL && statfs(dirname(copy), &s) == 0);
  const char *name = "this file system", *promise = "is not known to overwrite in place";
  for (size_t i = 0; found && i < sizeof known / sizeof *known; i++)
    if (known[i].type == (unsigned long)s.f_type) {
      name = known[i].name;
      promise = known[i].promise;
    }
  (void)snprintf(c->warning, sizeof c->warning,
                 "cell in a file: %s %s; snapshots and backups that contain it open erased leaves",
                 name, promise);
  free(copy);
}

/* ---- a command */

/* Run the command with one more word, for at most SECONDS, in a process group of its own.  The value goes through
 * a pipe, which has room for it.  @return bytes of output, at most CELL + 1; -1 if it failed (reported) */
static int command(struct cell *c, const char *verb, const uint8_t *value, uint8_t got[CELL + 1])
{
  char *argv[] = {(char *)"timeout", (char *)"-k1", (char *)SECONDS, (char *)"sh", (char *)"-c",
                  c->text,           (char *)"sh",  (char *)verb,    NULL};
  int in[2] = {-1, -1}, out[2] = {-1, -1}, n = 0, status = -1, error = 0;
  posix_spawn_file_actions_t files;
  ssize_t more = 1;
  pid_t pid, ended = 0;
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
      (value != NULL && write(in[1], value, CELL) != CELL))
    error = errno;
  (void)posix_spawn_file_actions_init(&files);
  (void)posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
  (void)posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  if (error == 0)
    error = posix_spawnp(&pid, "timeout", &files, NULL, argv, environ);
  (void)posix_spawn_file_actions_destroy(&files);
  (void)close(in[0]);
  (void)close(in[1]);
  (void)close(out[1]);
  /* to the end of its output, or its own end: what it left running may hold the pipe */
  while (error == 0 && n <= CELL && more != 0) {
    struct pollfd p = {.fd = out[0], .events = POLLIN};
    int ready = poll(&p, 1, ended != 0 ? 0 : 50);
    if (ready == 0 && ended != 0)
      break;
    if (ready == 0)
      ended = waitpid(pid, &status, WNOHANG);
    else if (ready > 0 && (more = read(out[0], got + n, (size_t)(CELL + 1 - n))) > 0)
      n += (int)more;
  }
  (void)close(out[0]);
  while (error == 0 && ended == 0 && (ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
    ended = 0;
  if (error != 0 || ended < 0)
    return fail(-1, "cell: the command cannot %s: %s",
                error != 0 ? "start" : "be waited for, as when the process ignores SIGCHLD",
                strerror(error != 0 ? error : errno));
  return status == 0 ? n
                     : fail(-1, "cell: the command failed: %s, status %d%s", verb,
                            WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                            WIFEXITED(status) && WEXITSTATUS(status) == 124 ? ", no end" : "");
}

static int command_read(void *arg, uint8_t value[CELL])
{
  uint8_t got[CELL + 1] = {0};
  int n = command(arg, "read", NULL, got);
  memset(value, 0, CELL);
  if (n == CELL)
    memcpy(value, got, CELL);
  OPENSSL_cleanse(got, sizeof got);
  return n == CELL ? PPRF_OK
         : n == 0  ? PPRF_VAULT_CELL_EMPTY
         : n < 0   ? PPRF_VAULT_ERR_CELL
                   : fail(PPRF_VAULT_ERR_CELL, "cell: read gave %s than %d bytes",
                        n < CELL ? "fewer" : "more", CELL);
}

static int command_write(void *arg, const uint8_t value[CELL])
{
  uint8_t got[CELL + 1];
  int n = command(arg, "write", value, got);
  int err = n < 0 ? PPRF_VAULT_ERR_UNKNOWN : command_read(arg, got);
  if (n >= 0 && (err != PPRF_OK || CRYPTO_memcmp(got, value, CELL) != 0))
    err = fail(PPRF_VAULT_ERR_UNKNOWN, "cell: after a write it holds another value");
  OPENSSL_cleanse(got, sizeof got);
  return err;
}

/* ---- memory */

static int memory_read(void *arg, uint8_t value[CELL])
{
  static const uint8_t none[CELL];
  memcpy(value, arg, CELL);
  return memcmp(value, none, CELL) == 0 ? PPRF_VAULT_CELL_EMPTY : PPRF_OK;
}

static int memory_write(void *arg, const uint8_t value[CELL])
{
  memcpy(arg, value, CELL);
  return PPRF_OK;
}

int pprf_vault_cell_memory(struct pprf_vault_cell *cell, uint8_t value[CELL])
{
  if (cell == NULL || value == NULL)
    return fail(PPRF_ERR_NULL, "cell: a pointer is NULL");
  *cell = (struct pprf_vault_cell){sizeof *cell,
                                   value,
                                   memory_read,
                                   NULL,
                                   memory_write,
                                   NULL,
                                   "cell in memory: the vault is lost with the process"};
  return PPRF_OK;
}

int pprf_vault_cell(struct pprf_vault_cell *cell, const char *spec)
{
  if (cell == NULL || spec == NULL)
    return fail(PPRF_ERR_NULL, "cell: a pointer is NULL");
  bool file = strncmp(spec, "file:", 5) == 0;
  const char *text = spec + (file ? 5 : 0);
  struct cell *c = calloc(1, sizeof *c + strlen(text) + sizeof " \"$1\"");
  if (c == NULL)
    return fail(PPRF_ERR_NOMEM, "cell: no memory");
  c->file.fd = -1;
  (void)sprintf(c->text, file ? "%s" : "%s \"$1\"", text);
  strcpy(c->warning, "cell behind a command: an erasure is as final as what the command replaces");
  if (file)
    warn_of_file(c);
  *cell = (struct pprf_vault_cell){sizeof *cell,
                                   c,
                                   file ? file_read : command_read,
                                   file ? file_next : NULL,
                                   file ? file_write : command_write,
                                   cell_close,
                                   c->warning};
  return PPRF_OK;
}
