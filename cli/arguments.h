/* SPDX-License-Identifier: Apache-2.0 */
/** @file arguments.h
 * What the programs of libpprf share: exit statuses, messages, options and their help. */
#ifndef PPRF_ARGUMENTS_H
#define PPRF_ARGUMENTS_H

#include <stdbool.h>

/** Exit statuses of every command. */
enum {
  STATUS_SHOWN = -2, /**< no exit status: only help or the version was printed */
  STATUS_DONE = 0,
  STATUS_USAGE = 1,     /**< a wrong argument */
  STATUS_FILE = 2,      /**< a bad or unreadable key file */
  STATUS_PUNCTURED = 3, /**< a leaf was punctured already */
  STATUS_FAILED = 4     /**< anything else: no memory, no space, no digest */
};

/** Name of the running command for messages, for instance "pprf punct". */
extern const char *command_name;

/** Whether --quiet was given: no warnings, no progress. */
extern bool quiet;

/** Print one line on standard error, after the command's name; after STATUS_USAGE it ends with a
 * hint to --help.
 * @return status, so that a caller can write `return complain(STATUS_USAGE, ...)`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Print a warning, which does not change the exit status.  Prints nothing if quiet. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Give each standard stream that is closed a file that fails on every use, so that no file opened later gets
 * its number.  False if that fails. */
bool keep_standard_numbers(void);

/** An option of a command. */
struct option_line {
  const char *name;     /* long name; NULL ends a table */
  int key;              /* the short name, a letter; above 255: none */
  const char *argument; /* the argument's name in the help, or NULL if it takes none */
  const char *help;
};

/** The arguments of a command.  The functions report mistakes with complain and return a status. */
struct command_line {
  const char *operands; /* as the help shows them; "" if there are none */
  const char *about, *more;
  const struct option_line *options; /* --help, --usage and --version are added */
  int (*option)(void *input, int key, char *argument);
  int (*operand)(void *input, char *argument); /* each, after the options; NULL: none is taken */
  int (*end)(void *input);                     /* after the last one; NULL: nothing to check */
};

/** Parse the command's arguments; argv[0] is its name.  It never ends the process.
 * @retval STATUS_SHOWN help or the version was printed; else STATUS_DONE, or the status of the
 *                      function that failed. */
int parse_arguments(const struct command_line *line, int argc, char **argv, void *input);

/** Whether a word may be a misspelling of the name: up to two letters, but not all, are wrong,
 * missing or extra. */
bool resembles(const char *word, const char *name);

#endif
