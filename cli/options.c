/* SPDX-License-Identifier: Apache-2.0 */
/* Options by getopt_long, which every Linux libc has; help comes from the same table. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "pprf.h"

enum { KEY_USAGE = 512, OPTIONS_MAX = 32, HELP_COLUMN = 28, HELP_WIDTH = 80 };

static const struct option_line help_options[] = {
  {"help", 'h', NULL, "Show this help"},
  {"usage", KEY_USAGE, NULL, "Show a short usage message"},
  {"version", 'V', NULL, "Print the program's version"},
  {0},
};

/* ---- help ---- */

/* Print words from column `at` on, wrapped at HELP_WIDTH; further lines start at `indent`. */
static void print_words(const char *text, size_t bytes, size_t at, size_t indent)
{
  const char *end = text + bytes;
  for (bool first = true; first || text < end; first = false) {
    size_t len = 0;
    while (text + len < end && text[len] != ' ')
      len++;
    if (!first && at + 1 + len > HELP_WIDTH) {
      printf("\n%*s", (int)indent, "");
      at = indent;
    } else if (!first) {
      putchar(' ');
      at++;
    }
    printf("%.*s", (int)len, text);
    at += len;
    text += len + 1;
  }
  putchar('\n');
}

static void print_wrapped(const char *text)
{
  for (size_t len; *text != '\0'; text += len + (text[len] == '\n')) {
    len = strcspn(text, "\n");
    print_words(text, len, 0, 0);
  }
}

static void print_options(const struct option_line *o)
{
  for (; o->name != NULL; o++) {
    int n = o->key < 256 ? printf("  -%c, --%s", o->key, o->name) : printf("      --%s", o->name);
    if (o->argument != NULL)
      n += printf("=%s", o->argument);
    if (n >= HELP_COLUMN) {
      putchar('\n');
      n = 0;
    }
    printf("%*s", HELP_COLUMN - n, "");
    print_words(o->help, strlen(o->help), HELP_COLUMN, HELP_COLUMN);
  }
}

static void print_help(const struct command_line *line)
{
  printf("Usage: %s [OPTION]...%s%s\n", command_name, *line->operands != '\0' ? " " : "",
         line->operands);
  print_wrapped(line->about);
  putchar('\n');
  print_options(line->options);
  print_options(help_options);
  putchar('\n');
  print_wrapped(line->more);
}

static void print_usage(const struct command_line *line)
{
  printf("Usage: %s", command_name);
  for (int which = 0; which < 2; which++)
    for (const struct option_line *o = which == 0 ? line->options : help_options; o->name != NULL;
         o++)
      printf(" [--%s%s%s]", o->name, o->argument != NULL ? "=" : "",
             o->argument != NULL ? o->argument : "");
  printf("%s%s\n", *line->operands != '\0' ? " " : "", line->operands);
}

/* ---- parsing ---- */

/* getopt's tables. */
struct tables {
  struct option longs[OPTIONS_MAX + 1];
  char shorts[2 * OPTIONS_MAX + 2];
};

static void fill(struct tables *t, const struct option_line *options)
{
  size_t n = 0, s = 0;
  t->shorts[s++] = ':'; /* a missing argument is ':', not '?' */
  for (int which = 0; which < 2; which++)
    for (const struct option_line *o = which == 0 ? options : help_options;
         o->name != NULL && n < OPTIONS_MAX; o++) {
      t->longs[n++] = (struct option){
        o->name, o->argument != NULL ? required_argument : no_argument, NULL, o->key};
      if (o->key >= 256)
        continue;
      t->shorts[s++] = (char)o->key;
      if (o->argument != NULL)
        t->shorts[s++] = ':';
    }
  t->longs[n] = (struct option){0};
  t->shorts[s] = '\0';
}

static bool known(const struct tables *t, int key)
{
  for (const struct option *o = t->longs; o->name != NULL; o++)
    if (o->val == key)
      return true;
  return false;
}

bool resembles(const char *word, const char *name)
{
  enum { LEN_MAX = 16, WRONG_MAX = 2 };
  size_t n = strlen(word), m = strlen(name);
  unsigned
    row[LEN_MAX + 1]; /* Levenshtein distances from the word's prefix to each prefix of the name */
  if (n > LEN_MAX || m > LEN_MAX)
    return false;
  for (size_t j = 0; j <= m; j++)
    row[j] = (unsigned)j;
  for (size_t i = 0; i < n; i++) {
    unsigned diagonal = row[0]++;
    for (size_t j = 0; j < m; j++) {
      unsigned least = diagonal + (word[i] != name[j]);
      diagonal = row[j + 1];
      if (least > diagonal + 1)
        least = diagonal + 1;
      if (least > row[j] + 1)
        least = row[j] + 1;
      row[j + 1] = least;
    }
  }
  return row[m] <= WRONG_MAX && row[m] < n && row[m] < m;
}

/* The option name that a mistyped word resembles, or NULL. */
static const char *near(const struct tables *t, const char *word, size_t len)
{
  char text[32] = "";
  if (len < sizeof text)
    memcpy(text, word, len);
  for (const struct option *o = t->longs; o->name != NULL; o++)
    if (resembles(text, o->name))
      return o->name;
  return NULL;
}

/* Report what getopt_long refused with '?' or ':'.  Never print an argument: it may be a seed. */
static int refuse(const struct tables *t, int result, char **argv)
{
  const char *word = argv[optind - 1];
  int len = (int)strcspn(word, "=");
  bool is_long = strncmp(word, "--", 2) == 0;
  if (result == ':')
    return is_long ? complain(STATUS_USAGE, "option '%.*s': missing argument", len, word)
                   : complain(STATUS_USAGE, "option '-%c': missing argument", optopt);
  const char *meant = optopt == 0 && is_long ? near(t, word + 2, (size_t)len - 2) : NULL;
  if (meant != NULL)
    return complain(STATUS_USAGE, "option '%.*s': unknown: did you mean '--%s'?", len, word, meant);
  if (optopt == 0)
    return complain(STATUS_USAGE, "option '%.*s': unknown or ambiguous", len, word);
  if (is_long && known(t, optopt))
    return complain(STATUS_USAGE, "option '%.*s': it takes no argument", len, word);
  return complain(STATUS_USAGE, "option '-%c': unknown", optopt);
}

int parse_arguments(const struct command_line *line, int argc, char **argv, void *input)
{
  struct tables t;
  int status = STATUS_DONE, key;
  command_name = argv[0];
  quiet = false;
  fill(&t, line->options);
  opterr = 0;
  optind = 0; /* start over, whatever was parsed before */
  while (status == STATUS_DONE && (key = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
    if (key == 'h' || (key == '?' && optopt == '?')) {
      print_help(line);
      return STATUS_SHOWN;
    }
    if (key == KEY_USAGE) {
      print_usage(line);
      return STATUS_SHOWN;
    }
    if (key == 'V') {
      printf("%.*s " PPRF_VERSION "\n", (int)strcspn(command_name, " "), command_name);
      return STATUS_SHOWN;
    }
    status = key == '?' || key == ':' ? refuse(&t, key, argv) : line->option(input, key, optarg);
  }
  for (int i = optind; status == STATUS_DONE && i < argc; i++)
    status = line->operand != NULL ? line->operand(input, argv[i])
                                   : complain(STATUS_USAGE, "'%s': unexpected argument", argv[i]);
  return status == STATUS_DONE && line->end != NULL ? line->end(input) : status;
}
