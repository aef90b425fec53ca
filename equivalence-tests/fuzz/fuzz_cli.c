/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of pprf, run in this process and in its own scratch directory ($TMPDIR, by
 * default in memory, since pprf syncs files).
 *   byte 0    the key file k: bits 0 and 1 as in mend (fuzz.h), bit 2: there is no k
 *   then      the arguments, each ended by a zero byte; a byte 1 in place of one ends the list
 *   the rest  k's content, and standard input
 * Beside k there are the link l to it and the empty directory d.  Then:
 *   - the exit status is a documented one;
 *   - an error prints lines without control characters, the last of which names the bad input;
 *   - after an error k is as it was, byte for byte; info and eval never change it;
 *   - k is accepted as a key if and only if the model accepts it; what pprf makes of it is a key
 *     that has values of the old one and no others;
 *   - ref and opt print and write the same;
 *   - nothing else changes: no file is left behind, and no descriptor stays open. */
#include "fuzz.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cli/cli.h"
#include "impls.h"
#include "differential/model.h"

enum { WORDS_MAX = 12, ARGS_MAX = WORDS_MAX + 6 };

/* Bytes followed by a zero that is not counted. */
struct text {
  char *at;
  size_t len;
};

struct call {
  int argc;
  char *argv[ARGS_MAX + 1];
  const uint8_t *file; /* k before the call, and standard input */
  size_t file_len;
  bool have_file;
};

struct outcome {
  int status;
  struct text out, err, file; /* file: k after the call; at is NULL if there is no k */
};

static int scratch = -1, home = -1;
static char scratch_path[4096];

static void remove_scratch(void);

__attribute__((noreturn, format(printf, 2, 3))) static void die(const struct call *c,
                                                                const char *what, ...)
{
  va_list ap;
  va_start(ap, what);
  fprintf(stderr, "fuzz_cli: ");
  vfprintf(stderr, what, ap);
  va_end(ap);
  for (int i = 0; c != NULL && i < c->argc; i++)
    fprintf(stderr, "\n  argument %d: '%s'", i, c->argv[i]);
  fprintf(stderr, "\n");
  if (c != NULL)
    remove_scratch();
  if (fchdir(home) == 0) /* the directory in which the fuzzer keeps the input */
    abort();
  _exit(99);
}

/* ---- the scratch directory and the standard streams ---- */

/* Remove all files in a directory. Only d, at the top, is a directory. */
static void empty(int dir, bool top)
{
  DIR *d = fdopendir(dup(dir));
  if (d == NULL)
    die(NULL, "cannot read the scratch directory");
  rewinddir(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
        !(top && strcmp(e->d_name, "d") == 0))
      (void)unlinkat(dir, e->d_name, 0);
  closedir(d);
  if (!top)
    return;
  int sub = openat(dir, "d", O_RDONLY | O_DIRECTORY);
  if (sub >= 0) {
    empty(sub, false);
    close(sub);
  }
}

static void remove_scratch(void)
{
  empty(scratch, true);
  (void)unlinkat(scratch, "d", AT_REMOVEDIR);
  (void)rmdir(scratch_path);
}

static void begin(void)
{
  const char *tmp = getenv("TMPDIR");
  if (tmp == NULL)
    tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(scratch_path, sizeof scratch_path, "%s/pprf-fuzz-XXXXXX", tmp);
  home = open(".", O_RDONLY | O_DIRECTORY);
  if (home < 0 || mkdtemp(scratch_path) == NULL ||
      (scratch = open(scratch_path, O_RDONLY | O_DIRECTORY)) < 0 ||
      mkdirat(scratch, "d", 0700) != 0 || atexit(remove_scratch) != 0)
    die(NULL, "no scratch directory %s", scratch_path);
  fflush(stdout);
  for (int fd = 0; fd < 2; fd++) {
    int m = memfd_create("standard", MFD_CLOEXEC);
    if (m < 0 || dup2(m, fd) != fd || close(m) != 0)
      die(NULL, "no standard stream");
  }
}

static struct text read_whole(int fd)
{
  struct stat s;
  struct text t = {NULL, 0};
  if (fstat(fd, &s) != 0 || (t.at = malloc((size_t)s.st_size + 1)) == NULL ||
      pread(fd, t.at, (size_t)s.st_size, 0) != s.st_size)
    die(NULL, "cannot read what was written");
  t.len = (size_t)s.st_size;
  t.at[t.len] = '\0';
  return t;
}

static void write_whole(int fd, const uint8_t *bytes, size_t len)
{
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, len, 0) != (ssize_t)len ||
      lseek(fd, 0, SEEK_SET) != 0)
    die(NULL, "cannot write the input");
}

