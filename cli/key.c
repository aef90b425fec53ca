/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that work on an existing key file: eval, punct, delegate, info. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "keyfile.h"
#include "leftovers.h"
#include "replace.h"

/* ---- shared by all four ---- */

int library_failed(const char *what, int err)
{
  return complain(err == PPRF_ERR_FORMAT ? STATUS_FILE : STATUS_FAILED, "%s: %s", what,
                  pprf_strerror(err));
}

uint8_t *encode_key(const struct pprf_impl *impl, const pprf_key *key, size_t *len, int *status)
{
  int err = impl->export_key(key, NULL, len);
  uint8_t *bytes = err == PPRF_OK ? secret_alloc(*len) : NULL;
  if (err == PPRF_OK)
    err = bytes == NULL ? PPRF_ERR_NOMEM : impl->export_key(key, bytes, len);
  *status = err == PPRF_OK ? STATUS_DONE : library_failed("encoding the key", err);
  if (err == PPRF_OK)
    return bytes;
  secret_free(bytes, *len);
  return NULL;
}

/* Read the file under a lock and import the key.  Writers keep the lock. */
static int load(struct keyfile *f, const char *path, bool for_writing, const struct pprf_impl *impl,
                pprf_key **key)
{
  struct stat out;
  int status = keyfile_open(f, path, for_writing);
  if (status != STATUS_DONE)
    return status;
  if (fstat(STDOUT_FILENO, &out) == 0 && keyfile_same(&out, &f->stat)) /* pprf info key >> key */
    status = complain(STATUS_FILE, "%s: standard output goes to this key file", path);
  else
    status = keyfile_read(f);
  if (!for_writing)
    keyfile_unlock(f); /* a slow reader must not delay writers */
  if (status == STATUS_DONE) {
    const struct pprf_import_options all = {.size = sizeof all,
                                            .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES};
    int err = impl->import_with(key, f->bytes, f->len, &all);
    if (err == PPRF_ERR_FORMAT)
      status = complain(STATUS_FILE, "%s: damaged: not a canonical key file", path);
    else if (err == PPRF_ERR_SUITE)
      status =
        complain(STATUS_FILE, "%s: suite number %u is unknown to this version", path, f->bytes[8]);
    else if (err != PPRF_OK)
      status = library_failed(path, err);
  }
  if (status != STATUS_DONE)
    keyfile_close(f);
  else if ((f->stat.st_mode & (S_IROTH | S_IWOTH)) != 0)
    warn("%s: all users may %s it (mode %04o)", path,
         (f->stat.st_mode & S_IROTH) != 0 ? "read" : "write", (unsigned)(f->stat.st_mode & 07777));
  return status;
}

/* Arguments of these commands. */
struct file_args {
  const struct pprf_impl *impl;
  const char *path, *to; /* to: the file to write, of delegate */
  struct ranges ranges;
  size_t value_bytes; /* of the key */
  bool leaves_allowed, delegates, eval, json, check, list_ranges, force;
};

static int parse_option(void *input, int key, char *arg)
{
  struct file_args *a = input;
  switch (key) {
  case 'i':
    a->impl = impl_by_name(arg, false);
    return a->impl == NULL ? STATUS_USAGE : STATUS_DONE;
  case 'f':
    a->force = true;
    return STATUS_DONE;
  case 'e':
    a->eval = true;
    return STATUS_DONE;
  case 'c':
    a->check = true;
    return STATUS_DONE;
  case 'q':
    quiet = true;
    return STATUS_DONE;
  case 'r':
    a->list_ranges = true;
    return STATUS_DONE;
  default:
    a->json = true;
    return STATUS_DONE;
  }
}

