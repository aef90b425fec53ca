/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of pprf_vault.h, except cells. */
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tree.h"

enum { CACHE = 8 << 20 };

static int enter(pprf_vault *v, bool write)
{
  if (v == NULL)
    return fail(PPRF_ERR_NULL, "the vault is NULL");
  if (v->pid != getpid())
    return fail(PPRF_ERR_FORKED, "the vault belongs to the process that opened it");
  (void)pthread_mutex_lock(&v->mutex);
  if (v->broken == 0 || (!write && v->broken != PPRF_VAULT_ERR_CLOSED))
    return PPRF_OK;
  (void)pthread_mutex_unlock(&v->mutex);
  return fail(v->broken, "%s", v->why);
}

static int leave(pprf_vault *v, int err)
{
  tree_trim(v);
  (void)vault_breaks(v, err);
  (void)pthread_mutex_unlock(&v->mutex);
  return err;
}

static int in_tree(const pprf_vault *v, uint64_t first, uint64_t last)
{
  unsigned depth = v->tree.depth;
  if (first > last)
    return fail(PPRF_ERR_RANGE, "%llu..%llu: the first leaf is beyond the last",
                (unsigned long long)first, (unsigned long long)last);
  return last >> depth == 0 ? PPRF_OK
                            : fail(PPRF_ERR_RANGE, "leaf %llu is not in a tree of depth %u",
                                   (unsigned long long)last, depth);
}

static int eval(pprf_vault *v, uint64_t leaf, uint8_t *out)
{
  struct page *p = NULL;
  uint64_t until;
  int err = in_tree(v, leaf, leaf);
  if (err == PPRF_OK)
    err = tree_find(v, leaf, &p, &until);
  if (err == PPRF_OK) {
    err = p == NULL ? PPRF_ERR_PUNCTURED : nodes_eval(&v->tree, &p->nodes, leaf, out);
    if (err != PPRF_OK)
      (void)fail(err, "leaf %llu: %s", (unsigned long long)leaf,
                 err == PPRF_ERR_PUNCTURED ? "it is erased" : pprf_strerror(err));
  }
  return err;
}

int pprf_vault_eval(pprf_vault *v, uint64_t leaf, uint8_t *out)
{
  if (out == NULL)
    return fail(PPRF_ERR_NULL, "out is NULL");
  memset(out, 0, v != NULL ? v->tree.seed : PPRF_SEED_BYTES);
  int err = enter(v, false);
  return err != PPRF_OK ? err : leave(v, eval(v, leaf, out));
}

static time_t now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec;
}

static int erase(pprf_vault *v, uint64_t first, uint64_t last)
{
  struct page *p = NULL;
  int result = PPRF_ERR_PUNCTURED, err = in_tree(v, first, last);
  for (uint64_t from = first, until; err == PPRF_OK; from = until + 1) {
    err = tree_find(v, from, &p, &until);
    until = until < last ? until : last;
    if (err == PPRF_OK && p != NULL) {
      size_t before = p->nodes.count;
      err = nodes_erase(&v->tree, &p->nodes, from, until);
      if (err == PPRF_OK) {
        page_dirty(v, p);
        v->nodes = v->nodes + p->nodes.count - before;
        page_cut(v, p);
        result = PPRF_OK;
      }
      err = err == PPRF_ERR_PUNCTURED ? PPRF_OK : failed(err, "erase");
      tree_trim(v);
    }
    if (until == last)
      break;
  }
  if (err == PPRF_OK && result != PPRF_OK)
    return fail(result, "leaf %llu: it was erased before", (unsigned long long)first);
  return err;
}

int pprf_vault_erase_range(pprf_vault *v, uint64_t first, uint64_t last, uint64_t *number)
{
  if (number != NULL)
    *number = 0;
  int err = enter(v, true);
  if (err != PPRF_OK)
    return err;
  err = erase(v, first, last);
  if (err != PPRF_OK)
    return leave(v, err);
  if (v->erased == v->written)
    v->since = now();
  v->erased++;
  if (number != NULL)
    *number = v->erased;
  if ((v->options.count > 0 && v->erased - v->written >= v->options.count) ||
      (v->options.seconds > 0 && now() - v->since >= (time_t)v->options.seconds))
    err = vault_commit(v);
  return leave(v, err);
}

int pprf_vault_erase(pprf_vault *v, uint64_t leaf, uint64_t *number)
{
  return pprf_vault_erase_range(v, leaf, leaf, number);
}

int pprf_vault_commit(pprf_vault *v, uint64_t *final)
{
  int err = enter(v, true), result = err != PPRF_OK ? err : vault_commit(v);
  if (final != NULL)
    *final = v != NULL ? v->final : 0;
  return err != PPRF_OK ? err : leave(v, result);
}

