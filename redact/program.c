/* SPDX-License-Identifier: Apache-2.0 */
/* pprf-redact: sign documents, hide parts of them, verify and show them. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"
#include "internal.h"

enum { TEXTS_MAX = 256, NOTHING = 256 };
static const char in_memory[] = "no memory";

struct texts {
  const char *at[TEXTS_MAX];
  size_t count;
};

/* The arguments, of which each command accepts some, and what they name. */
struct job {
  const char *file, *out, *key_file, *context;
  struct texts pointers, required, lines, matches;
  bool json;
  int fd;          /* of FILE */
  int to;          /* of the output */
  char *temporary; /* the output's name until it is complete; NULL for standard output */
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

/* Open FILE or, for -, standard input; what cannot seek is copied to a file without a name. */
static int open_input(struct job *in)
{
  char name[] = "/tmp/pprf-redact-XXXXXX", block[1 << 16];
  int fd = strcmp(in->file, "-") == 0 ? STDIN_FILENO : open(in->file, O_RDONLY | O_CLOEXEC);
  ssize_t n;
  in->fd = fd;
  if (fd < 0)
    return complain(STATUS_FILE, "%s: %s", in->file, strerror(errno));
  if (lseek(fd, 0, SEEK_CUR) >= 0)
    return STATUS_DONE;
  if ((in->fd = mkstemp(name)) < 0 || unlink(name) != 0)
    return complain(STATUS_FAILED, "%s: %s", name, strerror(errno));
  while ((n = read(fd, block, sizeof block)) != 0)
    if (n < 0 ? errno != EINTR : pprf_redact_write_fd(&in->fd, (uint8_t *)block, (size_t)n) != 0)
      return complain(STATUS_FAILED, "%s: cannot copy it to /tmp: %s", in->file, strerror(errno));
  return STATUS_DONE;
}

static int open_key(struct job *in, bool private)
{
  FILE *file = fopen(in->key_file, "re");
  if (file == NULL)
    return complain(STATUS_FILE, "%s: %s", in->key_file, strerror(errno));
  in->key =
    private ? PEM_read_PrivateKey(file, NULL, NULL, NULL) : PEM_read_PUBKEY(file, NULL, NULL, NULL);
  fclose(file);
  if (in->key == NULL)
    return complain(STATUS_FILE, "%s: no %s key in PEM", in->key_file,
                    private ? "private" : "public");
  return STATUS_DONE;
}

/* Open the output: standard output or, complete or not at all, a file. */
static int open_output(struct job *in)
{
  mode_t mask = umask(0);
  (void)umask(mask);
  in->to = STDOUT_FILENO;
  if (in->out == NULL)
    return STATUS_DONE;
  if (asprintf(&in->temporary, "%s.XXXXXX", in->out) < 0)
    return complain(STATUS_FAILED, in_memory);
  in->to = mkstemp(in->temporary);
  if (in->to < 0 || fchmod(in->to, 0666 & ~mask) != 0)
    return complain(STATUS_FAILED, "%s: %s", in->out, strerror(errno));
  return STATUS_DONE;
}

static int close_output(struct job *in, int status)
{
  if (in->temporary == NULL)
    return status;
  if (status == STATUS_DONE &&
      (fsync(in->to) != 0 || close(in->to) != 0 || rename(in->temporary, in->out) != 0))
    status = complain(STATUS_FAILED, "%s: %s", in->out, strerror(errno));
  if (status != STATUS_DONE && in->to >= 0)
    (void)unlink(in->temporary);
  free(in->temporary);
  return status;
}

/* Report a result of the library and what it is about. */
static int report(struct job *in, int err, int kind, uint64_t where)
{
  bool byte = err == PPRF_REDACT_ERR_JSON || err == PPRF_REDACT_ERR_DUPLICATE;
  if (err == PPRF_OK)
    return STATUS_DONE;
  int status = err < PPRF_REDACT_ERR_CBOR ? STATUS_FAILED : STATUS_FILE;
  if (where == UINT64_MAX)
    return complain(status, "%s: %s", in->file, pprf_redact_strerror(err));
  return complain(status, "%s: %s: %s %llu", in->file, pprf_redact_strerror(err),
                  byte                             ? "byte"
                  : err == PPRF_REDACT_ERR_POINTER ? "pointer"
                  : kind == PPRF_REDACT_LINES      ? "line"
                                                   : "value",
                  (unsigned long long)where + 1);
}

static int report_doc(struct job *in, int err)
{
  pprf_redact_info(in->doc, &in->info);
  return report(in, err, in->info.kind, in->info.where);
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
  uint64_t where;
  int status = STATUS_DONE;
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
    status = report(in,
                    pprf_redact_sign(pprf_redact_read_fd, &in->fd, in->key, &o,
                                     pprf_redact_write_fd, &in->to, &where),
                    o.kind, where);
  free(required.at);
  return status;
}

/* The parts that a user names by pointer or by expression. */
struct search {
  const struct job *in;
  regex_t expressions[TEXTS_MAX];
  bool pointers[TEXTS_MAX], matches[TEXTS_MAX]; /* which have found a part */
  struct redact_runs *found;
  struct redact_buffer part;
};

static int search_part(void *arg, const struct pprf_redact_piece *p)
{
  struct search *s = arg;
  struct redact_buffer *part = &s->part;
  size_t start = 0, end;
  bool found = false;
  if (p->hidden > 0)
    return 0;
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
  for (size_t i = start; i < end; i++) /* regexec stops at a zero byte */
    part->bytes[i] = part->bytes[i] == '\0' ? '\n' : part->bytes[i];
  for (size_t i = 0; i < s->in->matches.count; i++)
    if (regexec(&s->expressions[i], (char *)part->bytes + start, 0, NULL, 0) == 0)
      found = s->matches[i] = true;
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
  int status = report_doc(in, err < 0 ? -err : err);
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
  if (status == STATUS_DONE && in->pointers.count + in->matches.count > 0)
    status = search(in, &runs);
  if (status == STATUS_DONE)
    status = open_output(in);
  if (status == STATUS_DONE)
    status =
      report_doc(in, pprf_redact_hide(in->doc, runs.at, runs.count, pprf_redact_write_fd, &in->to));
  free(runs.at);
  return status;
}

static int verify_doc(struct job *in)
{
  return report_doc(
    in, pprf_redact_verify(in->doc, in->key, (const uint8_t *)in->context, strlen(in->context)));
}

static int verify(struct job *in)
{
  int status = verify_doc(in);
  uint64_t shown = in->info.parts;
  for (size_t i = 0; i < in->info.hidden_count; i++)
    shown -= in->info.hidden[i].last - in->info.hidden[i].first + 1;
  if (status == STATUS_DONE)
    printf("good: %llu of %llu %s shown, signed with %s\n", (unsigned long long)shown,
           (unsigned long long)in->info.parts,
           in->info.kind == PPRF_REDACT_JSON ? "values" : "lines", in->info.algorithm);
  return status;
}

/* A value with its pointer on one line, a control character in a pointer as \u and its number. */
static int show_part(void *arg, const struct pprf_redact_piece *p)
{
  bool json = *(int *)arg == PPRF_REDACT_JSON;
  const uint8_t *b = p->bytes;
  size_t skip = 0;
  if (p->hidden > 0)
    printf("[%llu %s hidden]\n", (unsigned long long)p->hidden, json ? "values" : "lines");
  if (p->hidden == 0 && json && p->offset == 0) {
    size_t len = redact_pointer_length(b);
    skip = len < p->bytes_len - 4 ? 4 + len : p->bytes_len;
    for (size_t i = 4; i < skip; i++)
      printf(b[i] < 0x20 ? "\\u%04x" : "%c", b[i]);
    printf(": ");
  }
  if (p->hidden == 0)
    (void)fwrite(b + skip, 1, p->bytes_len - skip, stdout);
  if (p->hidden == 0 && json && p->offset + p->bytes_len == p->len)
    putchar('\n');
  return 0;
}

static int show(struct job *in)
{
  int status = in->key != NULL ? verify_doc(in) : STATUS_DONE;
  if (in->key == NULL)
    fprintf(stderr, "%s: NOT VERIFIED: without --pub nobody vouches for this\n", command_name);
  if (status == STATUS_DONE)
    status = report_doc(in, pprf_redact_parts(in->doc, show_part, &in->info.kind));
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
    status = report(in, pprf_redact_open(&in->doc, pprf_redact_read_fd, &in->fd), 0, UINT64_MAX);
  if (in->doc != NULL)
    pprf_redact_info(in->doc, &in->info);
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
  struct job in = {.context = ""};
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
