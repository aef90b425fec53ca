/* SPDX-License-Identifier: Apache-2.0 */
/* pprf-vault COMMAND VAULT ...: vaults on the command line; `pprf vault` starts it. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "cli.h"
#include "pprf_vault.h"

struct vault_args {
  const char *command, *path, *cell, *mirror, *to;
  unsigned depth, suite;
  bool sized; /* --depth or --suite */
  struct ranges ranges;
};

static const struct option_line options[] = {
  {"cell", 'c', "CELL",
   "file:PATH, or a command that is run with read or write (default file:VAULT.cell)"},
  {"mirror", 'm', "DIR",
   "Write each commit to a copy of the vault in this directory too ('': no more)"},
  {"depth", 'd', "D", "create: the vault has 2^D leaves, D from 1 to 63 (default 32)"},
  {"suite", 'S', "NAME", "create: sha3-256, sha3-256-salted (default), aes-128 or mls-sha256"},
  {0},
};

static const char *const commands[] = {"create", "eval",   "erase", "info",
                                       "verify", "mirror", "backup"};

static int option(void *input, int key, char *argument)
{
  struct vault_args *a = input;
  if (key == 'c')
    a->cell = argument;
  else if (key == 'm')
    a->mirror = argument;
  else {
    a->sized = true;
    return key == 'd' ? parse_depth(argument, &a->depth) : parse_suite(argument, &a->suite);
  }
  return STATUS_DONE;
}

static bool is(const struct vault_args *a, const char *command)
{
  return strcmp(a->command, command) == 0;
}

static int operand(void *input, char *argument)
{
  struct vault_args *a = input;
  if (a->command == NULL) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
      if (strcmp(argument, commands[i]) == 0)
        a->command = commands[i];
    return a->command != NULL
             ? STATUS_DONE
             : complain(STATUS_USAGE,
                        "no command '%s' (create, eval, erase, info, verify, mirror, backup)",
                        argument);
  }
  if (a->path == NULL) {
    a->path = argument;
    return *argument != '\0' ? STATUS_DONE : complain(STATUS_USAGE, "VAULT is empty");
  }
  if (is(a, "eval") || is(a, "erase"))
    return add_ranges(&a->ranges, argument);
  if (is(a, "mirror") && a->mirror == NULL) {
    a->mirror = argument;
    return STATUS_DONE;
  }
  if (is(a, "backup") && a->to == NULL) {
    a->to = argument;
    return STATUS_DONE;
  }
  return complain(STATUS_USAGE, "'%s': unexpected argument", argument);
}

static int end(void *input)
{
  struct vault_args *a = input;
  if (a->command == NULL || a->path == NULL)
    return complain(STATUS_USAGE, "%s is missing", a->command == NULL ? "COMMAND" : "VAULT");
  if ((is(a, "eval") || is(a, "erase")) && a->ranges.count == 0 && !a->ranges.read)
    return complain(STATUS_USAGE, "LEAF is missing");
  if (is(a, "mirror") && a->mirror == NULL)
    return complain(STATUS_USAGE, "DIR is missing");
  if (is(a, "backup") && a->to == NULL)
    return complain(STATUS_USAGE, "FILE is missing");
  if (a->sized && !is(a, "create"))
    return complain(STATUS_USAGE, "--depth and --suite are for create");
  return STATUS_DONE;
}

static int report(int err)
{
  int status = err == PPRF_ERR_PUNCTURED                                     ? STATUS_PUNCTURED
               : err == PPRF_ERR_RANGE                                       ? STATUS_USAGE
               : err >= PPRF_VAULT_ERR_BUSY && err != PPRF_VAULT_ERR_UNKNOWN ? STATUS_FILE
                                                                             : STATUS_FAILED;
  return complain(status, "%s", pprf_vault_error());
}

static int eval(pprf_vault *v, const struct vault_args *a, size_t bytes)
{
  struct output out = {.used = 0};
  int err = PPRF_OK;
  for (size_t i = 0; i < a->ranges.count && err == PPRF_OK; i++)
    for (uint64_t leaf = a->ranges.at[i].first; err == PPRF_OK && !out.failed; leaf++) {
      err = pprf_vault_eval(v, leaf, out.value);
      if (err == PPRF_OK) {
        output_text(&out, "%" PRIu64 " ", leaf);
        output_value(&out, out.value, bytes);
        output_text(&out, "\n");
      }
      if (leaf == a->ranges.at[i].last)
        break;
    }
  int status = output_end(&out);
  return err != PPRF_OK ? report(err) : status;
}

/* All of them, then one commit; a leaf that was erased before changes the status only. */
static int erase(pprf_vault *v, const struct vault_args *a)
{
  int status = STATUS_DONE, err = PPRF_OK;
  for (size_t i = 0; i < a->ranges.count && (err == PPRF_OK || err == PPRF_ERR_PUNCTURED); i++) {
    err = pprf_vault_erase_range(v, a->ranges.at[i].first, a->ranges.at[i].last, NULL);
    if (err != PPRF_OK)
      status = report(err);
  }
  if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
    return status; /* nothing is committed */
  err = pprf_vault_commit(v, NULL);
  for (int i = 0; i < 3 && err == PPRF_VAULT_ERR_UNKNOWN; i++)
    err = pprf_vault_commit(v, NULL);
  return err == PPRF_OK ? status : report(err);
}

