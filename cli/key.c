/* SPDX-License-Identifier: Apache-2.0 */
/* setup, eval, punct, info: the commands on a key file. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "keyfile.h"

/* ---- what they share ---- */

/* A call of the library that failed; the file, not the library, is to blame for a bad format. */
static int library_failed(const char *what, int err)
{
  return complain(err == PPRF_ERR_FORMAT ? STATUS_FILE : STATUS_FAILED, "%s: %s", what,
                  pprf_strerror(err));
}

/* Read the file under a lock, kept for writing, and make a key of it. */
static int load(struct keyfile *f, const char *path, bool for_writing,
                const struct pprf_impl *impl, pprf_key **key)
{
  int status = keyfile_open(f, path, for_writing);
  if (status != STATUS_DONE)
    return status;
  status = keyfile_read(f);
  if (!for_writing)
    keyfile_unlock(f); /* a reader that prints slowly delays no writer */
  if (status == STATUS_DONE) {
    int err = impl->import_key(key, f->bytes, f->len);
    if (err == PPRF_ERR_FORMAT)
      status = complain(STATUS_FILE, "%s: damaged: not a canonical key file", path);
    else if (err != PPRF_OK)
      status = library_failed(path, err);
  }
  if (status != STATUS_DONE)
    keyfile_close(f);
  return status;
}

/* The key's encoding, from secret_alloc; NULL on failure, with *status set. */
static uint8_t *encode(const struct pprf_impl *impl, const pprf_key *key, size_t *len, int *status)
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

/* Arguments of the commands on an existing file. */
struct file_args {
  const struct pprf_impl *impl;
  const char *path;
  struct range *ranges; /* room for argc */
  size_t count;
  bool ranges_allowed, leaves_allowed, eval, json;
};

