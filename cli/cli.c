/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/suites.h"
#include "impls/list.h"

int check_file_operand(const char *path)
{
  if (*path == '\0')
    return complain(STATUS_USAGE, "FILE '': empty");
  if (strcmp(path, "-") == 0)
    return complain(STATUS_USAGE,
                    "FILE '-': a key must be in a file (use ./- for a file of that name)");
  return STATUS_DONE;
}

const struct pprf_impl *impl_by_name(const char *name, bool list_allowed)
{
  const struct pprf_impl *all[] = {&impl_opt, &impl_ref, list_allowed ? &impl_list : NULL};
  for (size_t i = 0; i < sizeof all / sizeof *all && all[i] != NULL; i++)
    if (strcmp(all[i]->name, name) == 0)
      return all[i];
  complain(STATUS_USAGE, "--impl '%s': not one of %s", name,
           list_allowed ? "list, ref, opt" : "ref, opt");
  return NULL;
}

enum number { NO_NUMBER, NUMBER, GREATER_NUMBER /* than UINT64_MAX */ };

/* Parse the text from `text` up to `end`. */
static enum number read_number(const char *text, const char *end, uint64_t *value)
{
  bool hex = end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  enum number what = text == end ? NO_NUMBER : NUMBER;
  uint64_t v = 0;
  for (const char *p = hex ? text + 2 : text; p < end; p++) {
    unsigned digit = 16, base = hex ? 16 : 10;
    if (*p >= '0' && *p <= '9')
      digit = (unsigned)(*p - '0');
    else if (*p >= 'a' && *p <= 'f')
      digit = (unsigned)(*p - 'a') + 10;
    else if (*p >= 'A' && *p <= 'F')
      digit = (unsigned)(*p - 'A') + 10;
    if (digit >= base)
      return NO_NUMBER;
    if (v > (UINT64_MAX - digit) / base)
      what = GREATER_NUMBER;
    else
      v = v * base + digit;
  }
  *value = v;
  return what;
}

bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
  return read_number(text, text + strlen(text), value) == NUMBER && *value <= max;
}

int parse_suite(const char *text, unsigned *suite)
{
  for (*suite = 1; pprf_suite_name(*suite) != NULL; ++*suite)
    if (strcmp(text, pprf_suite_name(*suite)) == 0)
      return STATUS_DONE;
#define NAME_ROW(number, name, salted, bytes) ", " name
  return complain(STATUS_USAGE, "suite '%s': not one of %s", text,
                  &PPRF_SUITE_TABLE(NAME_ROW)[strlen(", ")]);
}

int parse_depth(const char *text, unsigned *depth)
{
  uint64_t number = 0;
  if (!parse_number(text, PPRF_DEPTH_MAX, &number) || number < PPRF_DEPTH_MIN)
    return complain(STATUS_USAGE, "--depth '%s': not a number from %d to %d", text, PPRF_DEPTH_MIN,
                    PPRF_DEPTH_MAX);
  *depth = (unsigned)number;
  return STATUS_DONE;
}

/* Parse a leaf or a range. @return NULL, or a description of the error. */
static const char *parse_range(const char *text, struct range *r)
{
  const char *end = text + strlen(text), *dots = strstr(text, "..");
  r->single = dots == NULL;
  enum number first = read_number(text, r->single ? end : dots, &r->first), last = first;
  r->last = r->first;
  if (!r->single)
    last = read_number(dots + 2, end, &r->last);
  if (first == NO_NUMBER || last == NO_NUMBER)
    return r->single ? "not a decimal or 0x-hexadecimal number"
                     : "not two decimal or 0x-hexadecimal numbers";
  if (first == GREATER_NUMBER || last == GREATER_NUMBER)
    return "beyond the last leaf of any key";
  return r->first > r->last ? "its first leaf is greater than its last" : NULL;
}

static const char *kind(bool single)
{
  return single ? "leaf" : "range";
}

static int append(struct ranges *r, const struct range *one)
{
  if (r->count == r->room) {
    size_t room = 2 * r->room + 16;
    struct range *more =
      room > SIZE_MAX / sizeof *more ? NULL : realloc(r->at, room * sizeof *more);
    if (more == NULL)
      return complain(STATUS_FAILED, "no memory for %zu leaves", r->count);
    r->at = more;
    r->room = room;
  }
  r->at[r->count++] = *one;
  return STATUS_DONE;
}

