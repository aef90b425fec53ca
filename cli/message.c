/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arguments.h"

const char *command_name = "pprf";
bool quiet;

/* Length of the UTF-8 character at text.  0 if it is invalid, or if a terminal would act on it: an
 * ASCII or C1 control character, a line separator, or a bidirectional control. */
static size_t shown(const char *text)
{
  static const uint32_t least[] = {0, ' ', 0xa0, 0x800,
                                   0x10000}; /* by length in bytes; C1 ends at 0x9f */
  const unsigned char *p = (const unsigned char *)text;
  size_t n = *p < 0x80 ? 1 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf8 ? 4 : 0;
  uint32_t c = n < 2 ? *p : *p & 0xffu >> (n + 1);
  for (size_t i = 1; i < n; i++) {
    if ((p[i] & 0xc0) != 0x80)
      return 0;
    c = c << 6 | (p[i] & 0x3f);
  }
  bool odd = c < least[n] || c == 127 || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ||
             (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return odd ? 0 : n;
}

/* An argument may contain line feeds or terminal controls; each of their bytes prints as a question
 * mark. */
static void print_line(const char *before, const char *format, va_list args, const char *after)
{
  char *made, start[512] = "", *text; /* without memory, the message's start */
  va_list again;
  va_copy(again, args);
  if (vasprintf(&made, format, args) < 0) {
    made = NULL;
    (void)vsnprintf(start, sizeof start, format, again);
  }
  va_end(again);
  text = made != NULL ? made : start;
  for (char *p = text; *p != '\0';) {
    size_t n = shown(p);
    if (n == 0)
      *p = '?';
    p += n == 0 ? 1 : n;
  }
  fprintf(stderr, "%s: %s%s", command_name, before, text);
  if (after != NULL)
    fprintf(stderr, " (try '%s %s')", command_name, after);
  fputc('\n', stderr);
  free(made);
}

int complain(int status, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  print_line("", format, args, status == STATUS_USAGE ? "--help" : NULL);
  va_end(args);
  return status;
}

void warn(const char *format, ...)
{
  va_list args;
  if (quiet)
    return;
  va_start(args, format);
  print_line("warning: ", format, args, NULL);
  va_end(args);
}

bool keep_standard_numbers(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return false;
  return true;
}