int pprf_vault_verify(pprf_vault *v, uint64_t *pages)
{
  if (pages != NULL)
    *pages = 0;
  int err = enter(v, false);
  if (err != PPRF_OK)
    return err;
  struct rows used = {NULL, 0, 0};
  uint64_t newest;
  for (int i = v->store.schemas; i-- > 0 && err == PPRF_OK;) { /* the store last: its rows stay */
    err = tree_walk(v, i, true, &used);
    if (pages != NULL)
      *pages += used.count;
  }
  if (err == PPRF_OK &&
      (err = store_newest(&v->store, v->root.counter + ROOT_AHEAD, &newest)) == PPRF_OK &&
      newest == v->root.counter) /* no other root needs pages */
    err = store_shrink(&v->store, &used);
  free(used.at);
  return leave(v, err);
}

int pprf_vault_backup(pprf_vault *v, const char *path)
{
  if (path == NULL)
    return fail(PPRF_ERR_NULL, "backup: the path is NULL");
  int err = enter(v, false);
  return err == PPRF_OK ? leave(v, store_backup(&v->store, path)) : err;
}

int pprf_vault_info(pprf_vault *v, struct pprf_vault_info *info)
{
  if (info == NULL || info->size != sizeof *info)
    return info == NULL ? fail(PPRF_ERR_NULL, "info is NULL") : fail(PPRF_ERR_RANGE, "info: size");
  memset(info, 0, sizeof *info);
  info->size = sizeof *info;
  int err = enter(v, false);
  if (err != PPRF_OK)
    return err;
  info->depth = v->tree.depth;
  info->suite = v->tree.suite;
  info->value_bytes = v->tree.seed;
  info->nodes = v->nodes;
  info->erased = v->erased;
  info->final = v->final;
  info->commit = v->root.counter;
  info->rewrites = v->rewrites;
  info->disk_bytes = 4096 * (store_number(&v->store, "PRAGMA page_count") -
                             store_number(&v->store, "PRAGMA freelist_count"));
  memcpy(info->id, v->tree.head + ID_AT, 16);
  info->warning = v->cell.warning;
  info->notice = v->notice[0] != '\0' ? v->notice : NULL;
  return leave(v, PPRF_OK);
}

/* ---- records */

static int record(pprf_vault *v, bool seal, uint64_t id, const uint8_t *in, size_t len,
                  uint8_t *out)
{
  static const uint8_t no_salt[KEY];
  uint8_t leaf[PPRF_VALUE_BYTES_MAX], key[KEY], with[8];
  int err = pprf_vault_eval(v, id, leaf);
  if (err == PPRF_OK)
    err = derive(key, leaf, v->tree.seed, no_salt, "pprf vault record");
  put_le(with, id, 8);
  if (err == PPRF_OK && seal && (err = draw(out, 12)) == PPRF_OK)
    err = gcm(true, key, out, with, sizeof with, in, len, out + 12);
  else if (err == PPRF_OK &&
           (err = gcm(false, key, in, with, sizeof with, in + 12, len - PPRF_VAULT_RECORD_BYTES,
                      out)) == PPRF_VAULT_ERR_DAMAGED)
    err =
      fail(PPRF_VAULT_ERR_RECORD, "record %llu: it was changed, or sealed under another key or id",
           (unsigned long long)id);
  OPENSSL_cleanse(leaf, sizeof leaf);
  OPENSSL_cleanse(key, sizeof key);
  return err == PPRF_ERR_CRYPTO ? failed(err, "record") : err;
}

int pprf_vault_seal(pprf_vault *v, uint64_t id, const uint8_t *text, size_t len, uint8_t *out)
{
  if (out == NULL || (text == NULL && len > 0))
    return fail(PPRF_ERR_NULL, "record: a pointer is NULL");
  if (len > (UINT32_C(1) << 31) - 64)
    return fail(PPRF_ERR_RANGE, "record: %zu bytes are too many", len);
  int err = record(v, true, id, text, len, out);
  if (err != PPRF_OK)
    memset(out, 0, len + PPRF_VAULT_RECORD_BYTES);
  return err;
}

int pprf_vault_unseal(pprf_vault *v, uint64_t id, const uint8_t *sealed, size_t len, uint8_t *out)
{
  if (sealed == NULL || (out == NULL && len > PPRF_VAULT_RECORD_BYTES))
    return fail(PPRF_ERR_NULL, "record: a pointer is NULL");
  if (len < PPRF_VAULT_RECORD_BYTES || len > (UINT32_C(1) << 31))
    return fail(PPRF_VAULT_ERR_RECORD, "record %llu: it has %zu bytes", (unsigned long long)id,
                len);
  int err = record(v, false, id, sealed, len, out);
  if (err != PPRF_OK && out != NULL)
    memset(out, 0, len - PPRF_VAULT_RECORD_BYTES);
  return err;
}

