/* SPDX-License-Identifier: Apache-2.0 */
/* pprf-redact: sign documents, hide parts of them, verify and show them. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "internal.h"

enum { TEXTS_MAX = 256, NOTHING = 256, MATCH_MAX = 16 << 20 };
static const char in_memory[] = "no memory";
static char *temporary; /* the output's name until it is complete; NULL if it needs none */

struct texts {
  const char *at[TEXTS_MAX];
  size_t count;
};

/* The arguments, of which each command accepts some, and what they name. */
struct job {
  const char *file, *out, *key_file, *context;
  struct texts pointers, required, lines, matches;
  bool json;
  int fd;       /* of FILE */
  int to;       /* of the output */
  int reason;   /* errno of the last read or write that failed */
  char *target; /* the output's name, symbolic links followed */
  EVP_PKEY *key;
  pprf_redact *doc;
  struct pprf_redact_summary info;
};

/* ---- arguments ---- */

static int add_text(struct texts *t, const char *text)
{
  if (t->count == TEXTS_MAX)
    return complain(STATUS_USAGE, "more than %d of one option", TEXTS_MAX);
  t->at[t->count++] = text;
  return STATUS_DONE;
}

static int on_option(void *arg, int key, char *text)
{
  struct job *in = arg;
  const char **one = key == 'o' ? &in->out : key == 'k' ? &in->key_file : &in->context;
  struct texts *many = key == 'p'   ? &in->pointers
                       : key == 'r' ? &in->required
                       : key == 'l' ? &in->lines
                       : key == 'm' ? &in->matches
                                    : NULL;
  in->json = in->json || key == 'j';
  if (many != NULL)
    return add_text(many, text);
  if (text != NULL)
    *one = text;
  return STATUS_DONE;
}

static int on_operand(void *arg, char *text)
{
  struct job *in = arg;
  if (in->file != NULL)
    return complain(STATUS_USAGE, "'%s': unexpected argument", text);
  in->file = text;
  return STATUS_DONE;
}

static int on_end(void *arg)
{
  struct job *in = arg;
  return in->file != NULL ? STATUS_DONE : complain(STATUS_USAGE, "missing argument FILE");
}

/* One number, from 1; *end is what follows it. */
static bool read_number(const char *text, char **end, uint64_t *value)
{
  errno = 0;
  *value = *text >= '0' && *text <= '9' ? strtoull(text, end, 10) : 0;
  return *value > 0 && errno == 0;
}

/* Line numbers for people count from 1: "3,7..9" are the parts 2 and 6..8. */
static int add_lines(struct redact_runs *runs, const char *text)
{
  char *end = NULL;
  uint64_t first, last;
  for (const char *at = text;; at = end + 1) {
    bool good = read_number(at, &end, &first);
    last = first;
    if (good && strncmp(end, "..", 2) == 0)
      good = read_number(end + 2, &end, &last);
    if (!good || first > last || (*end != ',' && *end != '\0'))
      return complain(STATUS_USAGE, "'%s': not lines, like 3,7..9, counted from 1", text);
    redact_runs_add(runs, first - 1, last - 1);
    if (*end == '\0')
      return runs->err == PPRF_OK ? STATUS_DONE : complain(STATUS_FAILED, in_memory);
  }
}

/* ---- files ---- */

/* Open FILE or, for -, standard input; what cannot seek, or was read from before, is copied to a file
 * without a name. */
static int open_input(struct job *in)
{
  char name[] = "/tmp/pprf-redact-XXXXXX", block[1 << 16];
  int fd = strcmp(in->file, "-") == 0 ? STDIN_FILENO : open(in->file, O_RDONLY | O_CLOEXEC);
  ssize_t n;
  in->fd = fd;
  if (fd < 0)
    return complain(STATUS_FILE, "%s: %s", in->file, strerror(errno));
  if (lseek(fd, 0, SEEK_CUR) == 0)
    return STATUS_DONE;
  if ((in->fd = mkstemp(name)) < 0 || unlink(name) != 0)
    return complain(STATUS_FAILED, "%s: %s", name, strerror(errno));
  while ((n = read(fd, block, sizeof block)) != 0)
    if (n < 0 ? errno != EINTR : pprf_redact_write_fd(&in->fd, (uint8_t *)block, (size_t)n) != 0)
      return complain(STATUS_FAILED, "%s: cannot copy it to /tmp: %s", in->file, strerror(errno));
  return STATUS_DONE;
}

