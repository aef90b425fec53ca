/* SPDX-License-Identifier: Apache-2.0 */
/* setup: make a key file. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"
#include "common/options.h"
#include "replace.h"

enum { SALT_OPTION = 256 };

/* A seed and its line end, or one byte more than the longest seed. */
struct seed_line {
  char text[2 * PPRF_VALUE_BYTES_MAX + 1];
  size_t used;
  bool ended;
};

/* Allocated with secret_alloc, which wipes on release. */
struct setup_args {
  const struct pprf_impl *impl;
  const char *path;
  unsigned depth, suite;
  bool force, have_seed, have_salt;
  size_t seed_bytes;
  uint8_t seed[PPRF_VALUE_BYTES_MAX], salt[PPRF_SALT_BYTES];
  struct seed_line line;
};

/* ---- the seed from standard input ---- */

static volatile sig_atomic_t caught;

static void note_signal(int signal_number)
{
  caught = signal_number;
}

/* Read one line byte by byte: the input after it belongs to another reader.
 * @return false with errno set. */
static bool read_line(struct seed_line *l)
{
  while (!l->ended && l->used < sizeof l->text && caught == 0) {
    ssize_t n = read(STDIN_FILENO, l->text + l->used, 1);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    l->ended = n == 0 || l->text[l->used] == '\n';
    l->used += l->ended ? 0 : 1;
  }
  return true;
}

/* read_line from a terminal with echo off.  A signal that ends or stops the program takes effect
 * after the terminal is restored. */
static bool read_line_unseen(struct seed_line *l, const struct termios *before)
{
  static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
  enum { SIGNALS = sizeof signals / sizeof *signals };
  struct sigaction old[SIGNALS], action = {.sa_handler = note_signal};
  bool read;
  do {
    struct termios silent = *before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
    l->used = 0;
    caught = 0;
    for (size_t i = 0; i < SIGNALS; i++)
      (void)sigaction(signals[i], &action, &old[i]);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
    fputs("seed: ", stderr);
    read = read_line(l);
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, before);
    fputc('\n', stderr);
    for (size_t i = 0; i < SIGNALS; i++)
      (void)sigaction(signals[i], &old[i], NULL);
    if (caught != 0) {
      explicit_bzero(l, sizeof *l);
      (void)raise((int)caught);
    }
  } while (caught != 0); /* stopped and continued: ask again */
  return read;
}

/* Parse a seed of either length; the suite decides which once all arguments are known. */
static bool parse_any_seed(struct setup_args *a, const char *text, size_t len)
{
  a->seed_bytes = len == 2 * PPRF_SEED_BYTES ? PPRF_SEED_BYTES : PPRF_VALUE_BYTES_MAX;
  return parse_seed(text, len, a->seed, a->seed_bytes);
}

/* @return NULL, or a description of the error. */
static const char *read_seed(struct setup_args *a)
{
  struct seed_line *l = &a->line;
  struct termios before;
  caught = 0;
  l->used = 0;
  l->ended = false;
  bool read = tcgetattr(STDIN_FILENO, &before) == 0 ? read_line_unseen(l, &before) : read_line(l);
  int err = errno;
  bool ok = read && l->ended && parse_any_seed(a, l->text, l->used);
  return !read ? strerror(err) : ok ? NULL : "not a line of 32 or 64 hexadecimal digits";
}

/* ---- arguments ---- */

static int parse_seed_option(struct setup_args *a, char *arg)
{
  size_t len = strlen(arg);
  a->have_seed = true;
  if (strcmp(arg, "-") == 0) {
    const char *wrong = read_seed(a);
    return wrong == NULL ? STATUS_DONE
                         : complain(STATUS_USAGE, "--seed -: standard input: %s", wrong);
  }
  bool ok = parse_any_seed(a, arg, len);
  explicit_bzero(arg, len); /* hide it from ps(1) */
  /* do not print the seed: messages end up in logs */
  return ok ? STATUS_DONE
            : complain(STATUS_USAGE, "--seed: not %d or %d hexadecimal digits, or -",
                       2 * PPRF_SEED_BYTES, 2 * PPRF_VALUE_BYTES_MAX);
}

static int parse_salt(struct setup_args *a, const char *arg)
{
  a->have_salt = parse_seed(arg, strlen(arg), a->salt, PPRF_SALT_BYTES);
  return a->have_salt ? STATUS_DONE
                      : complain(STATUS_USAGE, "salt '%s': not %d hexadecimal digits", arg,
                                 2 * PPRF_SALT_BYTES);
}

