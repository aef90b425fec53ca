/* SPDX-License-Identifier: Apache-2.0 */
/** @file cli.h
 * What the commands of pprf share: exit statuses, messages, arguments, secret memory, output. */
#ifndef PPRF_CLI_H
#define PPRF_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arguments.h"
#include "impls/impl.h"

/** The --impl entry of a command's option table. */
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

/** Leaves the user named. */
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
/** A range's name in messages: as the user wrote it, or in decimal in buffer. */
const char *range_text(const struct range *r, char buffer[RANGE_TEXT]);

/** Check that a range lies in a tree of that depth.
 * @retval STATUS_DONE or STATUS_USAGE (reported). */
int check_range(const struct range *r, unsigned depth);

/** A progress bar on standard error, as wide as the terminal allows, shown after one second.  There
 * is none if standard error is not a terminal or if the terminal cannot return the cursor
 * (TERM=dumb). */
struct progress {
  uint64_t begun, shown; /* ns */
  bool terminal, visible;
};
struct progress progress_begin(void);
/** Show that done of total steps are done.  May be called at any rate. */
void progress_show(struct progress *p, const char *what, uint64_t done, uint64_t total);
void progress_end(const struct progress *p);
/** The monotonic clock in nanoseconds. */
uint64_t now_ns(void);

/** Memory for secrets: zeroed, kept out of core dumps and, where the limits allow, out of swap.
 * NULL if there is none. */
void *secret_alloc(size_t bytes);
/** Wipe it and give it back; NULL is allowed. */
void secret_free(void *memory, size_t bytes);

/** Write all bytes. @return false with errno set on failure. */
bool write_all(int fd, const void *bytes, size_t len);

/** Standard output through a buffer that is wiped. */
struct output {
  uint8_t value[PPRF_VALUE_BYTES_MAX]; /**< the value being printed: wiped with the text */
  char text[4096];
  size_t used;
  bool failed;
};
/** Append formatted text, 200 bytes at most.  Not for secrets: printf's copies are not wiped. */
void output_text(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Append a value of `bytes` bytes, at most PPRF_VALUE_BYTES_MAX, in hexadecimal. */
void output_value(struct output *out, const uint8_t *value, size_t bytes);
/** Write the remaining text; wipe value and text.
 * @retval STATUS_DONE or STATUS_FAILED (reported), for everything appended. */
int output_end(struct output *out);

/** Read exactly 2 * bytes hexadecimal digits.  The text is as secret as the seed: branches depend
 * only on whether every character is a digit. */
bool parse_seed(const char *text, size_t len, uint8_t *seed, size_t bytes);

/** Report a failed library call.  A bad format is blamed on the file.
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
int command_delegate(int argc, char **argv);
int command_info(int argc, char **argv);
int command_simulate(int argc, char **argv);

#endif
