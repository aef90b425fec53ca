/* SPDX-License-Identifier: Apache-2.0 */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "list.h"

const char *command_name = "pprf";

static bool is_control(char c)
{
  return (unsigned char)c < ' ' || c == 127;
}

int complain(int status, const char *format, ...)
{
  char *text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0)
    text = NULL;
  va_end(args);
  /* An argument may hold line feeds, or what a terminal obeys. */
  for (char *p = text; p != NULL && *p != '\0'; p++)
    if (is_control(*p))
      *p = '?';
  fprintf(stderr, "%s: %s\n", command_name, text != NULL ? text : format);
  free(text);
  return status;
}

/* argp's own --help and --version end the process, and it has a hidden --HANG; hence these. */
enum { KEY_USAGE = 512 };
static const struct argp_option help_options[] = {
  {"help", '?', NULL, 0, "Give this help list", -1},
  {"usage", KEY_USAGE, NULL, 0, "Give a short usage message", -1},
  {"version", 'V', NULL, 0, "Print program version", -1},
  {0},
};

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
  (void)arg;
  switch (key) {
  case '?':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return ECANCELED;
  case KEY_USAGE:
    argp_state_help(state, stdout, ARGP_HELP_USAGE);
    return ECANCELED;
  case 'V':
    puts("pprf " PPRF_VERSION);
    return ECANCELED;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* getopt prints an option that it does not know as it is, control characters included, and argp
 * takes the byte 255 for -?. */
static bool is_odd_option(const char *arg)
{
  if (arg[0] != '-')
    return false;
  for (; *arg != '\0'; arg++)
    if (is_control(*arg) || (unsigned char)*arg == 255)
      return true;
  return false;
}

int parse_arguments(const struct argp *argp, int argc, char **argv, void *input)
{
  const struct argp help = {.options = help_options, .parser = parse_help};
  const struct argp_child children[] = {{.argp = argp}, {.argp = &help}, {0}};
  const struct argp both = {.children = children};
  command_name = argv[0];
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (is_odd_option(argv[i]))
      return complain(STATUS_USAGE, "option '%s': a control character, or the byte 255", argv[i]);
  int err = argp_parse(&both, argc, argv, ARGP_NO_HELP | ARGP_NO_EXIT, NULL, input);
  return err == 0 ? STATUS_DONE : err == ECANCELED ? STATUS_SHOWN : STATUS_USAGE;
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

bool parse_number(const char *text, uint64_t max, uint64_t *value)
{
  bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char *p = hex ? text + 2 : text;
  uint64_t v = 0;
  if (*p == '\0')
    return false;
  for (; *p != '\0'; p++) {
    unsigned digit = 16, base = hex ? 16 : 10;
    if (*p >= '0' && *p <= '9')
      digit = (unsigned)(*p - '0');
    else if (*p >= 'a' && *p <= 'f')
      digit = (unsigned)(*p - 'a') + 10;
    else if (*p >= 'A' && *p <= 'F')
      digit = (unsigned)(*p - 'A') + 10;
    if (digit >= base || v > (UINT64_MAX - digit) / base)
      return false;
    v = v * base + digit;
  }
  *value = v;
  return v <= max;
}

int parse_range(const char *text, bool ranges_allowed, struct range *r)
{
  char first[32]; /* UINT64_MAX has 20 digits; zeros in front of more of them help nobody */
  const char *dots = strstr(text, "..");
  r->text = text;
  r->single = dots == NULL;
  if (dots != NULL && !ranges_allowed)
    return complain(STATUS_USAGE, "leaf '%s': a range is not allowed here", text);
  if (dots == NULL) {
    if (!parse_number(text, UINT64_MAX, &r->first))
      return complain(STATUS_USAGE, "leaf '%s': not a decimal or 0x-hexadecimal number", text);
    r->last = r->first;
    return STATUS_DONE;
  }
  size_t len = (size_t)(dots - text);
  if (len < sizeof first) {
    memcpy(first, text, len);
    first[len] = '\0';
  }
  if (len >= sizeof first || !parse_number(first, UINT64_MAX, &r->first) ||
      !parse_number(dots + 2, UINT64_MAX, &r->last))
    return complain(STATUS_USAGE, "range '%s': not two decimal or 0x-hexadecimal numbers", text);
  if (r->first > r->last)
    return complain(STATUS_USAGE, "range '%s': its first leaf is greater than its last", text);
  return STATUS_DONE;
}

int check_range(const struct range *r, unsigned depth)
{
  uint64_t greatest = (UINT64_C(1) << depth) - 1;
  if (r->last > greatest)
    return complain(STATUS_USAGE, "%s '%s': the key's last leaf is %" PRIu64,
                    r->single ? "leaf" : "range", r->text, greatest);
  return STATUS_DONE;
}

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

bool parse_seed(const char *text, size_t len, uint8_t seed[PPRF_SEED_BYTES])
{
  unsigned valid = ~0u;
  if (len != 2 * PPRF_SEED_BYTES)
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

void output_leaf(struct output *out, uint64_t leaf, const uint8_t value[PPRF_SEED_BYTES])
{
  enum { LINE_MAX_BYTES = 20 + 1 + 2 * PPRF_SEED_BYTES + 1 + 1 };
  if (out->used + LINE_MAX_BYTES > sizeof out->text)
    output_write(out);
  char *end = out->text + out->used;
  end += snprintf(end, LINE_MAX_BYTES, value == NULL ? "%" PRIu64 " punctured\n" : "%" PRIu64 " ",
                  leaf);
  if (value != NULL) {
    for (size_t i = 0; i < PPRF_SEED_BYTES; i++) {
      *end++ = hex_digit(value[i] >> 4);
      *end++ = hex_digit(value[i] & 15u);
    }
    *end++ = '\n';
  }
  out->used = (size_t)(end - out->text);
}

int output_end(struct output *out)
{
  output_write(out);
  explicit_bzero(out->text, sizeof out->text);
  return out->failed ? STATUS_FAILED : STATUS_DONE;
}