/* OpenSSL would ask the terminal, or read the phrase from standard input. */
static int no_phrase(char *phrase, int size, int writing, void *arg)
{
  (void)phrase, (void)size, (void)writing;
  *(bool *)arg = true;
  return -1;
}

static int open_key(struct job *in, bool private)
{
  bool encrypted = false;
  FILE *file = fopen(in->key_file, "re");
  if (file == NULL)
    return complain(STATUS_FILE, "%s: %s", in->key_file, strerror(errno));
  in->key = private ? PEM_read_PrivateKey(file, NULL, no_phrase, &encrypted)
                    : PEM_read_PUBKEY(file, NULL, no_phrase, &encrypted);
  fclose(file);
  if (encrypted)
    return complain(STATUS_FILE, "%s: an encrypted key: 'openssl pkey -in %s' decrypts it",
                    in->key_file, in->key_file);
  if (in->key == NULL)
    return complain(STATUS_FILE, "%s: no %s key in PEM", in->key_file,
                    private ? "private" : "public");
  return STATUS_DONE;
}

/* End as the signal would have ended the program, but leave no file. */
static void on_signal(int number)
{
  (void)unlink(temporary);
  (void)raise(number);
}

static void catch_signals(void)
{
  static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
  struct sigaction old, new = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      (void)sigaction(numbers[i], &new, NULL);
}

/* Open the output: standard output; what is there and no regular file; or a temporary file, which
 * replaces a file, of which it has the owner and the mode, when it is complete. */
static int open_output(struct job *in)
{
  struct stat s;
  mode_t mask = umask(0);
  (void)umask(mask);
  in->to = STDOUT_FILENO;
  if (in->out == NULL || strcmp(in->out, "-") == 0)
    return STATUS_DONE;
  bool exists = stat(in->out, &s) == 0;
  if (exists && !S_ISREG(s.st_mode)) {
    in->to = open(in->out, O_WRONLY | O_CLOEXEC);
    return in->to >= 0 ? STATUS_DONE : complain(STATUS_FAILED, "%s: %s", in->out, strerror(errno));
  }
  mode_t mode = exists ? s.st_mode & 07777 : 0666 & ~mask;
  in->target = exists || lstat(in->out, &s) == 0 ? realpath(in->out, NULL) : strdup(in->out);
  if (in->target != NULL && asprintf(&temporary, "%s.XXXXXX", in->target) < 0)
    return complain(STATUS_FAILED, in_memory);
  in->to = in->target != NULL ? mkstemp(temporary) : -1;
  if (in->to >= 0)
    catch_signals();
  if (in->to < 0 || (exists && fchown(in->to, s.st_uid, s.st_gid) != 0) ||
      fchmod(in->to, mode) != 0)
    return complain(STATUS_FAILED, "%s: %s", in->out, strerror(errno));
  return STATUS_DONE;
}

static int close_output(struct job *in, int status)
{
  if (status == STATUS_DONE && in->to > STDOUT_FILENO &&
      ((temporary != NULL && fsync(in->to) != 0) || close(in->to) != 0 ||
       (temporary != NULL && rename(temporary, in->target) != 0)))
    status = complain(STATUS_FAILED, "%s: %s", in->out, strerror(errno));
  if (status != STATUS_DONE && temporary != NULL && in->to >= 0)
    (void)unlink(temporary);
  free(in->target);
  return status;
}

static int64_t read_input(void *arg, uint64_t offset, uint8_t *buf, size_t len)
{
  struct job *in = arg;
  int64_t n = pprf_redact_read_fd(&in->fd, offset, buf, len);
  if (n < 0)
    in->reason = errno;
  return n;
}

