/* SPDX-License-Identifier: Apache-2.0 */
/* Ask a prover about a goal with few of its assertions, then about the whole goal.
 *
 *   context MILLISECONDS PROVER ARGUMENT... -- PROVER ARGUMENT... FILE
 *
 * The first prover gets a copy of FILE without the assertions that look superfluous, and MILLISECONDS
 * of CPU time.  If its first line is "unsat", its output is printed: what follows from some
 * assertions follows from all. Any other answer is dropped, and the second prover replaces this
 * process and runs on FILE itself.
 *
 * The copy is FILE without some whole assertions: nothing is added, moved or changed. The last
 * assertion, the negated goal, stays. Which others stay affects how fast a proof is found, never
 * whether it is valid. A file with commands other than those below goes only to the second prover,
 * and so does one with text that a prover may read differently: Z3 has comments #| |#, and \| does
 * not end its |symbols|. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 1 << 24, ITEMS = 1 << 14, SYMBOLS = 1 << 14, OUTPUT = 1 << 20, ROUNDS = 2 };

/* A command of the file, from its opening to its closing parenthesis. */
struct item {
  const char *at, *end;
  bool assertion, definition, kept;
};

static struct item items[ITEMS];
static size_t item_count;

/* The names that the file declares; wanted: those that occur in the goal and in what is kept. */
static struct symbol {
  const char *at;
  size_t length;
  bool wanted;
} symbols[SYMBOLS];
static size_t symbol_count;

static bool is_word(char c)
{
  return c > ' ' && !strchr("()\";|", c);
}

/* The end of the token at p: a parenthesis, a word, a |symbol|, a string, a comment, or white space. */
static const char *token_end(const char *p, const char *end)
{
  char c = *p++;
  if (c == '|' || c == '"' || c == ';') {
    char closing = c == ';' ? '\n' : c;
    while (p < end && *p != closing) {
      p++;
    }
    return p < end ? p + 1 : NULL;
  }
  while (is_word(c) && p < end && is_word(*p)) {
    p++;
  }
  return p;
}

static bool begins(const struct item *i, const char *command)
{
  size_t n = strlen(command);
  return (size_t)(i->end - i->at) > n && !memcmp(i->at, command, n) && !is_word(i->at[n]);
}

static bool known(const struct item *i)
{
  static const char *const commands[] = {"(set-logic",         "(set-info",    "(set-option",
                                         "(declare-sort",      "(declare-fun", "(declare-const",
                                         "(declare-datatypes", "(define-fun",  "(define-sort",
                                         "(check-sat",         "(get-info"};
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    if (begins(i, commands[k])) {
      return true;
    }
  }
  return i->assertion;
}

/* Find the commands. False if one is unknown, or if the file does not end after a command. */
static bool split(const char *text, const char *end)
{
  size_t depth = 0;
  bool definition = false; /* whether the previous comment ends in 'def */
  size_t checks = 0;
  for (const char *p = text, *next; p < end; p = next) {
    if (!(next = token_end(p, end))) {
      return false;
    }
    if (*p == ';' && depth == 0) {
      definition = next - p > 5 && !memcmp(next - 5, "'def\n", 5);
    } else if (*p == '(' && depth++ == 0) {
      if (item_count == ITEMS) {
        return false;
      }
      items[item_count].at = p;
    } else if (*p == ')') {
      if (depth == 0) {
        return false;
      }
      if (--depth == 0) {
        struct item *i = &items[item_count++];
        i->end = next;
        i->assertion = begins(i, "(assert");
        i->definition = i->assertion && definition;
        checks += begins(i, "(check-sat");
        if (!known(i) || (i->assertion && checks)) {
          return false;
        }
      }
    }
  }
  return depth == 0 && checks == 1;
}

static struct symbol *find(const char *at, const char *end)
{
  size_t h = 5381;
  for (const char *p = at; p < end; p++) {
    h = h * 33 + (unsigned char)*p;
  }
  for (size_t k = 0; k < SYMBOLS; k++) {
    struct symbol *s = &symbols[(h + k) % SYMBOLS];
    if (!s->at || (s->length == (size_t)(end - at) && !memcmp(s->at, at, s->length))) {
      return s;
    }
  }
  return NULL;
}

/* The next declared name in [*p, end), NULL if there is none; *p is set to its end. */
static struct symbol *next_symbol(const char **p, const char *end)
{
  while (*p < end) {
    const char *at = *p;
    *p = token_end(at, end);
    struct symbol *s = is_word(*at) || *at == '|' ? find(at, *p) : NULL;
    if (s && s->at) {
      return s;
    }
  }
  return NULL;
}