/* ---- create, open, close */

/* A child of fork frees its copy, unless another thread was in a call then, which it may have stopped anywhere. */
static void release(pprf_vault *v)
{
  bool ours = v->pid == getpid();
  if (!ours && pthread_mutex_trylock(&v->mutex) != 0) {
    OPENSSL_cleanse(v->value, sizeof v->value);
    OPENSSL_cleanse(v->next_value, sizeof v->next_value);
    return;
  }
  for (size_t i = 0; i < v->top.count; i++)
    page_free(v, v->top.child[i].page);
  wipe_free(v->top.child, v->top.room * sizeof *v->top.child);
  arena_end(&v->arena);
  if (ours) { /* a child must not touch its parent's files */
    store_close(&v->store);
    if (v->cell.close != NULL)
      v->cell.close(v->cell.arg);
  }
  free(v->gone.at);
  free(v->free.at);
  (void)pthread_mutex_destroy(&v->mutex);
  wipe_free(v, sizeof *v);
}

void pprf_vault_close(pprf_vault *v)
{
  if (v != NULL)
    release(v);
}

/* A handle that owns the cell, with the root's entry to be filled in. */
static int begin(pprf_vault **made, const char *path, const struct pprf_vault_cell *cell,
                 const struct pprf_vault_options *options)
{
  *made = NULL;
  if (cell == NULL || cell->size != sizeof *cell)
    return fail(cell == NULL ? PPRF_ERR_NULL : PPRF_ERR_RANGE, "vault: no cell of this version");
  pprf_vault *v = calloc(1, sizeof *v);
  bool good = options == NULL || options->size == sizeof *options;
  if (v == NULL || path == NULL || !good || page_splice(&v->top, 0, 0, 1) != PPRF_OK) {
    free(v);
    if (cell->close != NULL)
      cell->close(cell->arg);
    return fail(path == NULL ? PPRF_ERR_NULL
                : good       ? PPRF_ERR_NOMEM
                             : PPRF_ERR_RANGE,
                "vault: no path, no memory, or options of no version");
  }
  (void)pthread_mutex_init(&v->mutex, NULL); /* does not fail on Linux */
  v->pid = getpid();
  v->tree.arena = &v->arena;
  v->store.lock[0].fd = v->store.lock[1].fd = -1;
  v->cell = *cell;
  if (options != NULL)
    v->options = *options;
  if (v->options.cache_bytes == 0)
    v->options.cache_bytes = CACHE;
  *made = v;
  return PPRF_OK;
}

static void make_head(struct tree *t, const pprf_key *key, const uint8_t *salt,
                      const uint8_t id[16])
{
  memcpy(t->head, PAGE_MAGIC, 8);
  t->head[8] = (uint8_t)pprf_depth(key);
  t->head[9] = (uint8_t)pprf_suite(key);
  if (salt != NULL)
    memcpy(t->head + SALT_AT, salt, 16);
  memcpy(t->head + ID_AT, id, 16);
  (void)tree_of_head(t);
}

/* The first page: the key's one node. */
static int first_page(pprf_vault *v, const struct pprf_options *options)
{
  pprf_key *key = NULL;
  uint8_t file[128], id[16]; /* docs/key-file.md: one node takes 108 bytes at most */
  size_t len = sizeof file;
  struct page *p = calloc(1, sizeof *p);
  struct pprf_options plain = *options;
  plain.flags = plain.store = 0;
  int err = p == NULL ? PPRF_ERR_NOMEM : pprf_setup_with(&key, &plain);
  if (err == PPRF_OK)
    err = pprf_export(key, file, &len);
  if (err == PPRF_OK)
    err = draw(id, sizeof id);
  if (err == PPRF_OK)
    make_head(&v->tree, key, file[7] == 2 ? file + 20 : NULL, id);
  if (err == PPRF_OK)
    err = nodes_reserve(&v->tree, &p->nodes, 1);
  if (err == PPRF_OK)
    err = nodes_of_key(p->nodes.at, &p->nodes.count, &v->tree, key);
  pprf_free(key);
  OPENSSL_cleanse(file, sizeof file);
  if (err != PPRF_OK) {
    page_free(v, p);
    return failed(err, "create");
  }
  p->parent = &v->top;
  p->dirty = true;
  v->top.child[0].page = p;
  v->nodes = 1;
  return PPRF_OK;
}

/* A mirror that is missing, behind or damaged is made anew, but only from a store that is whole: the mirror may have
 * what the store has lost. */