static int lowest_free_descriptor(void)
{
  int fd = dup(home);
  close(fd);
  return fd;
}

/* ---- a call of the program ---- */

static struct outcome run(const struct call *c)
{
  struct outcome o = {.status = -1};
  char *argv[ARGS_MAX + 1] = {NULL}; /* its own: it permutes them and overwrites a seed */
  for (int i = 0; i < c->argc; i++)
    argv[i] = strdup(c->argv[i]);
  char *copy[ARGS_MAX + 1];
  memcpy(copy, argv, sizeof copy);
  empty(scratch, true);
  if (c->have_file) {
    int fd = openat(scratch, "k", O_CREAT | O_EXCL | O_WRONLY, 0600);
    write_whole(fd, c->file, c->file_len);
    close(fd);
  }
  if (symlinkat("k", scratch, "l") != 0 || fchdir(scratch) != 0)
    die(c, "the scratch directory is in disorder");
  write_whole(0, c->file, c->file_len);
  write_whole(1, c->file, 0);
  int before = lowest_free_descriptor();
  FILE *real = stderr;
  stderr = open_memstream(&o.err.at, &o.err.len);
  o.status = command_run(c->argc, argv);
  fclose(stderr);
  stderr = real;
  fflush(stdout);
  if (lowest_free_descriptor() != before)
    die(c, "a descriptor stayed open");
  o.out = read_whole(1);
  int fd = openat(scratch, "k", O_RDONLY | O_NOFOLLOW);
  if (fd >= 0) {
    o.file = read_whole(fd);
    close(fd);
  }
  for (int i = 0; i < c->argc; i++)
    free(copy[i]);
  if (fchdir(home) != 0)
    die(c, "the way back is lost");
  return o;
}

static void forget(struct outcome *o)
{
  free(o->out.at);
  free(o->err.at);
  free(o->file.at);
}

/* ---- what must hold ---- */

/* Copy, with question marks where complain may print them: for everything except ASCII. */
static void show(char *to, size_t size, const char *arg)
{
  snprintf(to, size, "%s", arg);
  for (; *to != '\0'; to++)
    if ((unsigned char)*to < ' ' || (unsigned char)*to >= 127)
      *to = '?';
}

/* Whether a message contains 'TEXT', in these quotes. */
static bool is_quoted(const char *message, const char *text)
{
  size_t len = strlen(text);
  for (const char *p = message; (p = strstr(p, text)) != NULL; p++)
    if (p > message && p[-1] == '\'' && p[len] == '\'')
      return true;
  return false;
}