static int show(const struct vault_args *a, const struct pprf_vault_info *i)
{
  char id[33];
  for (int k = 0; k < 16; k++)
    (void)sprintf(id + 2 * k, "%02x", i->id[k]);
  printf("vault       %s\nid          %s\nsuite       %s\ndepth       %u\nnodes       %" PRIu64
         "\ndisk bytes  %" PRIu64 "\ncell writes %" PRIu64 "\n",
         a->path, id, pprf_suite_name(i->suite), i->depth, i->nodes, i->disk_bytes, i->commit);
  return STATUS_DONE;
}

static int with_vault(pprf_vault *v, const struct vault_args *a)
{
  struct pprf_vault_info info = {.size = sizeof info};
  uint64_t pages;
  int err = pprf_vault_info(v, &info), status = STATUS_DONE;
  if (err != PPRF_OK)
    return report(err);
  if (is(a, "create") || is(a, "info"))
    warn("%s", info.warning);
  if (info.notice != NULL &&
      (is(a, "erase") || is(a, "info") || (a->mirror != NULL && !is(a, "create"))))
    warn("%s", info.notice);
  for (size_t i = 0; i < a->ranges.count && status == STATUS_DONE; i++)
    status = check_range(&a->ranges.at[i], info.depth);
  if (status != STATUS_DONE)
    return status;
  if (is(a, "eval"))
    return eval(v, a, info.value_bytes);
  if (is(a, "erase"))
    return erase(v, a);
  if (is(a, "info"))
    return show(a, &info);
  if (is(a, "create"))
    return STATUS_DONE;
  if (is(a, "backup"))
    return (err = pprf_vault_backup(v, a->to)) == PPRF_OK ? STATUS_DONE : report(err);
  if ((err = pprf_vault_verify(v, &pages)) != PPRF_OK) /* of mirror too: the copy is whole */
    return report(err);
  printf("%" PRIu64 " pages are good\n", pages);
  return STATUS_DONE;
}

static int run(const struct vault_args *a)
{
  struct pprf_vault_options o = {.size = sizeof o, .mirror = a->mirror};
  struct pprf_options key = {.size = sizeof key, .depth = a->depth, .suite = a->suite};
  struct pprf_vault_cell cell;
  pprf_vault *v = NULL;
  char *beside = NULL;
  if (a->cell == NULL && asprintf(&beside, "file:%s.cell", a->path) < 0)
    return complain(STATUS_FAILED, "no memory");
  int err = pprf_vault_cell(&cell, a->cell != NULL ? a->cell : beside);
  free(beside);
  if (err == PPRF_OK)
    err = is(a, "create") ? pprf_vault_create(&v, a->path, &cell, &key, &o)
                          : pprf_vault_open(&v, a->path, &cell, &o);
  int status = err == PPRF_OK ? with_vault(v, a) : report(err);
  pprf_vault_close(v);
  return status;
}

int main(int argc, char **argv)
{
  static const struct command_line line = {
    .operands = "COMMAND VAULT ...",
    .about = "Keep a key on disk from which single leaves are erased for good.",
    .more =
      "Commands:\n"
      "  create VAULT          make a vault\n"
      "  eval VAULT LEAF...    print values\n"
      "  erase VAULT LEAF...   erase leaves or ranges A..B; - reads them from standard input\n"
      "  info VAULT            describe a vault\n"
      "  verify VAULT          read and check every page\n"
      "  mirror VAULT DIR      make or renew a copy of the vault, and verify both\n"
      "  backup VAULT FILE     copy the vault to a new file\n"
      "\n"
      "Exit status: 0 done, 1 usage, 2 bad vault, cell or copy, 3 erased before, 4 failure.",
    .options = options,
    .option = option,
    .operand = operand,
    .end = end,
  };
  static char name[] = "pprf vault";
  struct vault_args a = {.depth = 32};
  struct rlimit none = {
    0, 0}; /* the process holds keys: no core dump, and none of its memory for others */
  if (!keep_standard_numbers())
    return STATUS_FAILED;
  (void)setrlimit(RLIMIT_CORE, &none);
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  (void)signal(SIGXFSZ, SIG_IGN);
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGCHLD, SIG_DFL); /* the parent may ignore it: a cell's command is waited for */
  if (argc > 0)
    argv[0] = name;
  int status = parse_arguments(&line, argc, argv, &a);
  if (status == STATUS_DONE)
    status = run(&a);
  free(a.ranges.at);
  if (fclose(stdout) != 0 && status == STATUS_DONE)
    status = complain(STATUS_FAILED, "standard output");
  return status == STATUS_SHOWN ? STATUS_DONE : status;
}
