/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

void lru_remove(pprf_vault *v, struct page *p)
{
  *(p->newer != NULL ? &p->newer->older : &v->newest) = p->older;
  *(p->older != NULL ? &p->older->newer : &v->oldest) = p->newer;
  p->newer = p->older = NULL;
  v->cached -= p->bytes;
}

void lru_push(pprf_vault *v, struct page *p)
{
  p->bytes = sizeof *p + p->room * sizeof *p->child + p->nodes.room * sizeof *p->nodes.at;
  p->older = v->newest;
  p->newer = NULL;
  *(v->newest != NULL ? &v->newest->newer : &v->oldest) = p;
  v->newest = p;
  v->cached += p->bytes;
}

bool page_clean(const struct page *p)
{
  return !p->dirty && !p->written;
}

void page_free(const pprf_vault *v, struct page *p)
{
  if (p == NULL)
    return;
  nodes_free(&v->tree, &p->nodes);
  for (size_t i = 0; i < p->count; i++)
    page_free(v, p->child[i].page);
  wipe_free(p->child, p->room * sizeof *p->child);
  wipe_free(p, sizeof *p);
}

void page_dirty(pprf_vault *v, struct page *p)
{
  for (; p != &v->top; p = p->parent) {
    if (page_clean(p))
      lru_remove(v, p);
    p->dirty = true;
  }
}

/* A page was used, and so were those above it. */
static void touch(pprf_vault *v, struct page *p)
{
  for (; p != &v->top; p = p->parent)
    if (page_clean(p)) {
      lru_remove(v, p);
      lru_push(v, p);
    }
}

/* Drop clean pages beyond the limit: parents are newer than their children, so these go first. */
void tree_trim(pprf_vault *v)
{
  while (v->cached > v->options.cache_bytes && v->oldest != NULL) {
    struct page *p = v->oldest;
    struct entry *e = p->parent->child;
    while (e->page != p)
      e++;
    e->page = NULL;
    lru_remove(v, p);
    page_free(v, p);
  }
}

int page_splice(struct page *p, size_t i, size_t old, size_t new)
{
  size_t count = p->count - old + new;
  if (old == new)
    return PPRF_OK;
  if (count > p->room) {
    size_t room = count + count / 2 + 4;
    struct entry *child = calloc(room, sizeof *child);
    if (child == NULL)
      return PPRF_ERR_NOMEM;
    if (p->count > 0)
      memcpy(child, p->child, p->count * sizeof *child);
    wipe_free(p->child, p->room * sizeof *child);
    p->child = child;
    p->room = room;
  }
  memmove(p->child + i + new, p->child + i + old, (p->count - i - old) * sizeof *p->child);
  memset(p->child + i, 0, new * sizeof *p->child);
  if (count < p->count) /* copies with their keys */
    OPENSSL_cleanse(p->child + count, (p->count - count) * sizeof *p->child);
  p->count = count;
  return PPRF_OK;
}

static int parse_inner(struct page *p, const uint8_t plain[PAGE_MAX])
{
  size_t count = get_le(plain + 1, 2);
  if (count > FAN)
    return PPRF_VAULT_ERR_DAMAGED;
  int err = page_splice(p, 0, 0, count);
  for (size_t i = 0; i < count && err == PPRF_OK; i++) {
    const uint8_t *at = plain + PAGE_HEAD + i * ENTRY;
    p->child[i].first = get_le(at, 8);
    p->child[i].row = get_le(at + 8, 8);
    memcpy(p->child[i].key, at + 16, KEY);
    if (i > 0 && p->child[i].first <= p->child[i - 1].first)
      err = PPRF_VAULT_ERR_DAMAGED;
  }
  return err;
}

int page_read(pprf_vault *v, int schema, const struct entry *e, unsigned above, struct page *p,
              uint64_t *total)
{
  uint8_t sealed[SEALED_MAX], plain[PAGE_MAX];
  int err = store_get(&v->store, schema, e->row, sealed);
  if (err == PPRF_OK)
    err = page_gcm(false, &v->tree, e->row, e->key, sealed, plain);
  if (err != PPRF_OK)
    return err;
  p->level = plain[0];
  *total = get_le(plain + 3, 8);
  if (above > 0 && p->level + 1 != above)
    err = PPRF_VAULT_ERR_DAMAGED;
  else if (p->level > 0)
    err = parse_inner(p, plain);
  else
    err = leaf_decode(&v->tree, plain, &p->nodes);
  OPENSSL_cleanse(plain, sizeof plain);
  return err == PPRF_VAULT_ERR_DAMAGED
           ? fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: its content is no page of this level",
                  (unsigned long long)e->row)
           : failed(err, "page");
}

int tree_root(const pprf_vault *v, struct entry *root)
{
  *root = (struct entry){.row = v->root.row};
  return derive(root->key, v->value, CELL, v->root.salt, "pprf vault root");
}

