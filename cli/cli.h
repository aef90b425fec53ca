/* SPDX-License-Identifier: Apache-2.0 */
/** @file cli.h
 * What the commands of pprf share: exit statuses, messages, arguments, secret memory, output. */
#ifndef PPRF_CLI_H
#define PPRF_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "impl.h"

/** Exit statuses of every command. */
enum {
  STATUS_SHOWN = -2, /**< no exit status: help or the version was printed, and that is all */
  STATUS_DONE = 0,
  STATUS_USAGE = 1,     /**< a wrong argument */
  STATUS_FILE = 2,      /**< a bad or unreadable key file */
  STATUS_PUNCTURED = 3, /**< a leaf was punctured already */
  STATUS_FAILED = 4     /**< anything else: no memory, no space, no digest */
};

/** Name of the running command for messages, "pprf punct" for instance. */
extern const char *command_name;

/** Whether --quiet was given: no warnings, no progress. */
extern bool quiet;

/** Print one line on standard error, after the command's name; after STATUS_USAGE it ends with a
 * hint to --help.
 * @return status, so that a caller can write `return complain(STATUS_USAGE, ...)`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The same for what does not change the exit status; nothing if quiet. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** An option of a command. */
struct option_line {
  const char *name;     /* long name; NULL ends a table */
  int key;              /* a letter, the short name; more than 255: there is none */
  const char *argument; /* the argument's name in the help, or NULL if it takes none */
  const char *help;
};

/** What a command takes.  The functions report mistakes with complain and return a status. */
struct command_line {
  const char *operands; /* as the help shows them */
  const char *about, *more;
  const struct option_line *options; /* --help, --usage and --version are added */
  int (*option)(void *input, int key, char *argument);
  int (*operand)(void *input, char *argument); /* all come after the options */
  int (*end)(void *input);                     /* when there are no more; NULL: nothing to check */
};

/** Parse the command's arguments; argv[0] is its name.  It never ends the process.
 * @retval STATUS_SHOWN help or the version was printed; else STATUS_DONE, or what a function
 *         returned instead. */
int parse_arguments(const struct command_line *line, int argc, char **argv, void *input);

/** Whether a mistyped word may mean the name: up to two letters, but not all, are wrong, missing or too many. */
bool resembles(const char *word, const char *name);

/** The line --impl of a command's table of options. */
#define OPTION_IMPL(names) {"impl", 'i', names, "Implementation (default opt)"}

/** Check the operand FILE: not empty, and not -.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int check_file_operand(const char *path);

/** The implementation of that name, or NULL with a message; list only if it is allowed. */
const struct pprf_impl *impl_by_name(const char *name, bool list_allowed);

/** A whole decimal or 0x-hexadecimal number <= max; no sign, no space, nothing after it. */
bool parse_number(const char *text, uint64_t max, uint64_t *value);

/** Parse the argument of --depth.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int parse_depth(const char *text, unsigned *depth);

/** Parse the argument of --suite: the number that pprf.h gives the suite of that name.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int parse_suite(const char *text, unsigned *suite);

/** Leaves that the user named. */
struct range {
  const char *text; /* as an argument; NULL: a line of standard input */
  uint64_t line;    /* its number there, from 1 */
  uint64_t first, last;
  bool single; /* a leaf, not A..B */
};

struct ranges {
  struct range *at; /* from malloc */
  size_t count, room;
  bool read; /* standard input */
};

/** Add LEAF, A..B or, for -, all lines of standard input, each a leaf or a range.
 * @retval STATUS_DONE, STATUS_USAGE or STATUS_FAILED (reported). */
int add_ranges(struct ranges *r, const char *text);

enum { RANGE_TEXT = 48 };
/** How a range is named in messages: as the user wrote it, or in decimal in buffer. */
const char *range_text(const struct range *r, char buffer[RANGE_TEXT]);

/** Check that a range lies in a tree of that depth.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int check_range(const struct range *r, unsigned depth);

/** A bar on standard error, as wide as the terminal allows, from the second second on; none if it is no terminal,
 * or one that cannot go back in its line (TERM=dumb). */
struct progress {
  uint64_t begun, shown; /* ns */
  bool terminal, visible;
};
struct progress progress_begin(void);
/** Show that done of total steps are done; called as often as the caller likes. */
void progress_show(struct progress *p, const char *what, uint64_t done, uint64_t total);
void progress_end(const struct progress *p);
/** The monotonic clock in nanoseconds. */
uint64_t now_ns(void);

/** Memory for secrets: zeroed, out of core dumps, out of swap where the limits allow.
 * NULL if there is none. */
void *secret_alloc(size_t bytes);
/** Wipe it and give it back; NULL is allowed. */
void secret_free(void *memory, size_t bytes);

/** Write all bytes. @return false with errno set on failure. */
bool write_all(int fd, const void *bytes, size_t len);

/** Standard output through a buffer that is wiped. */
struct output {
  uint8_t value[PPRF_VALUE_BYTES_MAX]; /**< the one that is being printed: wiped with the text */
  char text[4096];
  size_t used;
  bool failed;
};
/** Append what printf would print, 200 bytes at most; no secrets: its copies are not wiped. */
void output_text(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Append a value of so many bytes, at most PPRF_VALUE_BYTES_MAX, as hexadecimal digits. */
void output_value(struct output *out, const uint8_t *value, size_t bytes);
/** Write what is left and wipe value and text.
 * @retval STATUS_DONE or STATUS_FAILED (reported), for all that was appended. */
int output_end(struct output *out);

/** Read 2 * bytes hexadecimal digits and nothing else; the text is as secret as the seed, and no branch
 * depends on a digit, only on whether all are digits. */
bool parse_seed(const char *text, size_t len, uint8_t *seed, size_t bytes);

/** Report a call of the library that failed; the file, not the library, is to blame for a bad format.
 * @return the exit status. */
int library_failed(const char *what, int err);

/** The key's encoding, from secret_alloc; NULL on failure, with *status set (reported). */
uint8_t *encode_key(const struct pprf_impl *impl, const pprf_key *key, size_t *len, int *status);

/** Run pprf with these arguments, which may be changed.
 * @return the exit status. */
int command_run(int argc, char **argv);

/** The commands; argv[0] is the name for messages.
 * @return an exit status or STATUS_SHOWN. */
int command_setup(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_punct(int argc, char **argv);
int command_info(int argc, char **argv);
int command_simulate(int argc, char **argv);

#endif