static int write_output(void *arg, const uint8_t *bytes, size_t len)
{
  struct job *in = arg;
  int err = pprf_redact_write_fd(&in->to, bytes, len);
  if (err != 0)
    in->reason = errno;
  return err;
}

static const char *noun(const struct job *in)
{
  return in->info.kind == PPRF_REDACT_LINES ? "line" : "value";
}

/* Report a result of the library and what it is about. */
static int report(struct job *in, int err)
{
  if (in->doc != NULL)
    pprf_redact_info(in->doc, &in->info);
  if (err == PPRF_OK)
    return STATUS_DONE;
  uint64_t where = in->info.where;
  const char *why = pprf_redact_strerror(err);
  int status = err < PPRF_REDACT_ERR_CBOR ? STATUS_FAILED : STATUS_FILE;
  bool byte = err == PPRF_REDACT_ERR_JSON || err == PPRF_REDACT_ERR_DUPLICATE,
       to_require = where >= in->pointers.count;
  if (err == -1) /* of write_output */
    return complain(STATUS_FAILED, "%s: %s", in->to == STDOUT_FILENO ? "standard output" : in->out,
                    strerror(in->reason));
  if (err == PPRF_REDACT_ERR_READ)
    return complain(status, "%s: %s", in->file, strerror(in->reason));
  if (where == UINT64_MAX)
    return complain(status, "%s: %s", in->file, why);
  if (err == PPRF_REDACT_ERR_POINTER)
    return complain(
      status, "%s: %s: %s '%s'", in->file, why, to_require ? "--require" : "--pointer",
      to_require ? in->required.at[where - in->pointers.count] : in->pointers.at[where]);
  return complain(status, "%s: %s: %s %llu", in->file, why, byte ? "byte" : noun(in),
                  (unsigned long long)where + 1);
}

/* ---- commands ---- */

static int sign(struct job *in)
{
  struct redact_runs required = {0};
  struct pprf_redact_options o = {.size = sizeof o,
                                  .kind = in->json ? PPRF_REDACT_JSON : PPRF_REDACT_LINES,
                                  .context = (const uint8_t *)in->context,
                                  .context_len = strlen(in->context),
                                  .pointers = in->pointers.at,
                                  .pointer_count = in->pointers.count};
  int status = STATUS_DONE;
  in->info.kind = o.kind;
  if (!in->json && in->pointers.count > 0)
    return complain(STATUS_USAGE, "--pointer is for --json");
  for (size_t i = 0; !in->json && status == STATUS_DONE && i < in->required.count; i++)
    status = add_lines(&required, in->required.at[i]);
  o.required = required.at;
  o.required_count = required.count;
  o.required_pointers = in->required.at;
  o.required_pointer_count = in->json ? in->required.count : 0;
  if (status == STATUS_DONE)
    status = open_output(in);
  if (status == STATUS_DONE)
    status =
      report(in, pprf_redact_sign(read_input, in, in->key, &o, write_output, in, &in->info.where));
  OPENSSL_free(required.at);
  return status;
}

/* The parts that a user names by pointer or by expression. */
struct search {
  const struct job *in;
  regex_t expressions[TEXTS_MAX];
  bool pointers[TEXTS_MAX], matches[TEXTS_MAX]; /* which have found a part */
  struct redact_runs *found;
  struct redact_buffer part;
  int status; /* of what was complained about */
};

/* @return 1 if a text that ends with a zero byte matches, 0 if not, -1 if that cannot be told. */
static int matches(regex_t *expression, const char *text, size_t len)
{
#ifdef __GLIBC__ /* its regexec returns REG_NOMATCH when memory runs out, too */
  regoff_t at = re_search(expression, text, (regoff_t)len, 0, (regoff_t)len, NULL);
  return at >= 0 ? 1 : at == -1 ? 0 : -1;
#else
  int err = regexec(expression, text, 0, NULL, 0);
  (void)len;
  return err == 0 ? 1 : err == REG_NOMATCH ? 0 : -1;
#endif
}