static int parse_option(void *input, int key, char *arg)
{
  struct setup_args *a = input;
  switch (key) {
  case 'd':
    return parse_depth(arg, &a->depth);
  case 'S':
    return parse_suite(arg, &a->suite);
  case SALT_OPTION:
    return parse_salt(a, arg);
  case 's':
    return parse_seed_option(a, arg);
  case 'f':
    a->force = true;
    return STATUS_DONE;
  default:
    a->impl = impl_by_name(arg, false);
    return a->impl == NULL ? STATUS_USAGE : STATUS_DONE;
  }
}

static int parse_operand(void *input, char *arg)
{
  struct setup_args *a = input;
  if (a->path != NULL && parse_any_seed(a, arg, strlen(arg))) /* not printed: it may be a seed */
    return complain(STATUS_USAGE, "a seed without --seed: give only one FILE");
  if (a->path != NULL)
    return complain(STATUS_USAGE, "argument '%s': give only one FILE", arg);
  a->path = arg;
  return check_file_operand(arg);
}

static int complete(void *input)
{
  const struct setup_args *a = input;
  const unsigned suite =
    a->suite != 0 ? a->suite : pprf_default_suite(a->have_seed ? a->seed : NULL);
  const size_t seed_bytes = pprf_suite_is_wide(suite) ? PPRF_VALUE_BYTES_MAX : PPRF_SEED_BYTES;
  if (a->have_salt && !pprf_has_salt(suite))
    return complain(STATUS_USAGE, "--salt: the suite %s has none", pprf_suite_name(suite));
  if (a->have_seed && a->seed_bytes != seed_bytes)
    return complain(STATUS_USAGE, "--seed: %zu hexadecimal digits, but the suite %s takes %zu",
                    2 * a->seed_bytes, pprf_suite_name(suite), 2 * seed_bytes);
  if (a->depth != 0 && a->path != NULL)
    return STATUS_DONE;
  return complain(STATUS_USAGE, "%s is missing", a->depth == 0 ? "--depth" : "FILE");
}

/* ---- the command ---- */

static int setup(const struct setup_args *a)
{
  const struct pprf_options options = {.size = sizeof options,
                                       .seed = a->have_seed ? a->seed : NULL,
                                       .depth = a->depth,
                                       .suite = a->suite,
                                       .salt = a->have_salt ? a->salt : NULL};
  pprf_key *key;
  int err = a->impl->setup_with(&key, &options), status;
  if (err != PPRF_OK)
    return library_failed("making the key", err);
  size_t len = 0;
  uint8_t *bytes = encode_key(a->impl, key, &len, &status);
  if (bytes != NULL)
    status = keyfile_create(a->path, bytes, len, a->force, NULL);
  secret_free(bytes, len);
  a->impl->free(key);
  return status;
}

int command_setup(int argc, char **argv)
{
  static const struct option_line options[] = {
    {"depth", 'd', "D", "Levels below the root, 1 to 63: the key has 2^D leaves"},
    {"seed", 's', "HEX|-",
     "The root's seed, 32 hexadecimal digits, 64 for mls-sha256; -: a line of standard input, which "
     "other users cannot see (default random)"},
    {"suite", 'S', "NAME",
     "Derivation of a node's children: sha3-256 (default with --seed), sha3-256-salted "
     "(default without), aes-128 or mls-sha256"},
    {"salt", SALT_OPTION, "HEX", "The salt, 32 hexadecimal digits; it is public (default random)"},
    {"force", 'f', NULL, "Overwrite FILE"},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  static const struct command_line line = {
    .operands = "--depth=D FILE",
    .about = "Make a key with no leaf punctured and write it to FILE, readable by its owner only.",
    .more = "See pprf-setup(1).",
    .options = options,
    .option = parse_option,
    .operand = parse_operand,
    .end = complete,
  };
  struct setup_args *a = secret_alloc(sizeof *a);
  if (a == NULL) {
    command_name = argv[0];
    return complain(STATUS_FAILED, "no memory");
  }
  a->impl = &impl_opt;
  int status = parse_arguments(&line, argc, argv, a);
  if (status == STATUS_DONE)
    status = setup(a);
  else /* a seed may follow a wrong argument: hide it too */
    for (int i = 1; i < argc; i++)
      explicit_bzero(argv[i], strlen(argv[i]));
  secret_free(a, sizeof *a);
  return status;
}