static int parse_operand(void *input, char *arg)
{
  struct file_args *a = input;
  if (a->path == NULL) {
    a->path = arg;
    return check_file_operand(arg);
  }
  if (!a->leaves_allowed)
    return complain(STATUS_USAGE, "argument '%s': give only one FILE", arg);
  if (a->delegates && a->ranges.count == 1) {
    if (a->to != NULL)
      return complain(STATUS_USAGE, "argument '%s': give only one OUT", arg);
    a->to = arg;
    return check_file_operand(arg);
  }
  if (a->delegates && strcmp(arg, "-") == 0)
    return complain(STATUS_USAGE, "operand '-': give a leaf or one range A..B");
  return add_ranges(&a->ranges, arg);
}

static int complete(void *input)
{
  const struct file_args *a = input;
  if (a->path == NULL)
    return complain(STATUS_USAGE, "FILE is missing");
  if (a->leaves_allowed && a->ranges.count == 0 && !a->ranges.read)
    return complain(STATUS_USAGE, "LEAF is missing");
  if (a->delegates && a->to == NULL)
    return complain(STATUS_USAGE, "OUT is missing");
  if (quiet && (a->json || a->eval))
    return complain(STATUS_USAGE, "--quiet and %s exclude each other",
                    a->json ? "--json" : "--eval");
  return STATUS_DONE;
}

/* Number of leaves the operands name, or limit + 1 if there are more than limit. */
static uint64_t count_leaves(const struct file_args *a, uint64_t limit)
{
  uint64_t count = 0;
  for (size_t i = 0; i < a->ranges.count; i++) {
    uint64_t others = a->ranges.at[i].last - a->ranges.at[i].first; /* excluding the first */
    if (others >= limit - count)
      return limit + 1;
    count += others + 1;
  }
  return count;
}

/* Parse, load, check that the leaves are in the tree, run, clean up. */
static int with_key(const struct command_line *line, int argc, char **argv, struct file_args *a,
                    bool for_writing, int (*run)(struct file_args *, struct keyfile *, pprf_key *))
{
  struct keyfile f;
  pprf_key *key = NULL;
  a->impl = &impl_opt;
  int status = parse_arguments(line, argc, argv, a);
  if (status == STATUS_DONE) {
    status = load(&f, a->path, for_writing, a->impl, &key);
    if (status == STATUS_DONE) {
      a->value_bytes = a->impl->value_bytes(key);
      for (size_t i = 0; status == STATUS_DONE && i < a->ranges.count; i++)
        status = check_range(&a->ranges.at[i], a->impl->depth(key));
      if (status == STATUS_DONE)
        status = run(a, &f, key);
      a->impl->free(key);
      keyfile_close(&f);
    }
  }
  free(a->ranges.at);
  return status;
}

/* ---- the nodes in a key file's bytes (docs/key-file.md): positions, no seeds ---- */

struct node {
  uint64_t start, leaves;
};

static struct node node_at(const uint8_t *bytes, unsigned depth, size_t i)
{
  size_t width = depth / 8 + 1;
  const uint8_t *record =
    bytes + keyfile_header_bytes(bytes) + i * (width + keyfile_seed_bytes(bytes));
  uint64_t id = 0;
  for (size_t b = width; b-- > 0;)
    id = id << 8 | record[b];
  /* 2 * start + 2^height */
  return (struct node){(id & (id - 1)) / 2, id & (0 - id)};
}

/* Whether some node covers the leaf; the nodes are in leaf order. */
static bool is_live(const uint8_t *bytes, unsigned depth, size_t nodes, uint64_t leaf)
{
  size_t lo = 0, hi = nodes; /* those before lo start at or before the leaf */
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (node_at(bytes, depth, mid).start <= leaf)
      lo = mid + 1;
    else
      hi = mid;
  }
  if (lo == 0)
    return false;
  struct node n = node_at(bytes, depth, lo - 1);
  return leaf - n.start < n.leaves;
}

/* ---- eval ---- */

#ifndef EVAL_LINES_MAX /* fuzzing has one */
#define EVAL_LINES_MAX (UINT64_MAX - 1)
#endif