static bool ends(const char *text, const char *end)
{
  size_t len = strlen(text), end_len = strlen(end);
  return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Whether a line "pprf COMMAND: ..." names an argument, an option or what is missing, before the
 * hint to --help that ends a usage error. */
static bool names_input(const char *line, const struct call *c)
{
  static char arg[1 << 16], message[1 << 17];
  show(message, sizeof message, strstr(line, ": ") + 2);
  char *hint = NULL; /* the last occurrence, since an argument may contain the same text */
  for (char *p = message; (p = strstr(p, " (try 'pprf")) != NULL; p++)
    hint = p;
  if (hint != NULL && ends(hint, "--help')")) /* a path is followed by its error */
    *hint = '\0';
  if (strstr(message, " is missing") != NULL || strstr(message, "''") != NULL ||
      strstr(message, " --") != NULL || strncmp(message, "--", 2) == 0 ||
      strstr(message, "'--") != NULL || strstr(message, "option '-") != NULL ||
      strstr(message, "standard input, line ") != NULL)
    return true;
  for (int i = 1; i < c->argc; i++) {
    show(arg, sizeof arg, c->argv[i]);
    if (arg[0] != '\0' && strstr(message, arg) != NULL)
      return true;
    const char *value = strchr(arg, '='); /* --depth=VALUE */
    if (strncmp(arg, "--", 2) == 0 && value != NULL && value[1] != '\0' &&
        strstr(message, value + 1) != NULL)
      return true;
    if (arg[0] == '-' && arg[1] != '-' && arg[1] != '\0') /* -dVALUE, -fqdVALUE */
      for (const char *rest = arg + 2; *rest != '\0'; rest++)
        if (is_quoted(message, rest) || (rest == arg + 2 && strstr(message, rest) != NULL))
          return true;
  }
  return false;
}

/* Judge by the prefix: an argument may also contain the word. */
static bool is_warning(const char *line)
{
  return strncmp(strstr(line, ": "), ": warning: ", 11) == 0;
}

/* Lines "pprf COMMAND: ..."; after an error the last line names the input. */
static void check_messages(const struct call *c, const struct outcome *o)
{
  const char *last = NULL;
  bool errors = false;
  for (char *line = o->err.at, *end; line < o->err.at + o->err.len; line = end + 1) {
    end = memchr(line, '\n', (size_t)(o->err.at + o->err.len - line));
    if (end == NULL)
      die(c, "an incomplete message: %s", line);
    *end = '\0';
    if (strlen(line) != (size_t)(end - line) || strncmp(line, "pprf", 4) != 0 ||
        strstr(line, ": ") == NULL)
      die(c, "a line that is not a message: %s", line);
    for (const char *p = line; *p != '\0'; p++)
      if (iscntrl((unsigned char)*p) || (*p == '\xc2' && p[1] >= '\x80' && p[1] < '\xa0'))
        die(c, "a control character in a message: %s", line);
    errors |= !is_warning(line) && strstr(line, ": punctured already") == NULL;
    last = line;
  }
  bool failed = o->status == STATUS_USAGE || o->status == STATUS_FILE || o->status == STATUS_FAILED;
  if (!failed && errors)
    die(c, "status %d despite an error: %s", o->status, last);
  if (failed && (last == NULL || is_warning(last)))
    die(c, "status %d without a message", o->status);
  if (failed && !names_input(last, c))
    die(c, "the message does not name the bad input: %s", last);
  if (failed &&
      (o->status == STATUS_USAGE) != ends(last, " --help')")) /* a path may contain that, too */
    die(c, "status %d, and the hint to --help: %s", o->status, last);
}

/* Compare values at all nodes: the new key has none that the old one did not have. */
static void check_values(const struct call *c, const struct text *before, const struct text *after)
{
  pprf_key *old, *new;
  if (import_any(&impl_ref, &old, (const uint8_t *)before->at, before->len) != PPRF_OK ||
      import_any(&impl_ref, &new, (const uint8_t *)after->at, after->len) != PPRF_OK ||
      impl_ref.depth(old) != impl_ref.depth(new) || impl_ref.suite(old) != impl_ref.suite(new))
    die(c, "the key has become a different one");
  unsigned width = impl_ref.depth(old) / 8 + 1;
  size_t bytes = impl_ref.value_bytes(new), first = after->at[7] == 2 ? 36 : 16;
  size_t nodes = impl_ref.node_count(new);
  for (size_t i = 0; i < nodes; i += nodes / 64 + 1) {
    const uint8_t *record = (const uint8_t *)after->at + first + i * (width + bytes);
    uint64_t id = 0;
    uint8_t a[PPRF_VALUE_BYTES_MAX], b[PPRF_VALUE_BYTES_MAX];
    for (unsigned k = width; k-- > 0;)
      id = id << 8 | record[k];
    uint64_t start = (id & (id - 1)) / 2;
    if (impl_ref.eval(old, start, a) != PPRF_OK || impl_ref.eval(new, start, b) != PPRF_OK ||
        memcmp(a, b, bytes) != 0)
      die(c, "the new key has a value that the old one did not have");
  }
  impl_ref.free(old);
  impl_ref.free(new);
}

static bool begins(const char *text, const char *with)
{
  return strncmp(text, with, strlen(with)) == 0;
}

static bool any_argument_begins(const struct call *c, const char *with)
{
  for (int i = 2; i < c->argc; i++)
    if (begins(c->argv[i], with))
      return true;
  return false;
}

static void check_file(const struct call *c, const struct outcome *o)
{
  const char *command = c->argc > 1 ? c->argv[1] : "";
  struct text before = {(char *)(uintptr_t)c->file, c->file_len};
  bool on_file = strcmp(command, "eval") == 0 || strcmp(command, "punct") == 0 ||
                 strcmp(command, "info") == 0 || strcmp(command, "delegate") == 0;
  bool same = c->have_file ? o->file.at != NULL && o->file.len == c->file_len &&
                               memcmp(o->file.at, c->file, c->file_len) == 0
                           : o->file.at == NULL;
  bool is_key = c->have_file && model_accepts(c->file, c->file_len);
  bool helped = begins(o->out.at, "Usage: ") || begins(o->out.at, "pprf ");
  bool done = o->status == STATUS_DONE || o->status == STATUS_PUNCTURED;
  char to[8] = "";
  if (readlinkat(scratch, "l", to, sizeof to) != 1 || to[0] != 'k')
    die(c, "the link is gone");
  if (strcmp(command, "simulate") == 0 && any_argument_begins(c, "--c") && !c->have_file)
    return; /* --csv may create k, but never replaces it */
  bool may_change = strcmp(command, "punct") == 0 || strcmp(command, "setup") == 0;
  if (!same &&
      (!done || !may_change)) /* delegate never writes to FILE, and no other key is there */
    die(c, "k changed despite status %d", o->status);
  if (!same && !model_accepts((const uint8_t *)o->file.at, o->file.len))
    die(c, "k is no longer a canonical key file");
  if (on_file && done && !helped && !is_key)
    die(c, "k was accepted as a key");
  if (o->status == STATUS_FILE && is_key &&
      (strstr(o->err.at, "damaged") != NULL || strstr(o->err.at, "not a key file") != NULL))
    die(c, "k was not accepted as a key");
  if (!same && strcmp(command, "punct") == 0)
    check_values(c, &before, &o->file);
}

static void check_directory(const struct call *c)
{
  DIR *d = fdopendir(dup(scratch));
  if (d == NULL)
    die(c, "cannot read the scratch directory");
  rewinddir(d);
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    size_t n = strlen(e->d_name);
    bool named = false; /* a key file may have any name */
    for (int i = 0; i < c->argc; i++) {
      size_t len = strlen(c->argv[i]);
      named = named || (len >= n && strcmp(c->argv[i] + len - n, e->d_name) == 0);
    }
    if (begins(e->d_name, ".pprf-") && !named)
      die(c, "a file is left behind: %s", e->d_name);
  }
  closedir(d);
}

