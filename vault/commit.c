/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a commit: changed pages get new rows under fresh keys, bottom up; then the cell is replaced. */
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

/* Write the page of an entry under a fresh key.  The root's key comes from the cell's next value. */
static int write_page(pprf_vault *v, struct entry *e, bool root)
{
  uint8_t plain[PAGE_MAX], sealed[SEALED_MAX];
  struct page *p = e->page;
  int err;
  memset(plain, 0, PAGE_MAX);
  if (p->level == 0)
    leaf_encode(&v->tree, p->nodes.at, p->nodes.count, plain);
  else
    put_le(plain + 1, p->count, 2);
  plain[0] = (uint8_t)p->level;
  for (size_t i = 0; p->level > 0 && i < p->count; i++) {
    struct entry *c = &p->child[i];
    uint8_t *at = plain + PAGE_HEAD + i * ENTRY;
    bool new = c->page != NULL && c->page->written;
    put_le(at, c->first, 8);
    put_le(at + 8, new ? c->page->next_row : c->row, 8);
    memcpy(at + 16, new ? c->page->next_key : c->key, KEY);
  }
  if (root)
    put_le(plain + 3, v->nodes, 8);
  p->next_row =
    v->taken < v->free.count ? v->free.at[v->free.count - ++v->taken] : ++v->store.last_row;
  if (root) {
    v->next.row = p->next_row;
    err = draw(v->next.salt, KEY);
    if (err == PPRF_OK)
      err = derive(p->next_key, v->next_value, CELL, v->next.salt, "pprf vault root");
  } else
    err = draw(p->next_key, KEY);
  if (err == PPRF_OK)
    err = page_gcm(true, &v->tree, p->next_row, p->next_key, plain, sealed);
  if (err == PPRF_OK)
    err = store_put(&v->store, p->next_row, sealed);
  OPENSSL_cleanse(plain, sizeof plain);
  p->dirty = false;
  p->written = true;
  return failed(err, "page");
}

/* Remember that an entry's page is no more. */
static int entry_gone(pprf_vault *v, const struct entry *e)
{
  return e->row == 0 ? PPRF_OK : failed(rows_push(&v->gone, e->row), "commit");
}

static int remove_entry(pprf_vault *v, struct page *p, size_t i)
{
  int err = entry_gone(v, &p->child[i]);
  if (err != PPRF_OK)
    return err;
  struct page *c = p->child[i].page;
  if (c != NULL && page_clean(c))
    lru_remove(v, c);
  page_free(v, c);
  return page_splice(p, i, 1, 0);
}

/* Bytes of node i in a page that begins before it. */
static size_t bytes_of(pprf_vault *v, const struct node *node, size_t i)
{
  return node_bytes(&v->tree, &node[i],
                    i == 0 ? node[0].start
                           : node[i - 1].start + (UINT64_C(1) << node[i - 1].height));
}

static size_t nodes_bytes(pprf_vault *v, const struct nodes *nodes)
{
  size_t bytes = LEAF_HEAD;
  for (size_t i = 0; i < nodes->count; i++)
    bytes += bytes_of(v, nodes->at, i);
  return bytes;
}

static int copy_nodes(pprf_vault *v, struct nodes *to, const struct node *from, size_t count)
{
  int err = failed(nodes_reserve(&v->tree, to, to->count + count), "commit");
  if (err == PPRF_OK && count > 0) {
    memcpy(to->at + to->count, from, count * sizeof *from);
    to->count += count;
  }
  return err;
}

/* Leaf pages i .. i + old - 1 of p become `new` ones with these nodes, which are written. */
static int repack(pprf_vault *v, struct page *p, size_t i, size_t old, size_t new,
                  const struct nodes *nodes)
{
  size_t bytes = nodes_bytes(v, nodes), sum = 0, from = 0, to = 0;
  int err = PPRF_OK;
  for (size_t k = i; k < i + old && err == PPRF_OK; k++) {
    struct page *c = p->child[k].page;
    err = entry_gone(v, &p->child[k]);
    if (page_clean(c))
      lru_remove(v, c);
    page_free(v, c);
    p->child[k].page = NULL;
  }
  if (err == PPRF_OK)
    err = failed(page_splice(p, i, old, new), "commit");
  for (size_t k = 1; k <= new && err == PPRF_OK; k++, from = to) {
    struct entry *e = &p->child[i + k - 1];
    do
      sum += bytes_of(v, nodes->at, to++);
    while (to < nodes->count && (k == new || sum *new < bytes *k));
    *e = (struct entry){.first = nodes->at[from].start, .page = calloc(1, sizeof *e->page)};
    if (e->page == NULL)
      return failed(PPRF_ERR_NOMEM, "commit");
    e->page->parent = p;
    err = copy_nodes(v, &e->page->nodes, nodes->at + from, to - from);
    if (err == PPRF_OK)
      err = write_page(v, e, p == &v->top && p->count == 1);
  }
  return err;
}