/* Print a leaf; value is NULL if the leaf is punctured or --check was given. */
static void print_leaf(struct output *out, const struct file_args *a, bool first, uint64_t leaf,
                       bool punctured, const uint8_t *value)
{
  if (quiet)
    return;
  if (!a->json) {
    output_text(out, "%" PRIu64 " %s", leaf,
                punctured       ? "punctured\n"
                : value == NULL ? "live\n"
                                : "");
    if (value != NULL) {
      output_value(out, value, a->value_bytes);
      output_text(out, "\n");
    }
    return;
  }
  output_text(out, "%s\n  {\"leaf\": %" PRIu64 ", \"punctured\": %s", first ? "[" : ",", leaf,
              punctured ? "true" : "false");
  if (value != NULL) {
    output_text(out, ", \"value\": \"");
    output_value(out, value, a->value_bytes);
    output_text(out, "\"");
  }
  output_text(out, "}");
}

/* Evaluate one leaf and print it. */
static int eval_leaf(struct output *out, const struct file_args *a, const struct keyfile *f,
                     const pprf_key *key, bool first, uint64_t leaf)
{
  if (a->check) { /* no value is derived */
    bool live = is_live(f->bytes, a->impl->depth(key), a->impl->node_count(key), leaf);
    print_leaf(out, a, first, leaf, !live, NULL);
    return live ? PPRF_OK : PPRF_ERR_PUNCTURED;
  }
  int err = a->impl->eval(key, leaf, out->value);
  if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED)
    print_leaf(out, a, first, leaf, err != PPRF_OK, err == PPRF_OK ? out->value : NULL);
  return err;
}

static int run_eval(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  struct output out = {.used = 0};
  struct progress progress = progress_begin();
  uint64_t done = 0, total = count_leaves(a, EVAL_LINES_MAX);
  int status = STATUS_DONE;
  if (total > EVAL_LINES_MAX)
    return complain(STATUS_USAGE, "%s: more than %" PRIu64 " leaves", a->path, EVAL_LINES_MAX);
  for (size_t i = 0; i < a->ranges.count; i++) {
    const struct range *r = &a->ranges.at[i];
    for (uint64_t leaf = r->first; leaf <= r->last && status != STATUS_FAILED && !out.failed;
         leaf++) {
      int err = eval_leaf(&out, a, f, key, done == 0, leaf);
      char text[RANGE_TEXT];
      if (err == PPRF_ERR_PUNCTURED)
        status = STATUS_PUNCTURED;
      else if (err != PPRF_OK)
        status = library_failed(range_text(r, text), err);
      progress_show(&progress, "pprf eval", ++done, total);
    }
  }
  if (a->json)
    output_text(&out, total == 0 ? "[]\n" : "\n]\n");
  progress_end(&progress);
  int written = output_end(&out);
  return written == STATUS_DONE ? status : written;
}