static int add_line(struct ranges *r, const char *text, size_t len, uint64_t number)
{
  struct range one = {.line = number};
  if (strlen(text) != len)
    return complain(STATUS_USAGE, "standard input, line %" PRIu64 ": a zero byte", number);
  const char *wrong = parse_range(text, &one);
  if (wrong != NULL)
    return complain(STATUS_USAGE, "standard input, line %" PRIu64 ": %s '%s': %s", number,
                    kind(one.single), text, wrong);
  return append(r, &one);
}

/* Read all of standard input before any file is locked.  The last line may lack a line feed. */
static int add_lines(struct ranges *r)
{
  enum { LINE_MAX_BYTES = 160, BLOCK = 1 << 14 };
  char line[LINE_MAX_BYTES + 1], block[BLOCK];
  size_t used = 0;
  uint64_t number = 1;
  for (;;) {
    ssize_t n = read(STDIN_FILENO, block, sizeof block);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return complain(STATUS_FAILED, "standard input: %s", strerror(errno));
    for (ssize_t i = 0; i <= n; i++) {
      bool at_end = n == 0 && used > 0;
      if (i == n && !at_end)
        break;
      if (at_end || block[i] == '\n') {
        line[used] = '\0';
        int status = add_line(r, line, used, number++);
        if (status != STATUS_DONE)
          return status;
        used = 0;
      } else if (used == LINE_MAX_BYTES) {
        return complain(STATUS_USAGE, "standard input, line %" PRIu64 ": longer than %d bytes",
                        number, LINE_MAX_BYTES);
      } else {
        line[used++] = block[i];
      }
    }
    if (n == 0)
      return STATUS_DONE;
  }
}

int add_ranges(struct ranges *r, const char *text)
{
  if (strcmp(text, "-") == 0) {
    if (r->read)
      return complain(STATUS_USAGE, "operand '-': standard input can be read only once");
    r->read = true;
    return add_lines(r);
  }
  struct range one = {.text = text};
  const char *wrong = parse_range(text, &one);
  if (wrong != NULL)
    return complain(STATUS_USAGE, "%s '%s': %s", kind(one.single), text, wrong);
  return append(r, &one);
}

const char *range_text(const struct range *r, char buffer[RANGE_TEXT])
{
  if (r->text != NULL)
    return r->text;
  if (r->single)
    snprintf(buffer, RANGE_TEXT, "%" PRIu64, r->first);
  else
    snprintf(buffer, RANGE_TEXT, "%" PRIu64 "..%" PRIu64, r->first, r->last);
  return buffer;
}

int check_range(const struct range *r, unsigned depth)
{
  uint64_t greatest = (UINT64_C(1) << depth) - 1;
  char where[64] = "", buffer[RANGE_TEXT];
  if (r->last <= greatest)
    return STATUS_DONE;
  if (r->text == NULL)
    snprintf(where, sizeof where, "standard input, line %" PRIu64 ": ", r->line);
  return complain(STATUS_USAGE, "%s%s '%s': the key's last leaf is %" PRIu64, where,
                  kind(r->single), range_text(r, buffer), greatest);
}

/* ---- progress ---- */

#define PROGRESS_AFTER_NS UINT64_C(1000000000)
#define PROGRESS_EVERY_NS UINT64_C(100000000)