/* An expression could not be matched: fail, because a part that matches would stay shown. */
static int not_searched(struct search *s, const struct pprf_redact_piece *p, const char *why)
{
  s->status = complain(STATUS_FAILED, "%s: --match: %s: %s %llu", s->in->file, why, noun(s->in),
                       (unsigned long long)p->part + 1);
  return -1;
}

static int search_part(void *arg, const struct pprf_redact_piece *p)
{
  struct search *s = arg;
  struct redact_buffer *part = &s->part;
  size_t start = 0, end;
  bool found = false;
  if (p->hidden > 0)
    return 0;
  if (p->len > MATCH_MAX && s->in->matches.count > 0)
    return not_searched(s, p, "longer than 16 MiB");
  part->len = p->offset == 0 ? 0 : part->len;
  redact_put(part, p->bytes, p->bytes_len);
  if (p->offset + p->bytes_len < p->len)
    return 0;
  end = part->len;
  redact_put(part, "", 1);
  if (part->err != PPRF_OK)
    return -part->err;
  if (s->in->info.kind == PPRF_REDACT_JSON) {
    for (size_t i = 0; i < s->in->pointers.count; i++)
      if (redact_is_below(s->in->pointers.at[i], part->bytes, end))
        found = s->pointers[i] = true;
    start = 4 + redact_pointer_length(part->bytes);
  } else if (part->bytes[end - 1] == '\n') {
    part->bytes[--end] = '\0';
  }
  for (size_t i = start; i < end; i++) /* an expression stops at a zero byte */
    part->bytes[i] = part->bytes[i] == '\0' ? '\n' : part->bytes[i];
  for (size_t i = 0; i < s->in->matches.count; i++) {
    int good = matches(&s->expressions[i], (char *)part->bytes + start, end - start);
    if (good > 0)
      found = s->matches[i] = true;
    else if (good < 0)
      return not_searched(s, p, "no memory to match an expression");
  }
  if (found)
    redact_runs_add(s->found, p->part, p->part);
  return -s->found->err;
}

/* Every pointer and expression must find a part. */
static int check_found(const struct texts *texts, const bool *found)
{
  for (size_t i = 0; i < texts->count; i++)
    if (!found[i])
      return complain(STATUS_USAGE, "'%s': no shown part is there or matches", texts->at[i]);
  return STATUS_DONE;
}

static int search(struct job *in, struct redact_runs *found)
{
  struct search s = {.in = in, .found = found};
  size_t n = 0;
  for (; n < in->matches.count; n++)
    if (regcomp(&s.expressions[n], in->matches.at[n], REG_EXTENDED | REG_NOSUB) != 0)
      return complain(STATUS_USAGE, "'%s': not a regular expression", in->matches.at[n]);
  int err = pprf_redact_parts(in->doc, search_part, &s);
  int status = s.status != STATUS_DONE ? s.status : report(in, err < 0 ? -err : err);
  if (status == STATUS_DONE)
    status = check_found(&in->pointers, s.pointers);
  if (status == STATUS_DONE)
    status = check_found(&in->matches, s.matches);
  while (n > 0)
    regfree(&s.expressions[--n]);
  redact_buffer_free(&s.part);
  return status;
}