static error_t parse_file(int key, char *arg, struct argp_state *state)
{
  struct file_args *a = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->err_stream = NULL;
    return 0;
  case 'i':
    a->impl = impl_by_name(arg, false);
    return a->impl == NULL ? EINVAL : 0;
  case 'e':
    a->eval = true;
    return 0;
  case 'j':
    a->json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (a->path == NULL && *arg != '\0') {
      a->path = arg;
      return 0;
    }
    if (a->path == NULL) {
      complain(STATUS_USAGE, "FILE '': empty");
      return EINVAL;
    }
    if (!a->leaves_allowed) {
      complain(STATUS_USAGE, "argument '%s': one FILE is enough", arg);
      return EINVAL;
    }
    return parse_range(arg, a->ranges_allowed, &a->ranges[a->count++]) == STATUS_DONE ? 0 : EINVAL;
  case ARGP_KEY_END:
    if (a->path == NULL)
      complain(STATUS_USAGE, "FILE is missing");
    else if (a->leaves_allowed && a->count == 0)
      complain(STATUS_USAGE, "LEAF is missing");
    else
      return 0;
    return EINVAL;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* Parse, load, check that the leaves are in the tree, run, clean up. */
static int with_key(const struct argp *argp, int argc, char **argv, struct file_args *a,
                    bool for_writing, int (*run)(struct file_args *, struct keyfile *, pprf_key *))
{
  struct keyfile f;
  pprf_key *key = NULL;
  a->impl = &impl_opt;
  a->ranges = calloc((size_t)argc + 1, sizeof *a->ranges);
  if (a->ranges == NULL)
    return complain(STATUS_FAILED, "%s", strerror(errno));
  int status = parse_arguments(argp, argc, argv, a);
  if (status == STATUS_DONE) {
    status = load(&f, a->path, for_writing, a->impl, &key);
    if (status == STATUS_DONE) {
      for (size_t i = 0; status == STATUS_DONE && i < a->count; i++)
        status = check_range(&a->ranges[i], a->impl->depth(key));
      if (status == STATUS_DONE)
        status = run(a, &f, key);
      a->impl->free(key);
      keyfile_close(&f);
    }
  }
  free(a->ranges);
  return status;
}

/* ---- setup ---- */

struct setup_args {
  const struct pprf_impl *impl;
  const char *path;
  unsigned depth;
  bool force, have_seed;
  uint8_t seed[PPRF_SEED_BYTES];
};

/* One line from standard input, byte by byte: what follows it belongs to another reader.
 * @return NULL, or what is wrong. */
static const char *read_seed(uint8_t seed[PPRF_SEED_BYTES])
{
  char line[2 * PPRF_SEED_BYTES + 1] = {0};
  size_t used = 0;
  bool ended = false;
  ssize_t n = 0;
  while (!ended && used < sizeof line) {
    n = read(STDIN_FILENO, line + used, 1);
    if (n < 0 && errno == EINTR)
      continue;
    ended = n <= 0 || line[used] == '\n';
    used += ended ? 0 : 1;
  }
  bool ok = ended && parse_seed(line, used, seed);
  explicit_bzero(line, sizeof line);
  return n < 0 ? strerror(errno) : ok ? NULL : "not a line of 32 hexadecimal digits";
}

static error_t parse_setup(int key, char *arg, struct argp_state *state)
{
  struct setup_args *a = state->input;
  uint64_t number = 0;
  size_t len;
  switch (key) {
  case ARGP_KEY_INIT:
    state->err_stream = NULL;
    return 0;
  case 'd':
    if (parse_number(arg, PPRF_DEPTH_MAX, &number) && number >= PPRF_DEPTH_MIN) {
      a->depth = (unsigned)number;
      return 0;
    }
    complain(STATUS_USAGE, "--depth '%s': not a number from %d to %d", arg, PPRF_DEPTH_MIN,
             PPRF_DEPTH_MAX);
    return EINVAL;
  case 's':
    a->have_seed = true;
    len = strlen(arg);
    if (strcmp(arg, "-") == 0) {
      const char *wrong = read_seed(a->seed);
      if (wrong != NULL)
        complain(STATUS_USAGE, "--seed -: standard input: %s", wrong);
      return wrong != NULL ? EINVAL : 0;
    }
    bool ok = parse_seed(arg, len, a->seed);
    explicit_bzero(arg, len); /* ps(1) shows arguments */
    if (ok)
      return 0;
    /* the seed itself is not repeated: logs keep messages */
    complain(STATUS_USAGE, "--seed: neither %d hexadecimal digits nor -", 2 * PPRF_SEED_BYTES);
    return EINVAL;
  case 'f':
    a->force = true;
    return 0;
  case 'i':
    a->impl = impl_by_name(arg, false);
    return a->impl == NULL ? EINVAL : 0;
  case ARGP_KEY_ARG:
    if (a->path != NULL) {
      complain(STATUS_USAGE, "argument '%s': one FILE is enough", arg);
      return EINVAL;
    }
    a->path = arg;
    return 0;
  case ARGP_KEY_END:
    if (a->depth != 0 && a->path != NULL)
      return 0;
    complain(STATUS_USAGE, "%s is missing", a->depth == 0 ? "--depth" : "FILE");
    return EINVAL;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int setup(const struct setup_args *a)
{
  pprf_key *key;
  int err = a->impl->setup(&key, a->depth, a->have_seed ? a->seed : NULL), status;
  if (err != PPRF_OK)
    return library_failed("making the key", err);
  size_t len = 0;
  uint8_t *bytes = encode(a->impl, key, &len, &status);
  if (bytes != NULL)
    status = keyfile_create(a->path, bytes, len, a->force);
  secret_free(bytes, len);
  a->impl->free(key);
  return status;
}

int command_setup(int argc, char **argv)
{
  static const struct argp_option options[] = {
    {"depth", 'd', "D", 0, "Levels below the root, 1 to 32: the key has 2^D leaves", 0},
    {"seed", 's', "HEX|-", 0,
     "The root's seed, 32 hexadecimal digits; -: a line of standard input, which other users "
     "cannot see (default random)", 0},
    {"force", 'f', NULL, 0, "Overwrite FILE", 0},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  const struct argp argp = {
    .options = options,
    .parser = parse_setup,
    .args_doc = "FILE",
    .doc = "Make a key with no leaf punctured and write it to FILE, readable by its owner only."
           "\vSee pprf-setup(1).",
  };
  struct setup_args a = {.impl = &impl_opt};
  int status = parse_arguments(&argp, argc, argv, &a);
  if (status == STATUS_DONE)
    status = setup(&a);
  explicit_bzero(&a, sizeof a);
  return status;
}

/* ---- eval ---- */

static int run_eval(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  struct output out = {.used = 0};
  int status = STATUS_DONE;
  (void)f;
  for (size_t i = 0; i < a->count && status != STATUS_FAILED; i++) {
    uint8_t value[PPRF_SEED_BYTES];
    int err = a->impl->eval(key, a->ranges[i].first, value);
    if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED)
      output_leaf(&out, a->ranges[i].first, err == PPRF_OK ? value : NULL);
    if (err == PPRF_ERR_PUNCTURED)
      status = STATUS_PUNCTURED;
    else if (err != PPRF_OK)
      status = library_failed(a->ranges[i].text, err);
    explicit_bzero(value, sizeof value);
  }
  int written = output_end(&out);
  return written == STATUS_DONE ? status : written;
}

int command_eval(int argc, char **argv)
{
  static const struct argp_option options[] = {OPTION_IMPL("ref|opt"), {0}};
  const struct argp argp = {
    .options = options,
    .parser = parse_file,
    .args_doc = "FILE LEAF...",
    .doc = "Print a line `LEAF HEX' for each leaf, or `LEAF punctured'."
           "\vA leaf is a decimal or 0x-hexadecimal number.  The exit status is 3 if a leaf is "
           "punctured.  See pprf-eval(1).",
  };
  struct file_args a = {.leaves_allowed = true};
  return with_key(&argp, argc, argv, &a, false, run_eval);
}

/* ---- punct ---- */

/* punct --eval keeps the values until the new file is in place. */
#ifndef EVAL_LEAVES_MAX /* fuzzing has a smaller one */
#define EVAL_LEAVES_MAX (UINT64_C(1) << 20)
#endif

struct kept {
  uint64_t leaf;
  uint8_t value[PPRF_SEED_BYTES];
};

/* Number of leaves that the arguments name, EVAL_LEAVES_MAX + 1 if more than that. */
static uint64_t count_leaves(const struct file_args *a)
{
  uint64_t count = 0;
  for (size_t i = 0; i < a->count && count <= EVAL_LEAVES_MAX; i++)
    count += a->ranges[i].last - a->ranges[i].first + 1; /* <= 2^32 each, by check_range */
  return count <= EVAL_LEAVES_MAX ? count : EVAL_LEAVES_MAX + 1;
}

/* Puncture one argument.  With kept not NULL, the values go there. */
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
  uint8_t *bytes = encode(impl, key, &len, &status);
  if (bytes != NULL)
    status = keyfile_replace(f, bytes, len, true);
  secret_free(bytes, len);
  return status;
}

/* The key in memory is changed first and written once; only then are values printed. */
static int puncture_all(const struct file_args *a, struct keyfile *f, pprf_key *key,
                        struct kept *kept)
{
  bool changed = false, some_punctured = false;
  size_t count = 0;
  for (size_t i = 0; i < a->count; i++) {
    int err = puncture(a->impl, key, &a->ranges[i], kept, &count);
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      return library_failed(a->ranges[i].text, err);
    if (err == PPRF_ERR_PUNCTURED)
      complain(STATUS_PUNCTURED, "%s %s: punctured already",
               a->ranges[i].single ? "leaf" : "range", a->ranges[i].text);
    changed |= err == PPRF_OK;
    some_punctured |= err == PPRF_ERR_PUNCTURED;
  }
  int status = changed ? save(a->impl, key, f) : STATUS_DONE;
  if (status != STATUS_DONE)
    return status;
  struct output out = {.used = 0};
  for (size_t i = 0; i < count; i++)
    output_leaf(&out, kept[i].leaf, kept[i].value);
  status = output_end(&out);
  return status != STATUS_DONE ? status : some_punctured ? STATUS_PUNCTURED : STATUS_DONE;
}

static int run_punct(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  struct kept *kept = NULL;
  size_t bytes = 0;
  if (a->eval) {
    uint64_t leaves = count_leaves(a);
    if (leaves > EVAL_LEAVES_MAX)
      return complain(STATUS_USAGE, "--eval: more than %" PRIu64 " leaves at once",
                      EVAL_LEAVES_MAX);
    bytes = (size_t)(leaves + 1) * sizeof *kept; /* eval_punct writes before it says punctured */
    kept = secret_alloc(bytes);
    if (kept == NULL)
      return complain(STATUS_FAILED, "no memory for %" PRIu64 " values", leaves);
  }
  int status = puncture_all(a, f, key, kept);
  secret_free(kept, bytes);
  return status;
}

int command_punct(int argc, char **argv)
{
  static const struct argp_option options[] = {
    {"eval", 'e', NULL, 0, "Print a line `LEAF HEX' for each leaf that this punctures", 0},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  const struct argp argp = {
    .options = options,
    .parser = parse_file,
    .args_doc = "FILE LEAF|A..B...",
    .doc = "Puncture leaves: afterwards FILE does not tell their values any more."
           "\vA leaf is a decimal or 0x-hexadecimal number, A..B the leaves from A to B.  The exit "
           "status is 3 if a leaf, or all of a range, was punctured already; the others are "
           "punctured all the same.  On any other failure FILE stays as it is.  See "
           "pprf-punct(1).",
  };
  struct file_args a = {.leaves_allowed = true, .ranges_allowed = true};
  return with_key(&argp, argc, argv, &a, true, run_punct);
}

/* ---- info ---- */

/* Leaves that no node of the encoding covers: 2^depth - sum of 2^height, where 2^height is the
 * lowest set bit of an in-order id (docs/key-file.md). */
static uint64_t punctured_leaves(const uint8_t *bytes, unsigned depth, size_t nodes)
{
  size_t width = depth / 8 + 1;
  uint64_t live = 0;
  for (size_t i = 0; i < nodes; i++) {
    const uint8_t *record = bytes + 16 + i * (width + PPRF_SEED_BYTES);
    uint64_t id = 0;
    for (size_t b = width; b-- > 0;)
      id = id << 8 | record[b];
    live += id & (0 - id);
  }
  return (UINT64_C(1) << depth) - live;
}

static int run_info(struct file_args *a, struct keyfile *f, pprf_key *key)
{
  unsigned depth = a->impl->depth(key);
  size_t nodes = a->impl->node_count(key), memory = a->impl->memory_bytes(key);
  bool locked = a->impl->memory_locked(key) != 0;
  uint64_t leaves = UINT64_C(1) << depth, punctured = punctured_leaves(f->bytes, depth, nodes);
  if (!a->json) {
    printf("depth         %u\n"
           "leaves        %" PRIu64 "\n"
           "punctured     %" PRIu64 "\n"
           "nodes         %zu\n"
           "file bytes    %zu\n"
           "memory bytes  %zu (%s, %s)\n",
           depth, leaves, punctured, nodes, f->len, memory, a->impl->name,
           locked ? "kept out of swap" : "may be swapped");
    return STATUS_DONE;
  }
  json_t *o = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "depth", (int)depth, "leaves",
                        (json_int_t)leaves, "punctured", (json_int_t)punctured, "nodes",
                        (json_int_t)nodes, "file_bytes", (json_int_t)f->len, "memory_bytes",
                        (json_int_t)memory, "memory_locked", (int)locked, "impl", a->impl->name);
  int status = o != NULL && json_dumpf(o, stdout, JSON_INDENT(2)) == 0 && putchar('\n') != EOF
                 ? STATUS_DONE
                 : complain(STATUS_FAILED, "cannot write JSON");
  json_decref(o);
  return status;
}

int command_info(int argc, char **argv)
{
  static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print a JSON object", 0},
    OPTION_IMPL("ref|opt"),
    {0},
  };
  const struct argp argp = {
    .options = options,
    .parser = parse_file,
    .args_doc = "FILE",
    .doc = "Describe a key file: depth, punctured leaves, nodes, bytes in the file and in memory; "
           "no secrets."
           "\vSee pprf-info(1).",
  };
  struct file_args a = {.json = false};
  return with_key(&argp, argc, argv, &a, false, run_info);
}