int command_eval(int argc, char **argv)
{
  static const struct option_line options[] = {
    {"check", 'c', NULL, "Do not print values: `LEAF live' or `LEAF punctured'"},
    {"json", 'j', NULL, "Print a JSON array of objects"},
    {"quiet", 'q', NULL, "Print nothing; see the exit status"},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  static const struct command_line line = {
    .operands = "FILE LEAF|A..B|-...",
    .about = "Print a line `LEAF HEX' for each leaf, or `LEAF punctured'.",
    .more =
      "A leaf is a decimal or 0x-hexadecimal number; A..B means the leaves from A to B; - means "
      "those on standard input, one a line.  The exit status is 3 if a leaf is punctured.  See "
      "pprf-eval(1).",
    .options = options,
    .option = parse_option,
    .operand = parse_operand,
    .end = complete,
  };
  struct file_args a = {.leaves_allowed = true};
  return with_key(&line, argc, argv, &a, false, run_eval);
}

/* ---- punct ---- */

/* punct --eval keeps the values until the new file is in place. */
#ifndef EVAL_LEAVES_MAX /* fuzzing has a smaller one */
#define EVAL_LEAVES_MAX (UINT64_C(1) << 20)
#endif

struct kept {
  uint64_t leaf;
  uint8_t value[PPRF_VALUE_BYTES_MAX];
};

/* Puncture one range.  If kept is not NULL, store the values there. */
static int puncture(const struct pprf_impl *impl, pprf_key *key, const struct range *r,
                    struct kept *kept, size_t *count)
{
  if (kept == NULL)
    return r->single ? impl->punct(key, r->first) : impl->punct_range(key, r->first, r->last);
  size_t before = *count;
  for (uint64_t leaf = r->first; leaf <= r->last; leaf++) {
    int err = impl->eval_punct(key, leaf, kept[*count].value);
    kept[*count].leaf = leaf;
    if (err == PPRF_OK)
      ++*count;
    else if (err != PPRF_ERR_PUNCTURED)
      return err;
  }
  return *count > before ? PPRF_OK : PPRF_ERR_PUNCTURED;
}

/* Write the new key over the file. */
static int save(const struct pprf_impl *impl, const pprf_key *key, struct keyfile *f)
{
  int status;
  size_t len = 0;
  uint8_t *bytes = encode_key(impl, key, &len, &status);
  if (bytes != NULL)
    status = keyfile_replace(f, bytes, len, true);
  secret_free(bytes, len);
  return status;
}

/* Puncture all ranges of the key in memory.  Sets *changed if a range was live, *some if one was
 * already punctured; already records which ones, or messages name them if it is NULL. */
static int puncture_ranges(struct file_args *a, pprf_key *key, struct kept *kept, size_t *count,
                           bool *already, bool *changed, bool *some)
{
  struct progress progress = progress_begin();
  int status = STATUS_DONE;
  for (size_t i = 0; status == STATUS_DONE && i < a->ranges.count; i++) {
    const struct range *r = &a->ranges.at[i];
    char text[RANGE_TEXT];
    int err = puncture(a->impl, key, r, kept, count);
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED) {
      status = library_failed(range_text(r, text), err);
      break;
    }
    if (err == PPRF_ERR_PUNCTURED && already == NULL && !quiet) {
      progress_end(&progress);
      complain(STATUS_PUNCTURED, "%s %s: punctured already", r->single ? "leaf" : "range",
               range_text(r, text));
    }
    if (already != NULL)
      already[i] = err == PPRF_ERR_PUNCTURED;
    *changed |= err == PPRF_OK;
    *some |= err == PPRF_ERR_PUNCTURED;
    progress_show(&progress, "pprf punct", i + 1, a->ranges.count);
  }
  progress_end(&progress);
  return status;
}

/* Print what was punctured, and the values.  The JSON is written by hand because a library would
 * leave copies of values in memory. */
static int report(const struct file_args *a, const bool *already, const struct kept *kept,
                  size_t count)
{
  struct output out = {.used = 0};
  if (a->json) {
    output_text(&out, "{\n  \"operands\": [");
    for (size_t i = 0; i < a->ranges.count && !out.failed; i++)
      output_text(
        &out, "%s\n    {\"first\": %" PRIu64 ", \"last\": %" PRIu64 ", \"punctured_before\": %s}",
        i == 0 ? "" : ",", a->ranges.at[i].first, a->ranges.at[i].last,
        already[i] ? "true" : "false");
    output_text(&out, "\n  ]");
    if (kept != NULL)
      output_text(&out, ",\n  \"values\": [");
  }
  for (size_t i = 0; i < count && !out.failed; i++) {
    if (a->json)
      output_text(&out, "%s\n    {\"leaf\": %" PRIu64 ", \"value\": \"", i == 0 ? "" : ",",
                  kept[i].leaf);
    else
      output_text(&out, "%" PRIu64 " ", kept[i].leaf);
    output_value(&out, kept[i].value, a->value_bytes);
    output_text(&out, a->json ? "\"}" : "\n");
  }
  if (a->json)
    output_text(&out, "%s\n}\n", kept != NULL ? "\n  ]" : "");
  return output_end(&out);
}