static int redact(struct job *in)
{
  bool json = in->info.kind == PPRF_REDACT_JSON;
  struct redact_runs runs = {0};
  int status = STATUS_DONE;
  if (in->lines.count + in->pointers.count + in->matches.count == 0)
    return complain(STATUS_USAGE, "nothing to hide: missing --lines, --pointer or --match");
  if (json ? in->lines.count > 0 : in->pointers.count > 0)
    return complain(STATUS_USAGE, "%s: its parts are %s", in->file,
                    json ? "values: use --pointer" : "lines: use --lines");
  for (size_t i = 0; status == STATUS_DONE && i < in->lines.count; i++)
    status = add_lines(&runs, in->lines.at[i]);
  for (size_t i = 0; status == STATUS_DONE && i < runs.count; i++)
    if (runs.at[i].last >= in->info.parts)
      status =
        complain(STATUS_USAGE, "%s: it has no line %llu: its last is %llu", in->file,
                 (unsigned long long)runs.at[i].last + 1, (unsigned long long)in->info.parts);
  if (status == STATUS_DONE && in->pointers.count + in->matches.count > 0)
    status = search(in, &runs);
  if (status == STATUS_DONE)
    status = open_output(in);
  if (status == STATUS_DONE)
    status = report(in, pprf_redact_hide(in->doc, runs.at, runs.count, write_output, in));
  OPENSSL_free(runs.at);
  return status;
}

static int verify_doc(struct job *in)
{
  return report(
    in, pprf_redact_verify(in->doc, in->key, (const uint8_t *)in->context, strlen(in->context)));
}

static int verify(struct job *in)
{
  int status = verify_doc(in);
  uint64_t shown = in->info.parts;
  for (size_t i = 0; i < in->info.hidden_count; i++)
    shown -= in->info.hidden[i].last - in->info.hidden[i].first + 1;
  if (status == STATUS_DONE)
    printf("good: %llu of %llu %ss shown, signed with %s\n", (unsigned long long)shown,
           (unsigned long long)in->info.parts, noun(in), in->info.algorithm);
  return status;
}

struct shown {
  const struct job *in;
  uint8_t before; /* the byte before; 0xc2 is not printed yet */
};

/* A value with its pointer on one line: control characters (C0, DEL and C1) as \u and a number; in the
 * pointer, so that it ends at the first colon and space, also a backslash and a colon before a space. */
static void show_value(struct shown *s, const struct pprf_redact_piece *p)
{
  const uint8_t *b = p->bytes;
  size_t start = p->offset == 0 ? 4 : 0, end = start + (start > 0 ? redact_pointer_length(b) : 0);
  for (size_t i = start; i < p->bytes_len; s->before = b[i++]) {
    bool c1 = s->before == 0xc2 && b[i] >= 0x80 && b[i] < 0xa0,
         split = i < end && (b[i] == '\\' || (b[i] == ':' && b[i + 1] == ' '));
    if (s->before == 0xc2 && !c1)
      putchar(0xc2);
    if (i == end && start > 0)
      fputs(": ", stdout);
    if (b[i] < 0x20 || b[i] == 0x7f || c1 || split)
      printf("\\u%04x", b[i]);
    else if (b[i] != 0xc2)
      putchar(b[i]);
  }
  if (p->offset + p->bytes_len < p->len)
    return;
  printf(s->before == 0xc2 ? "\xc2\n" : "\n");
  s->before = 0;
}

/* A line that begins with [ or \ gets a \ before it: [ begins a run of hidden parts. */
static int show_part(void *arg, const struct pprf_redact_piece *p)
{
  struct shown *s = arg;
  if (p->hidden > 0) {
    printf("[%llu %ss hidden]\n", (unsigned long long)p->hidden, noun(s->in));
  } else if (s->in->info.kind == PPRF_REDACT_JSON) {
    show_value(s, p);
  } else {
    if (p->offset == 0 && (p->bytes[0] == '[' || p->bytes[0] == '\\'))
      putchar('\\');
    (void)fwrite(p->bytes, 1, p->bytes_len, stdout);
  }
  return 0;
}

static int show(struct job *in)
{
  struct shown s = {.in = in};
  int status = in->key != NULL ? verify_doc(in) : STATUS_DONE;
  if (in->key == NULL)
    fprintf(stderr, "%s: NOT VERIFIED: without --pub nobody vouches for this\n", command_name);
  if (status == STATUS_DONE)
    status = report(in, pprf_redact_parts(in->doc, show_part, &s));
  return status;
}

/* ---- main ---- */

