/* SPDX-License-Identifier: Apache-2.0 */
/* pprf COMMAND ...: each command parses its own arguments. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Run the program of that name with -vault behind it: it needs SQLite, which pprf does without. */
static int command_vault(int argc, char **argv)
{
  char path[PATH_MAX + sizeof "-vault"] = "";
  ssize_t len = readlink("/proc/self/exe", path, PATH_MAX);
  (void)argc;
  (void)strcpy(path + len + (len < 0), "-vault");
  (void)execv(path, argv);
  return complain(STATUS_FAILED, "vault: the program pprf-vault: %s", strerror(errno));
}

static const struct command {
  const char *name; /* with the program's name, for messages */
  int (*run)(int argc, char **argv);
} commands[] = {
  {"pprf setup", command_setup}, {"pprf eval", command_eval},
  {"pprf punct", command_punct}, {"pprf delegate", command_delegate},
  {"pprf info", command_info},   {"pprf simulate", command_simulate},
  {"pprf vault", command_vault},
};

static int (*find_command(const char *word, char **name))(int, char **)
{
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name + strlen("pprf "), word) == 0) {
      *name = (char *)commands[i].name; /* argv[0], which is never written to */
      return commands[i].run;
    }
  return NULL;
}

static int no_command(void *input, char *argument)
{
  const char *near = NULL;
  (void)input;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (near == NULL && resembles(argument, commands[i].name + strlen("pprf ")))
      near = commands[i].name + strlen("pprf ");
  return near != NULL
           ? complain(STATUS_USAGE, "no command '%s': did you mean '%s'?", argument, near)
           : complain(STATUS_USAGE,
                      "no command '%s' (setup, eval, punct, delegate, info, simulate, vault)",
                      argument);
}

static int no_option(void *input, int key, char *argument)
{
  (void)input;
  (void)key;
  (void)argument;
  return STATUS_DONE; /* only --help, --usage and --version */
}

static int command_missing(void *input)
{
  (void)input;
  return complain(STATUS_USAGE,
                  "COMMAND is missing (setup, eval, punct, delegate, info, simulate, vault)");
}

static const char about[] =
  "Make, use and measure keys of a puncturable pseudorandom function: a function from leaves "
  "0 .. 2^depth - 1 to values of 16 or 32 bytes, whose key can lose a value for good.";

static const char more[] =
  "Commands:\n"
  "  setup     make a key file\n"
  "  eval      print values\n"
  "  punct     puncture leaves\n"
  "  delegate  make a key for a part of the leaves\n"
  "  info      describe a key file\n"
  "  simulate  puncture in a pattern; measure size and time\n"
  "  vault     keep a key from which leaves are erased for good\n"
  "  help      show the help of a command\n"
  "\n"
  "See 'pprf COMMAND --help' and the manual pages pprf(1) and pprf-COMMAND(1).\n"
  "\n"
  "Exit status: 0 done, 1 usage, 2 bad or unreadable file, 3 punctured, 4 failure.";

int command_run(int argc, char **argv)
{
  static const struct option_line no_options[] = {{0}};
  static const struct command_line line = {
    .operands = "COMMAND ...",
    .about = about,
    .more = more,
    .options = no_options,
    .option = no_option,
    .operand = no_command,
    .end = command_missing,
  };
  static char name[] = "pprf", help[] = "--help"; /* static: messages may use them after return */
  char *no_arguments[] = {name, NULL};
  if (argc > 1 && strcmp(argv[1], "help") == 0) { /* "help [COMMAND]" means "[COMMAND] --help" */
    char *asked = NULL;
    if (argc > 2 && find_command(argv[2], &asked) == NULL)
      return no_command(NULL, argv[2]);
    argv[1] = argc > 2 ? argv[2] : help;
    if (argc > 2)
      argv[2] = help;
  }
  int (*run)(int, char **) = argc > 1 ? find_command(argv[1], &argv[1]) : NULL;
  if (argc > 0)
    argv[0] = name;
  int status =
    run != NULL ? run(argc - 1, argv + 1)
                : parse_arguments(&line, argc > 0 ? argc : 1, argc > 0 ? argv : no_arguments, NULL);
  return status == STATUS_SHOWN ? STATUS_DONE : status;
}