/* Add the nodes of leaf page i of p. */
static int gather(pprf_vault *v, struct page *p, size_t i, struct nodes *all)
{
  int err = p->child[i].page == NULL ? page_load(v, p, &p->child[i]) : PPRF_OK;
  const struct nodes *more = err == PPRF_OK ? &p->child[i].page->nodes : NULL;
  return err == PPRF_OK ? copy_nodes(v, all, more->at, more->count) : err;
}

/* Write leaf page i of p, or what it becomes: nothing if it is empty, several if it is too large.  If it is too
 * large or small, the next one takes part, so that pages stay two thirds full.  *step: entries now done. */
static int flush_leaf(pprf_vault *v, struct page *p, size_t i, size_t *step)
{
  const struct nodes *own = &p->child[i].page->nodes;
  struct nodes all = {NULL, 0, 0};
  size_t bytes = nodes_bytes(v, own), total = bytes, old = 1, new = 1;
  bool odd = bytes > PAGE_MAX || bytes < PAGE_MAX / 4;
  int err = PPRF_OK;
  *step = 1;
  if (own->count == 0 && p != &v->top) {
    *step = 0;
    return remove_entry(v, p, i);
  }
  if (odd)
    err = gather(v, p, i, &all);
  if (err == PPRF_OK && odd && i + 1 < p->count) {
    old = 2;
    err = gather(v, p, i + 1, &all);
    total = nodes_bytes(v, &all);
  }
  if (total > PAGE_MAX - PAGE_MAX / 10)
    new = total <= 2 * PAGE_MAX - PAGE_MAX / 10 ? 2 : total * 20 / (17 * PAGE_MAX) + 1;
  if (err == PPRF_OK && (bytes > PAGE_MAX || new < old)) {
    *step = new;
    err = repack(v, p, i, old, new, &all);
  } else if (err == PPRF_OK)
    err = write_page(v, &p->child[i], p == &v->top && p->count == 1);
  nodes_free(&v->tree, &all);
  return err;
}

/* Write inner page i of p, whose children are written, as several if it is too large. */
static int flush_inner(pprf_vault *v, struct page *p, size_t i, size_t *step)
{
  struct page *c = p->child[i].page;
  size_t new = c->count <= FAN ? 1 : c->count * 4 / (3 * FAN) + 1,
         each = (c->count + new - 1) / new;
  new = c->count == 0 ? 1 : (c->count + each - 1) / each;
  *step = new;
  if (c->count == 0 && p != &v->top) {
    *step = 0;
    return remove_entry(v, p, i);
  }
  int err = new > 1 ? page_splice(p, i + 1, 0, new - 1) : PPRF_OK;
  for (size_t k = new;
       k-- > 1 && err == PPRF_OK;) { /* from the last, so that c is cut at its end */
    struct page *part = calloc(1, sizeof *part);
    size_t from = k * each, count = c->count - from;
    if (part == NULL || page_splice(part, 0, 0, count) != PPRF_OK) {
      free(part);
      return failed(PPRF_ERR_NOMEM, "commit");
    }
    memcpy(part->child, c->child + from, count * sizeof *part->child);
    OPENSSL_cleanse(c->child + from, count * sizeof *part->child);
    c->count = from;
    part->level = c->level;
    part->parent = p;
    part->dirty = true;
    for (size_t n = 0; n < count; n++)
      if (part->child[n].page != NULL)
        part->child[n].page->parent = part;
    p->child[i + k].first = part->child[0].first;
    p->child[i + k].page = part;
  }
  for (size_t k = i; k < i + new && err == PPRF_OK; k++)
    err = write_page(v, &p->child[k], p == &v->top && p->count == 1);
  return failed(err, "commit");
}

/* Write the dirty pages below p. */
static int flush_below(pprf_vault *v, struct page *p)
{
  int err = PPRF_OK;
  for (size_t i = 0, step; i < p->count && err == PPRF_OK; i += step) {
    struct page *c = p->child[i].page;
    step = 1;
    if (c == NULL || !c->dirty)
      continue;
    if (c->level == 0)
      err = flush_leaf(v, p, i, &step);
    else {
      err = flush_below(v, c);
      if (err == PPRF_OK)
        err = flush_inner(v, p, i, &step);
    }
  }
  return err;
}