/* Change the key in memory, write the file once, and only then print. */
static int puncture_all(struct file_args *a, struct keyfile *f, pprf_key *key, struct kept *kept,
                        bool *already)
{
  bool changed = false, some_punctured = false;
  size_t count = 0;
  int status = puncture_ranges(a, key, kept, &count, already, &changed, &some_punctured);
  if (status == STATUS_DONE && changed)
    status = save(a->impl, key, f);
  if (status == STATUS_DONE && (a->json || kept != NULL))
    status = report(a, already, kept, count);
  return status != STATUS_DONE ? status : some_punctured ? STATUS_PUNCTURED : STATUS_DONE;
}

static int run_punct(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  struct kept *kept = NULL;
  bool *already = NULL;
  size_t bytes = 0;
  int status = STATUS_FAILED;
  if (a->eval) {
    uint64_t leaves = count_leaves(a, EVAL_LEAVES_MAX);
    if (leaves > EVAL_LEAVES_MAX)
      return complain(STATUS_USAGE, "--eval: more than %" PRIu64 " leaves at once",
                      EVAL_LEAVES_MAX);
    bytes = (size_t)(leaves + 1) * sizeof *kept; /* eval_punct zeroes out on error */
    kept = secret_alloc(bytes);
    if (kept == NULL)
      return complain(STATUS_FAILED, "no memory for %" PRIu64 " values", leaves);
  }
  if (a->json)
    already = calloc(a->ranges.count + 1, sizeof *already);
  if (a->json && already == NULL)
    complain(STATUS_FAILED, "no memory for %zu results", a->ranges.count);
  else
    status = puncture_all(a, f, key, kept, already);
  free(already);
  secret_free(kept, bytes);
  return status;
}