static bool declare(void)
{
  for (size_t k = 0; k < item_count; k++) {
    struct item *i = &items[k];
    if (!begins(i, "(declare-fun") && !begins(i, "(define-fun") && !begins(i, "(declare-const")) {
      continue;
    }
    const char *at = i->at + strcspn(i->at, " \n");
    at += strspn(at, " \n");
    const char *end = at < i->end ? token_end(at, i->end) : NULL;
    struct symbol *s = end ? find(at, end) : NULL;
    if (!s || ++symbol_count > SYMBOLS / 2) {
      return false;
    }
    s->at = at;
    s->length = (size_t)(end - at);
  }
  return true;
}

static void keep(struct item *i)
{
  i->kept = true;
  const char *p = i->at;
  for (struct symbol *s; (s = next_symbol(&p, i->end));) {
    s->wanted = true;
  }
}

/* A definition is useful if the name that it defines is wanted; another assertion, if it
 * contains names and all are wanted. */
static bool of_use(const struct item *i)
{
  const char *p = i->at;
  struct symbol *s = next_symbol(&p, i->end);
  if (!s || i->definition) {
    return s && s->wanted;
  }
  for (; s; s = next_symbol(&p, i->end)) {
    if (!s->wanted) {
      return false;
    }
  }
  return true;
}

/* Choose what to keep. False if there is no goal. */
static bool choose(void)
{
  struct item *goal = NULL;
  for (size_t k = 0; k < item_count; k++) {
    goal = items[k].assertion ? &items[k] : goal;
  }
  if (!goal) {
    return false;
  }
  keep(goal);
  for (int round = 0; round < ROUNDS; round++) {
    static bool use[ITEMS];
    for (size_t k = 0; k < item_count; k++) {
      use[k] = items[k].assertion && !items[k].kept && of_use(&items[k]);
    }
    for (size_t k = 0; k < item_count; k++) {
      if (use[k]) {
        keep(&items[k]);
      }
    }
  }
  return true;
}

/* Write the copy to a file that is removed when this process ends; its name is written to path. */
static bool copy(const char *text, const char *end, char path[32])
{
  int fd = memfd_create("goal.smt2", 0);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
  if (!f) {
    return false;
  }
  snprintf(path, 32, "/proc/self/fd/%d", fd);
  for (size_t k = 0; k < item_count; k++) {
    if (items[k].assertion && !items[k].kept) {
      fwrite(text, 1, (size_t)(items[k].at - text), f);
      text = items[k].end;
    }
  }
  fwrite(text, 1, (size_t)(end - text), f);
  return fflush(f) == 0 && !ferror(f) && lseek(fd, 0, SEEK_SET) == 0;
}

/* Run the prover for this many milliseconds of CPU time. True if it answers "unsat", which is
 * then printed. */
static bool proves(char **command, long limit)
{
  static char output[OUTPUT];
  int end[2];
  if (pipe2(end, O_CLOEXEC)) {
    return false;
  }
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    struct itimerval timer = {.it_value = {limit / 1000, limit % 1000 * 1000}};
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
        setitimer(ITIMER_PROF, &timer, NULL) || dup2(end[1], 1) < 0 || dup2(end[1], 2) < 0) {
      _exit(127);
    }
    execvp(command[0], command);
    _exit(127);
  }
  close(end[1]);
  size_t length = 0;
  for (ssize_t n; length < OUTPUT && (n = read(end[0], output + length, OUTPUT - length)) > 0;) {
    length += (size_t)n;
  }
  close(end[0]);
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || length < 6 ||
      memcmp(output, "unsat\n", 6)) {
    return false;
  }
  fwrite(output, 1, length, stdout);
  fflush(stdout);
  return true;
}

int main(int argc, char **argv)
{
  int second = 2;
  while (second < argc && strcmp(argv[second], "--")) {
    second++;
  }
  char *end;
  long limit = argc > 1 ? strtol(argv[1], &end, 10) : 0;
  if (limit <= 0 || *end || second < 3 || second + 2 >= argc) {
    fprintf(stderr, "usage: context MILLISECONDS PROVER ARGUMENT... -- PROVER ARGUMENT... FILE\n");
    return 2;
  }
  static char text[TEXT];
  FILE *f = fopen(argv[argc - 1], "r");
  size_t length = f ? fread(text, 1, TEXT - 1, f) : 0;
  bool whole = f && feof(f) && !ferror(f) && strcspn(text, "\r\\") == length && !strstr(text, "#|");
  if (f) {
    fclose(f);
  }
  char path[32];
  if (whole && split(text, text + length) && declare() && choose() &&
      copy(text, text + length, path)) {
    argv[second] = path;
    char *after = argv[second + 1];
    argv[second + 1] = NULL;
    if (proves(argv + 2, limit)) {
      return 0;
    }
    argv[second + 1] = after;
  }
  execvp(argv[second + 1], argv + second + 1);
  perror(argv[second + 1]);
  return 127;
}