/* Write all dirty pages; while the root has become several, put a page above them.  A leaf page at the top is written as
 * the root if it is alone: so the empty ones go first. */
static int flush(pprf_vault *v)
{
  int err = PPRF_OK;
  for (size_t i = v->top.count; i-- > 0 && v->top.count > 1 && err == PPRF_OK;) {
    const struct page *c = v->top.child[i].page;
    if (c->level == 0 && c->nodes.count == 0)
      err = remove_entry(v, &v->top, i);
  }
  v->next.row = 0;
  if (err == PPRF_OK)
    err = flush_below(v, &v->top);
  while (err == PPRF_OK && v->top.count > 1) {
    struct page *root = calloc(1, sizeof *root), top = v->top;
    size_t step;
    v->top.child = NULL;
    v->top.count = v->top.room = 0;
    if (root == NULL || page_splice(&v->top, 0, 0, 1) != PPRF_OK) {
      v->top = top;
      free(root);
      return failed(PPRF_ERR_NOMEM, "commit");
    }
    root->child = top.child;
    root->count = top.count;
    root->room = top.room;
    root->level = root->child[0].page->level + 1;
    root->parent = &v->top;
    root->dirty = true;
    for (size_t i = 0; i < root->count; i++)
      root->child[i].page->parent = root;
    v->top.child[0].page = root;
    err = flush_inner(v, &v->top, 0, &step);
  }
  if (err == PPRF_OK && v->next.row == 0) /* cannot be */
    err = fail(PPRF_VAULT_ERR_STORE, "commit: no page is the root");
  return err;
}

/* Without memory the row stays unused until the next search. */
static void set_free(pprf_vault *v, uint64_t row)
{
  if (row != 0)
    (void)rows_push(&v->free, row);
}

/* After the cell has confirmed: written pages are where the next commit finds them. */
static void promote(pprf_vault *v, struct page *p)
{
  for (size_t i = 0; i < p->count; i++) {
    struct entry *e = &p->child[i];
    if (e->page == NULL || !e->page->written)
      continue;
    promote(v, e->page);
    set_free(v, e->row);
    e->row = e->page->next_row;
    memcpy(e->key, e->page->next_key, KEY);
    e->page->written = false;
    if (page_clean(e->page))
      lru_push(v, e->page);
  }
}

int vault_breaks(pprf_vault *v, int err)
{
  if (v->broken != PPRF_VAULT_ERR_CLOSED &&
      (err == PPRF_VAULT_ERR_CLOSED || err == PPRF_VAULT_ERR_DAMAGED)) {
    v->broken = err;
    (void)snprintf(v->why, sizeof v->why, "%s", pprf_vault_error());
  }
  return err;
}

static int next_value(pprf_vault *v)
{
  uint64_t newest;
  int err = store_newest(&v->store, v->root.counter + ROOT_AHEAD, &newest);
  if (err != PPRF_OK)
    return err;
  if (v->cell.next != NULL)
    err = v->cell.next(v->cell.arg, v->next_value);
  else {
    err = draw(v->next_value, CELL);
    put_le(v->next_value, (newest > v->root.counter ? newest : v->root.counter) + 1, 8);
  }
  v->next.counter = get_le(v->next_value, 8);
  if (err == PPRF_OK && (v->next.counter <= v->root.counter || v->next.counter > INT64_MAX))
    err = fail(PPRF_VAULT_ERR_CELL, "cell: its next counter, %llu, does not follow %llu",
               (unsigned long long)v->next.counter, (unsigned long long)v->root.counter);
  return err;
}

/* Does the cell still hold this vault's value?  Another vault may have been given the same cell. */
static int check_cell(pprf_vault *v)
{
  uint8_t holds[CELL];
  int err = v->cell.read(v->cell.arg, holds);
  if (err == PPRF_VAULT_CELL_EMPTY && v->root.counter == 0)
    err = PPRF_OK;
  else if (err == PPRF_VAULT_CELL_EMPTY ||
           (err == PPRF_OK && CRYPTO_memcmp(holds, v->value, CELL) != 0))
    err = fail(PPRF_VAULT_ERR_CELL,
               "cell: it no longer holds the value of commit %llu: something else writes it",
               (unsigned long long)v->root.counter);
  OPENSSL_cleanse(holds, sizeof holds);
  return err;
}

