/* SPDX-License-Identifier: Apache-2.0 */
/** @file cli.h
 * What the commands of pprf share: exit statuses, messages, arguments, secret memory, output. */
#ifndef PPRF_CLI_H
#define PPRF_CLI_H

#include <argp.h>
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

/** Print one line on standard error, after the command's name.
 * @return status, so that a caller can write `return complain(STATUS_USAGE, ...)`. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Parse the command's options and arguments.  The parser reports mistakes with complain, sets
 * state->err_stream to NULL at ARGP_KEY_INIT (argp's own second line), and returns EINVAL.
 * --help, --usage and --version are added.  It never ends the process.
 * @retval STATUS_DONE, STATUS_USAGE (reported) or STATUS_SHOWN. */
int parse_arguments(const struct argp *argp, int argc, char **argv, void *input);

/** The line --impl of a command's table of options. */
#define OPTION_IMPL(names) {"impl", 'i', names, 0, "Implementation (default opt)", 0}

/** The implementation of that name, or NULL with a message; list only if it is allowed. */
const struct pprf_impl *impl_by_name(const char *name, bool list_allowed);

/** A whole decimal or 0x-hexadecimal number <= max; no sign, no space, nothing after it. */
bool parse_number(const char *text, uint64_t max, uint64_t *value);

struct range {
  const char *text; /* as the user wrote it */
  uint64_t first, last;
  bool single; /* a leaf, not A..B */
};

/** Parse LEAF or, if ranges are allowed, A..B.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int parse_range(const char *text, bool ranges_allowed, struct range *r);

/** Check that a range lies in a tree of that depth.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int check_range(const struct range *r, unsigned depth);

/** Memory for secrets: zeroed, out of core dumps, out of swap where the limits allow.
 * NULL if there is none. */
void *secret_alloc(size_t bytes);
/** Wipe it and give it back; NULL is allowed. */
void secret_free(void *memory, size_t bytes);

/** Write all bytes. @return false with errno set on failure. */
bool write_all(int fd, const void *bytes, size_t len);

/** Standard output through a buffer that is wiped. */
struct output {
  char text[4096];
  size_t used;
  bool failed;
};
/** Append the line "LEAF HEX", or "LEAF punctured" if value is NULL. */
void output_leaf(struct output *out, uint64_t leaf, const uint8_t value[PPRF_SEED_BYTES]);
/** Write what is left and wipe the buffer.
 * @retval STATUS_DONE or STATUS_FAILED (reported), for all that was appended. */
int output_end(struct output *out);

/** Read 2 * PPRF_SEED_BYTES hexadecimal digits and nothing else; the text is as secret as the seed,
 * and no branch depends on a digit, only on whether all are digits. */
bool parse_seed(const char *text, size_t len, uint8_t seed[PPRF_SEED_BYTES]);

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