uint64_t now_ns(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail with this clock */
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct progress progress_begin(void)
{
  const char *term = getenv("TERM");
  bool moves = term != NULL && strcmp(term, "dumb") != 0; /* the terminal knows \r and ESC [ K */
  return (struct progress){.begun = now_ns(),
                           .terminal = !quiet && moves && isatty(STDERR_FILENO) == 1};
}

void progress_show(struct progress *p, const char *what, uint64_t done, uint64_t total)
{
  enum { BAR_MAX = 32, BAR_MIN = 4, LINE_MAX_COLUMNS = 120 };
  struct winsize size;
  char end[64], line[LINE_MAX_COLUMNS + 1];
  if (!p->terminal)
    return;
  uint64_t now = now_ns(), taken = now - p->begun;
  if (taken < PROGRESS_AFTER_NS || now - p->shown < PROGRESS_EVERY_NS)
    return;
  double part = done < total ? (double)done / (double)total : 1;
  double left = part > 0 ? (double)taken * 1e-9 * (1 - part) / part : 0;
  int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  columns =
    columns > LINE_MAX_COLUMNS ? LINE_MAX_COLUMNS : columns - 1; /* the cursor stays in the line */
  int after = left < 3600
                ? snprintf(end, sizeof end, " %3.0f%%  %d:%02d left", 100 * part, (int)left / 60,
                           (int)left % 60)
                : snprintf(end, sizeof end, " %3.0f%%  %.0f h left", 100 * part, left / 3600);
  int bar = columns - (int)strlen(what) - after - 3;
  bar = bar > BAR_MAX ? BAR_MAX : bar;
  if (bar < BAR_MIN) /* a narrow terminal shows only the end */
    snprintf(line, (size_t)columns + 1, "%s", end + 1);
  else
    snprintf(line, (size_t)columns + 1, "%s [%.*s%*s]%s", what, (int)(part * bar),
             "################################", bar - (int)(part * bar), "", end);
  fprintf(stderr, "\r%s\033[K", line);
  fflush(stderr);
  p->shown = now;
  p->visible = true;
}

void progress_end(const struct progress *p)
{
  if (p->visible)
    fputs("\r\033[K", stderr);
}

/* ---- memory for secrets, output ---- */

void *secret_alloc(size_t bytes)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  (void)madvise(p, bytes, MADV_DONTDUMP);
  (void)mlock(p, bytes); /* the limit may be too low */
  return p;
}

void secret_free(void *memory, size_t bytes)
{
  if (memory == NULL)
    return;
  explicit_bzero(memory, bytes);
  (void)munmap(memory, bytes);
}

bool write_all(int fd, const void *bytes, size_t len)
{
  const uint8_t *p = bytes;
  while (len > 0) {
    ssize_t n = write(fd, p, len);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    p += n;
    len -= (size_t)n;
  }
  return true;
}

static void output_write(struct output *out)
{
  if (!out->failed && !write_all(STDOUT_FILENO, out->text, out->used)) {
    complain(STATUS_FAILED, "standard output: %s", strerror(errno));
    out->failed = true;
  }
  out->used = 0;
}

/* Hexadecimal digits by arithmetic: no branch and no address depends on a secret. */
static char hex_digit(unsigned nibble)
{
  return (char)('0' + nibble + ((9 - nibble) >> 31) * ('a' - '0' - 10));
}

/* All ones if lo <= c <= hi, else 0. */
static unsigned within(unsigned c, unsigned lo, unsigned hi)
{
  return 0 - (((lo - 1 - c) & (c - hi - 1)) >> 31);
}

bool parse_seed(const char *text, size_t len, uint8_t *seed, size_t bytes)
{
  unsigned valid = ~0u;
  if (len != 2 * bytes)
    return false;
  for (size_t i = 0; i < len; i++) {
    unsigned c = (uint8_t)text[i], lower = c | 32;
    unsigned decimal = within(c, '0', '9'), letter = within(lower, 'a', 'f');
    unsigned digit = (decimal & (c - '0')) | (letter & (lower - 'a' + 10));
    valid &= decimal | letter;
    seed[i / 2] = (uint8_t)(seed[i / 2] << 4 | digit);
  }
  return valid != 0;
}

enum { TEXT_MAX = 200 };

void output_text(struct output *out, const char *format, ...)
{
  va_list args;
  if (out->used + TEXT_MAX > sizeof out->text)
    output_write(out);
  va_start(args, format);
  int n = vsnprintf(out->text + out->used, TEXT_MAX, format, args);
  va_end(args);
  out->used += n > 0 ? (size_t)n : 0;
}

void output_value(struct output *out, const uint8_t *value, size_t bytes)
{
  if (out->used + 2 * bytes > sizeof out->text)
    output_write(out);
  for (size_t i = 0; i < bytes; i++) {
    out->text[out->used++] = hex_digit(value[i] >> 4);
    out->text[out->used++] = hex_digit(value[i] & 15u);
  }
}

int output_end(struct output *out)
{
  output_write(out);
  explicit_bzero(out->value, sizeof out->value);
  explicit_bzero(out->text, sizeof out->text);
  return out->failed ? STATUS_FAILED : STATUS_DONE;
}