int command_punct(int argc, char **argv)
{
  static const struct option_line options[] = {
    {"eval", 'e', NULL, "Print a line `LEAF HEX' for each leaf that this command punctures"},
    {"json", 'j', NULL, "Print a JSON object that lists what was punctured already"},
    {"quiet", 'q', NULL, "Print only errors; see the exit status"},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  static const struct command_line line = {
    .operands = "FILE LEAF|A..B|-...",
    .about = "Puncture leaves: FILE no longer reveals their values.",
    .more =
      "A leaf is a decimal or 0x-hexadecimal number; A..B means the leaves from A to B; - means "
      "those on standard input, one a line.  The exit status is 3 if a leaf, or a whole range, "
      "was punctured already; the rest is punctured nevertheless.  Any other failure, except "
      "one of output, leaves FILE unchanged.  See pprf-punct(1).",
    .options = options,
    .option = parse_option,
    .operand = parse_operand,
    .end = complete,
  };
  struct file_args a = {.leaves_allowed = true};
  return with_key(&line, argc, argv, &a, true, run_punct);
}

/* ---- delegate ---- */

/* Write the key for a range to a file of its own. */
static int run_delegate(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  const struct range *r = &a->ranges.at[0];
  char text[RANGE_TEXT];
  pprf_key *part;
  size_t len = 0;
  int status;
  int err = a->impl->delegate(key, r->first, r->last, &part);
  if (err == PPRF_ERR_PUNCTURED)
    return complain(STATUS_PUNCTURED, "%s %s: punctured already", r->single ? "leaf" : "range",
                    range_text(r, text));
  if (err != PPRF_OK)
    return library_failed(range_text(r, text), err);
  uint8_t *bytes = encode_key(a->impl, part, &len, &status);
  if (bytes != NULL)
    status = keyfile_create(a->to, bytes, len, a->force, f);
  secret_free(bytes, len);
  a->impl->free(part);
  return status;
}

int command_delegate(int argc, char **argv)
{
  static const struct option_line options[] = {
    {"force", 'f', NULL, "Overwrite OUT"},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  static const struct command_line line = {
    .operands = "FILE LEAF|A..B OUT",
    .about = "Write a key to OUT that gives the values that FILE gives from A to B, and no others.",
    .more =
      "A leaf is a decimal or 0x-hexadecimal number; A..B means A to B.  Leaves "
      "punctured in FILE later stay in OUT.  The exit status is 3, and nothing is written, if "
      "all of them are punctured already.  See pprf-delegate(1).",
    .options = options,
    .option = parse_option,
    .operand = parse_operand,
    .end = complete,
  };
  struct file_args a = {.leaves_allowed = true, .delegates = true};
  return with_key(&line, argc, argv, &a, false, run_delegate);
}

/* ---- info ---- */

/* Print the leaves that no node covers, as operands for eval and punct. */
static int print_ranges(const struct file_args *a, const uint8_t *bytes, unsigned depth,
                        size_t nodes)
{
  struct output out = {.used = 0};
  uint64_t next = 0, leaves = UINT64_C(1) << depth; /* next: the first leaf after the last node */
  bool first = true;
  for (size_t i = 0; i <= nodes && !out.failed; i++) {
    struct node n = i < nodes ? node_at(bytes, depth, i) : (struct node){leaves, 0};
    if (next < n.start) {
      if (a->json)
        output_text(&out, "%s\n  [%" PRIu64 ", %" PRIu64 "]", first ? "[" : ",", next, n.start - 1);
      else if (next == n.start - 1)
        output_text(&out, "%" PRIu64 "\n", next);
      else
        output_text(&out, "%" PRIu64 "..%" PRIu64 "\n", next, n.start - 1);
      first = false;
    }
    next = n.start + n.leaves;
  }
  if (a->json)
    output_text(&out, first ? "[]\n" : "\n]\n");
  return output_end(&out);
}

static int run_info(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  unsigned depth = a->impl->depth(key);
  size_t nodes = a->impl->node_count(key), memory = a->impl->memory_bytes(key);
  bool locked = a->impl->memory_locked(key) != 0;
  const char *suite = pprf_suite_name(a->impl->suite(key));
  uint64_t leaves = UINT64_C(1) << depth, punctured = leaves;
  if (a->list_ranges)
    return print_ranges(a, f->bytes, depth, nodes);
  for (size_t i = 0; i < nodes; i++)
    punctured -= node_at(f->bytes, depth, i).leaves;
  /* The strings need no escapes: the library chose them.  jansson's integers end at 2^63, JSON's do
   * not. */
  const char *format = a->json ? "{\n"
                                 "  \"suite\": \"%s\",\n"
                                 "  \"depth\": %u,\n"
                                 "  \"leaves\": %" PRIu64 ",\n"
                                 "  \"punctured\": %" PRIu64 ",\n"
                                 "  \"nodes\": %zu,\n"
                                 "  \"file_bytes\": %zu,\n"
                                 "  \"memory_bytes\": %zu,\n"
                                 "  \"impl\": \"%s\",\n"
                                 "  \"memory_locked\": %s\n"
                                 "}\n"
                               : "suite         %s\n"
                                 "depth         %u\n"
                                 "leaves        %" PRIu64 "\n"
                                 "punctured     %" PRIu64 "\n"
                                 "nodes         %zu\n"
                                 "file bytes    %zu\n"
                                 "memory bytes  %zu (%s, %s)\n";
  const char *lock =
    a->json ? (locked ? "true" : "false") : (locked ? "kept out of swap" : "may be swapped");
  printf(format, suite, depth, leaves, punctured, nodes, f->len, memory, a->impl->name, lock);
  return STATUS_DONE;
}

int command_info(int argc, char **argv)
{
  static const struct option_line options[] = {
    {"ranges", 'r', NULL, "List the punctured leaves instead: LEAF or A..B, one a line"},
    {"json", 'j', NULL, "Print a JSON object; with --ranges, an array"},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  static const struct command_line line = {
    .operands = "FILE",
    .about =
      "Describe a key file: depth, punctured leaves, nodes, bytes in the file and in memory; "
      "no secrets.",
    .more = "See pprf-info(1).",
    .options = options,
    .option = parse_option,
    .operand = parse_operand,
    .end = complete,
  };
  struct file_args a = {.json = false};
  return with_key(&line, argc, argv, &a, false, run_info);
}