/* Find the free rows if there must be many: earlier handles left them.  Not while another root is in the store: a late
 * request may still bring its value into the cell. */
static int search(pprf_vault *v)
{
  struct rows used = {NULL, 0, 0};
  uint64_t expected = v->nodes * (v->tree.seed + 2) / PAGE_MAX * 2 + 8, newest;
  if (v->searched || v->store.last_row < expected)
    return PPRF_OK;
  int err = store_newest(&v->store, v->root.counter + ROOT_AHEAD, &newest);
  if (err != PPRF_OK || newest != v->root.counter)
    return err;
  err = tree_walk(v, 0, false, &used);
  if (err == PPRF_OK) /* the table may have foreign rows beyond */
    v->store.last_row = used.at[used.count - 1];
  uint64_t row = 1, room = 2 * used.count + 16;
  v->free.count = 0;
  for (size_t k = 0; row <= v->store.last_row && err == PPRF_OK && v->free.count < room; row++)
    if (k < used.count && used.at[k] == row)
      k++;
    else
      err = failed(rows_push(&v->free, row), "commit");
  free(used.at);
  v->searched = err == PPRF_OK;
  return err;
}

static int write_commit(pprf_vault *v)
{
  int err = check_cell(v);
  if (err == PPRF_OK)
    err = search(v);
  if (err == PPRF_OK)
    err = next_value(v);
  if (err != PPRF_OK)
    return err;
  v->taken = 0;
  err = store_begin(&v->store);
  if (err != PPRF_OK) {
    store_undo(&v->store);
    return err;
  }
  err = flush(v);
  if (err == PPRF_OK)
    err = store_end(&v->store, &v->root, &v->next);
  if (err != PPRF_OK) { /* pages in memory are as they would have been */
    store_undo(&v->store);
    return err == PPRF_VAULT_ERR_DAMAGED
             ? err
             : fail(PPRF_VAULT_ERR_CLOSED, "%s; open the vault again", pprf_vault_error());
  }
  v->written = v->erased;
  v->pending = true;
  return PPRF_OK;
}

/* Replace the cell by the pending value; after a failure, ask it what it holds. */
static int confirm(pprf_vault *v, bool again)
{
  uint8_t holds[CELL];
  int err = again ? PPRF_VAULT_ERR_UNKNOWN : v->cell.write(v->cell.arg, v->next_value);
  if (err != PPRF_OK && err != PPRF_VAULT_ERR_CLOSED) {
    int asked = v->cell.read(v->cell.arg, holds);
    bool new = asked == PPRF_OK &&CRYPTO_memcmp(holds, v->next_value, CELL) == 0;
    bool old = asked == PPRF_VAULT_CELL_EMPTY
                 ? v->root.counter == 0
                 : asked == PPRF_OK && CRYPTO_memcmp(holds, v->value, CELL) == 0;
    OPENSSL_cleanse(holds, sizeof holds);
    if (new)
      err = PPRF_OK;
    else if (asked == PPRF_OK && !old)
      err = fail(PPRF_VAULT_ERR_CELL, "cell: it holds neither the old value nor the new one");
    else if (again && old) {
      v->rewrites++;
      return confirm(v, false);
    } else
      err = fail(PPRF_VAULT_ERR_UNKNOWN, "commit %llu is not confirmed: %s",
                 (unsigned long long)v->next.counter, pprf_vault_error());
  }
  if (err != PPRF_OK)
    return err;
  memcpy(v->value, v->next_value, CELL);
  v->root = v->next;
  v->pending = false;
  v->final = v->written;
  v->free.count -= v->taken < v->free.count ? v->taken : v->free.count;
  promote(v, &v->top);
  for (; v->gone.count > 0; v->gone.count--)
    set_free(v, v->gone.at[v->gone.count - 1]);
  if (store_settle(&v->store) != PPRF_OK)
    (void)vault_breaks(v,
                       fail(PPRF_VAULT_ERR_CLOSED, "%s; open the vault again", pprf_vault_error()));
  return PPRF_OK;
}

int vault_commit(pprf_vault *v)
{
  int err = v->pending ? confirm(v, true) : PPRF_OK;
  if (err == PPRF_OK && v->broken == 0 && v->top.child[0].page != NULL &&
      v->top.child[0].page->dirty) {
    err = write_commit(v);
    if (err == PPRF_OK)
      err = confirm(v, false);
  }
  tree_trim(v);
  return vault_breaks(v, err);
}
