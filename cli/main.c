/* SPDX-License-Identifier: Apache-2.0 */
/* pprf COMMAND ...: each command parses its own arguments. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli.h"

__attribute__((visibility("default"))) /* glibc reads it */
const char *argp_program_version = "pprf " PPRF_VERSION;

static const struct command {
  const char *name; /* with the program's, for messages */
  int (*run)(int argc, char **argv);
} commands[] = {
  {"pprf setup", command_setup}, {"pprf eval", command_eval},         {"pprf punct", command_punct},
  {"pprf info", command_info},   {"pprf simulate", command_simulate},
};

static int (*find_command(const char *word, char **name))(int, char **)
{
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name + strlen("pprf "), word) == 0) {
      *name = (char *)commands[i].name; /* argv[0], which nobody writes to */
      return commands[i].run;
    }
  return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  switch (key) {
  case ARGP_KEY_INIT:
    state->err_stream = NULL;
    return 0;
  case ARGP_KEY_ARG:
    complain(STATUS_USAGE, "no command '%s' (setup, eval, punct, info, simulate)", arg);
    return EINVAL;
  case ARGP_KEY_NO_ARGS:
    complain(STATUS_USAGE, "COMMAND is missing (setup, eval, punct, info, simulate)");
    return EINVAL;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const char doc[] =
  "Make, use and measure keys of a puncturable pseudorandom function: a function from leaves "
  "0 .. 2^depth - 1 to 16-byte values, whose key can lose a value for good."
  "\v"
  "Commands:\n"
  "  setup     make a key file\n"
  "  eval      print values\n"
  "  punct     puncture leaves\n"
  "  info      describe a key file\n"
  "  simulate  puncture in a pattern; measure size and time\n"
  "\n"
  "`pprf COMMAND --help' tells more, as do the manual pages pprf(1) and pprf-COMMAND(1).\n"
  "\n"
  "Exit status: 0 done, 1 usage, 2 bad or unreadable file, 3 punctured, 4 failure.";

/* The process holds keys: no core dump, no reading of its memory by the user's other programs.
 * A write beyond a limit or to a closed pipe is an error to report, not the end of the program. */
static void harden(void)
{
  struct rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  (void)signal(SIGPIPE, SIG_IGN);
}

/* A standard stream that is closed would give its number to the next file, a key file say, and
 * messages would end up there.  In its place goes one whose every use fails. */
static bool keep_standard_numbers(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 &&
        open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      return false;
  return true;
}

/* What stdio printed, --help for instance, must have reached standard output too. */
static void close_stdout(void)
{
  if (fclose(stdout) != 0)
    _exit(complain(STATUS_FAILED, "standard output: %s", strerror(errno)));
}

int main(int argc, char **argv)
{
  const struct argp argp = {.parser = parse, .args_doc = "COMMAND ...", .doc = doc};
  if (!keep_standard_numbers())
    return STATUS_FAILED;
  harden();
  if (atexit(close_stdout) != 0)
    return complain(STATUS_FAILED, "atexit: %s", strerror(errno));
  if (argc > 1) {
    char *name;
    int (*run)(int, char **) = find_command(argv[1], &name);
    if (run != NULL) {
      argv[1] = name;
      return run(argc - 1, argv + 1);
    }
  }
  char name[] = "pprf";
  char *no_arguments[] = {name, NULL};
  if (argc > 0)
    argv[0] = name;
  return parse_arguments(&argp, argc > 0 ? argc : 1, argc > 0 ? argv : no_arguments, NULL);
}