#define OUT {"output", 'o', "FILE", "Write there, all or nothing; default: standard output"}
#define POINTER(help) {"pointer", 'p', "POINTER", help}
#define PUB(help) {"pub", 'k', "FILE", help}
#define CONTEXT(help) {"context", 'c', "TEXT", help}
static const struct option_line sign_options[] = {
  {"key", 'k', "FILE", "The private key, Ed25519 or P-256, in PEM"},
  {"lines", NOTHING, NULL, "Parts are lines (default)"},
  {"json", 'j', NULL, "Parts are values of a JSON document"},
  POINTER("Do not split the JSON value there; repeatable"),
  {"require", 'r', "LINES|POINTER", "Parts that cannot be hidden; repeatable"},
  CONTEXT("What the document is for; a verifier must name it"),
  OUT,
  {0}};
static const struct option_line redact_options[] = {
  {"lines", 'l', "LINES", "Hide these, like 3,7..9, counted from 1; repeatable"},
  POINTER("Hide the JSON values at and below; repeatable"),
  {"match", 'm', "REGEX", "Hide lines, or JSON values, that match; repeatable"},
  OUT,
  {0}};
static const struct option_line verify_options[] = {
  PUB("The signer's public key in PEM"), CONTEXT("What it was signed for; default: nothing"), {0}};
static const struct option_line show_options[] = {
  PUB("Verify it first"), CONTEXT("What it was signed for; default: nothing"), {0}};
static const struct command {
  const char *name;
  int (*run)(struct job *);
  const char *needs; /* a key's option */
  struct command_line line;
} commands[] = {
#define COMMAND(name, needs, about)                                                           \
  {                                                                                           \
    "pprf-redact " #name, name, needs,                                                        \
    {                                                                                         \
      "FILE", about, "FILE may be -, standard input.", name##_options, on_option, on_operand, \
        on_end                                                                                \
    }                                                                                         \
  }
  COMMAND(sign, "--key", "Sign a document of which parts can be hidden later."),
  COMMAND(redact, NULL, "Hide parts of a signed document; needs no key."),
  COMMAND(verify, "--pub", "Check a document: its signature, its context and every part."),
  COMMAND(show, NULL, "Print the parts that are shown."),
};

static int run(const struct command *c, struct job *in)
{
  int status = STATUS_DONE;
  if (in->key_file != NULL)
    status = open_key(in, c->run == sign);
  else if (c->needs != NULL)
    status = complain(STATUS_USAGE, "missing option '%s'", c->needs);
  if (status == STATUS_DONE)
    status = open_input(in);
  if (status == STATUS_DONE && c->run != sign)
    status = report(in, pprf_redact_open(&in->doc, read_input, in));
  if (status == STATUS_DONE)
    status = c->run(in);
  if (fflush(stdout) != 0 || ferror(stdout))
    status = complain(STATUS_FAILED, "standard output: %s", strerror(errno));
  pprf_redact_close(in->doc);
  EVP_PKEY_free(in->key);
  return close_output(in, status);
}

int main(int argc, char **argv)
{
  struct job in = {.context = "", .info.where = UINT64_MAX};
  if (!keep_standard_numbers()) /* the output would get the number of a closed stream */
    return STATUS_FAILED;
  for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
    if (strcmp(argv[1], commands[i].name + strlen("pprf-redact ")) == 0) {
      argv[1] = (char *)commands[i].name; /* argv[0], which is never written to */
      int status = parse_arguments(&commands[i].line, argc - 1, argv + 1, &in);
      return status == STATUS_DONE ? run(&commands[i], &in) : status == STATUS_SHOWN ? 0 : status;
    }
  command_name = "pprf-redact";
  if (argc > 1 && strcmp(argv[1], "--version") == 0)
    return puts("pprf-redact " PPRF_VERSION) < 0;
  if (argc > 1 && strcmp(argv[1], "--help") == 0)
    return puts("Usage: pprf-redact sign|redact|verify|show [OPTION]... FILE\nEach has --help.") <
           0;
  return complain(STATUS_USAGE, "missing or unknown command: sign, redact, verify or show");
}