static int open_mirror(pprf_vault *v, const char *path)
{
  const char *directory = v->options.mirror;
  enum mirror is = MISSING;
  if (directory == NULL || *directory == '\0') {
    bool kept = v->root.counter > 0 && store_mirrored(&v->store);
    if (kept && directory != NULL)
      return store_set_mirrored(&v->store, false);
    if (kept)
      (void)snprintf(v->notice, sizeof v->notice,
                     "the vault has been kept with a mirror, which is not written now: it stays "
                     "behind until the vault is opened with it");
    return PPRF_OK;
  }
  int err = store_mirror(&v->store, path, directory, &v->tree, &is);
  if (err != PPRF_OK)
    return err;
  struct rows rows = {NULL, 0, 0};
  int its = is == CURRENT && v->root.counter > 0 ? tree_walk(v, 1, true, &rows) : PPRF_OK;
  if (is != CURRENT || its != PPRF_OK) {
    (void)snprintf(v->notice, sizeof v->notice, "mirror %s: made anew from the store: %s",
                   directory,
                   is == MISSING  ? "there was none"
                   : is == BEHIND ? "it was not of the same commit"
                                  : pprf_vault_error());
    if (v->root.counter > 0 && (err = tree_walk(v, 0, true, &rows)) != PPRF_OK)
      (void)fail(err, "mirror %s: not made anew, as the store is not whole: %s", directory,
                 pprf_vault_error());
    else
      err = store_copy(&v->store);
  }
  free(rows.at);
  return err == PPRF_OK ? store_join(&v->store) : err;
}

int pprf_vault_create(pprf_vault **vault, const char *path, const struct pprf_vault_cell *cell,
                      const struct pprf_options *key, const struct pprf_vault_options *options)
{
  pprf_vault *v = NULL;
  bool made = false;
  if (vault == NULL)
    return fail(PPRF_ERR_NULL, "vault: the pointer to it is NULL");
  *vault = NULL;
  int err = begin(&v, path, cell, options);
  if (err != PPRF_OK)
    return err;
  if (key == NULL || key->size != sizeof *key)
    err = fail(key == NULL ? PPRF_ERR_NULL : PPRF_ERR_RANGE,
               "vault: no options of a key of this version");
  else if ((err = v->cell.read(v->cell.arg, v->value)) == PPRF_OK)
    err = fail(PPRF_VAULT_ERR_EXISTS, "cell: it holds a value; if no vault needs that, remove it");
  else if (err == PPRF_VAULT_CELL_EMPTY)
    err = first_page(v, key);
  if (err == PPRF_OK)
    err = store_open(&v->store, path, true, &v->tree);
  made = v->store.made;
  if (err == PPRF_OK)
    err = open_mirror(v, path);
  if (err == PPRF_OK)
    err = vault_commit(v);
  if (err == PPRF_OK)
    *vault = v;
  else {
    made = made && v->root.counter == 0 && !v->pending && v->broken == 0;
    release(v);
    if (made)
      (void)unlink(path); /* no cell belongs to it */
  }
  return err;
}

/* Find the root that the cell belongs to. */
static int open_root(pprf_vault *v)
{
  struct entry *e = v->top.child;
  int err = v->cell.read(v->cell.arg, v->value);
  if (err != PPRF_OK)
    return err == PPRF_VAULT_CELL_EMPTY
             ? fail(PPRF_VAULT_ERR_CELL, "cell: it has never held a value")
             : err;
  uint64_t counter = get_le(v->value, 8), newest;
  err = store_newest(&v->store, INT64_MAX, &newest);
  if (err == PPRF_OK)
    err = store_root(&v->store, counter, &v->root);
  if (err == PPRF_VAULT_ERR_ROLLBACK)
    return fail(err, "the cell is of commit %llu, the store's last one is %llu: %s",
                (unsigned long long)counter, (unsigned long long)newest,
                newest < counter
                  ? "the store was restored from a copy, or its newest commits are in a file that "
                    "ends in -wal and is not beside it"
                  : "the cell was restored from a copy");
  if (err == PPRF_OK)
    err = tree_root(v, e);
  if (err == PPRF_OK)
    err = page_load(v, &v->top, e);
  return err == PPRF_VAULT_ERR_DAMAGED
           ? fail(
               err,
               "the root of commit %llu does not open under the cell: foreign cell or damage: %s",
               (unsigned long long)counter, pprf_vault_error())
           : err;
}

int pprf_vault_open(pprf_vault **vault, const char *path, const struct pprf_vault_cell *cell,
                    const struct pprf_vault_options *options)
{
  pprf_vault *v = NULL;
  if (vault == NULL)
    return fail(PPRF_ERR_NULL, "vault: the pointer to it is NULL");
  *vault = NULL;
  int err = begin(&v, path, cell, options);
  if (err != PPRF_OK)
    return err;
  err = store_open(&v->store, path, false, &v->tree);
  if (err == PPRF_OK)
    err = open_root(v);
  if (err == PPRF_OK)
    err = open_mirror(v, path);
  if (err != PPRF_OK)
    release(v);
  else
    *vault = v;
  return err;
}