/* What a walk over the pages on disk has seen. */
struct walk {
  int schema;
  bool leaves; /* read leaf pages too */
  struct rows *rows;
  uint64_t nodes;
  struct node last; /* without its seed */
};

/* The nodes of pages one after the other are a cover too. */
static bool walk_leaf(const struct nodes *nodes, struct walk *w)
{
  if (nodes->count == 0)
    return true;
  bool good = w->nodes == 0 || node_follows(&w->last, nodes->at);
  const struct node *last = &nodes->at[nodes->count - 1];
  w->last = (struct node){.start = last->start, .height = last->height};
  w->nodes += nodes->count;
  return good;
}

static int walk_page(pprf_vault *v, const struct entry *e, unsigned above, struct walk *w)
{
  struct page p = {.level = 0};
  uint64_t total = 0;
  int err = failed(rows_push(w->rows, e->row), "page");
  if (err == PPRF_OK && (w->leaves || above != 1))
    err = page_read(v, w->schema, e, above, &p, &total);
  if (err == PPRF_OK && !walk_leaf(&p.nodes, w))
    err = fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: its nodes and those before are no cover",
               (unsigned long long)e->row);
  nodes_free(&v->tree, &p.nodes);
  for (size_t i = 0; i < p.count && err == PPRF_OK; i++)
    err = walk_page(v, &p.child[i], p.level, w);
  wipe_free(p.child, p.room * sizeof *p.child);
  if (err == PPRF_OK && above == 0 && w->leaves && w->nodes != total)
    err = fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: the root says %llu nodes, the leaves have %llu",
               (unsigned long long)e->row, (unsigned long long)total, (unsigned long long)w->nodes);
  return err;
}

static int lower(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

int tree_walk(pprf_vault *v, int schema, bool leaves, struct rows *rows)
{
  struct walk w = {.schema = schema, .leaves = leaves, .rows = rows};
  struct entry root;
  int err = tree_root(v, &root);
  rows->count = 0;
  if (err == PPRF_OK)
    err = walk_page(v, &root, 0, &w);
  OPENSSL_cleanse(&root, sizeof root);
  if (err == PPRF_OK)
    qsort(rows->at, rows->count, sizeof *rows->at, lower);
  return err;
}

int page_load(pprf_vault *v, struct page *parent, struct entry *e)
{
  struct page *p = calloc(1, sizeof *p);
  uint64_t total;
  if (p == NULL)
    return failed(PPRF_ERR_NOMEM, "page");
  int err = page_read(v, 0, e, parent->level, p, &total);
  if (err != PPRF_OK) {
    page_free(v, p);
    return err;
  }
  p->parent = parent;
  if (parent == &v->top)
    v->nodes = total;
  e->page = p;
  lru_push(v, p);
  return PPRF_OK;
}

/* The last entry that begins at or before a leaf, or else the first one. */
static size_t entry_of(const struct page *p, uint64_t leaf)
{
  size_t low = 0, high = p->count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    *(p->child[middle].first <= leaf ? &low : &high) = middle;
  }
  return low;
}

int tree_find(pprf_vault *v, uint64_t leaf, struct page **found, uint64_t *until)
{
  struct page *p = &v->top;
  int err = PPRF_OK;
  *until = UINT64_MAX;
  while (p->count > 0) { /* a leaf page has no entries */
    size_t i = entry_of(p, leaf);
    if (p->child[i].page == NULL && (err = page_load(v, p, &p->child[i])) != PPRF_OK)
      break;
    if (i + 1 < p->count)
      *until = p->child[i + 1].first - 1;
    p = p->child[i].page;
  }
  touch(v, p); /* after an error too: pages just loaded are newer than those above them */
  *found = err == PPRF_OK && p->level == 0 ? p : NULL;
  return err;
}

void page_cut(pprf_vault *v, struct page *p)
{
  enum { MOST = 1024 };
  struct page *above = p->parent;
  size_t i = 0, half = p->nodes.count / 2, rest = p->nodes.count - half;
  struct page *more = p->nodes.count > MOST ? calloc(1, sizeof *more) : NULL;
  if (more == NULL)
    return;
  while (above->child[i].page != p)
    i++;
  if (nodes_reserve(&v->tree, &more->nodes, rest) != PPRF_OK ||
      page_splice(above, i + 1, 0, 1) != PPRF_OK) {
    page_free(v, more);
    return;
  }
  memcpy(more->nodes.at, p->nodes.at + half, rest * sizeof *more->nodes.at);
  OPENSSL_cleanse(p->nodes.at + half, rest * sizeof *p->nodes.at);
  more->nodes.count = rest;
  p->nodes.count = half;
  more->parent = above;
  more->dirty = true;
  above->child[i + 1].first = more->nodes.at->start;
  above->child[i + 1].page = more;
}