static bool same_text(const struct text *a, const struct text *b)
{
  return a->len == b->len && (a->at == NULL) == (b->at == NULL) &&
         (a->at == NULL || memcmp(a->at, b->at, a->len) == 0);
}

/* Make the same call with --impl ref, and compare. */
static void compare_with_ref(const struct call *c, const struct outcome *o)
{
  static char impl[] = "--impl=ref";
  if (c->argc < 2 || (strcmp(c->argv[1], "eval") != 0 && strcmp(c->argv[1], "punct") != 0))
    return;
  struct call other = *c;
  memmove(other.argv + 3, other.argv + 2, (ARGS_MAX - 2) * sizeof *other.argv);
  other.argv[2] = impl;
  other.argc++;
  struct outcome r = run(&other);
  if (r.status != o->status || !same_text(&r.out, &o->out) || !same_text(&r.err, &o->err) ||
      !same_text(&r.file, &o->file))
    die(&other, "ref differs: status %d, %s", r.status, r.err.at);
  forget(&r);
}

/* ---- the input ---- */

/* Remove slashes that could lead out of the directory; only ./ and d/ remain. */
static void confine(char *word)
{
  for (char *p = word; *p != '\0'; p++) {
    if (*p != '/')
      continue;
    bool start = p == word || p - 1 == word || p[-2] == '=' || p[-2] == '/';
    if (p == word || !start || (p[-1] != '.' && p[-1] != 'd' && p[-1] != '/'))
      *p = '_';
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  static char program[] = "pprf", few[] = "--punctures=8";
  struct call c = {.argc = 1, .argv = {program}};
  if (scratch < 0)
    begin();
  if (len < 1)
    return 0;
  const uint8_t *at = bytes + 1, *end = bytes + len;
  while (at < end && *at != 1 && c.argc <= WORDS_MAX) {
    size_t n = strnlen((const char *)at, (size_t)(end - at));
    char *word = strndup((const char *)at, n);
    confine(word);
    c.argv[c.argc++] = word;
    at += n < (size_t)(end - at) ? n + 1 : n;
  }
  at += at < end && *at == 1;
  int words = c.argc;
  uint8_t *file = malloc((size_t)(end - at) + 1);
  c.file_len = (size_t)(end - at);
  memcpy(file, at, c.file_len);
  mend(file, c.file_len, bytes[0]);
  c.file = file;
  c.have_file = (bytes[0] & 4) == 0;
  /* Keep simulations short: these two words form an option, whatever precedes them. */
  if (c.argc > 1 && strcmp(c.argv[1], "simulate") == 0)
    for (int i = 0; i < 2; i++)
      c.argv[c.argc++] = few;
  struct outcome o = run(&c);
  if (o.status < STATUS_DONE || o.status > STATUS_FAILED)
    die(&c, "status %d", o.status);
  check_file(&c, &o);
  check_directory(&c);
  compare_with_ref(&c, &o);
  check_messages(&c, &o); /* last, since it splits the text into lines */
  forget(&o);
  for (int i = 1; i < words; i++)
    free(c.argv[i]);
  free(file);
  return 0;
}
