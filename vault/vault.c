/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of pages in memory, commits, and the functions of pprf_vault.h. */
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store.h"

enum { CELL = PPRF_VAULT_CELL_BYTES, CACHE = 8 << 20 };

/* A page in memory: a leaf is a key of pprf.h with the page's nodes. */
struct page {
  struct page *parent, *newer, *older; /* among the pages that may be dropped */
  pprf_key *key;                       /* of a leaf */
  struct entry *child;                 /* of an inner page: count of room */
  size_t count, room, bytes;           /* bytes: as counted for the cache */
  unsigned level;                      /* 0: a leaf */
  bool dirty;                          /* changed since it was written */
  bool written;                        /* as next_row, in a commit that the cell has not confirmed */
  uint64_t stamp, next_row;            /* stamp: the attempt to commit that wrote it */
  uint8_t next_key[KEY];
};

/* A page as its parent knows it; row 0: in no confirmed commit. */
struct entry {
  uint64_t first, row;
  uint8_t key[KEY];
  struct page *page; /* NULL: on disk only */
};

struct pprf_vault {
  pthread_mutex_t mutex;
  pid_t pid;
  struct pprf_vault_cell cell;
  struct pprf_vault_options options;
  struct store store;
  struct tree tree;
  struct page top;              /* in memory only: its one entry is the root */
  struct page *newest, *oldest; /* clean pages, which may be dropped */
  size_t cached;
  uint64_t nodes, erased, written, final, rewrites, stamp;
  time_t since; /* when the oldest erasure without a commit was made */
  struct root root, next;
  uint8_t value[CELL], next_value[CELL]; /* of the cell */
  bool pending;                          /* `next` is in the store and not confirmed */
  uint64_t *gone;                        /* rows of pages that are no more, since the last commit */
  size_t gone_count, gone_room;
  int broken; /* the result of every call from now on */
  char why[256];
};

/* ---- pages in memory */

static void lru_remove(pprf_vault *v, struct page *p)
{
  *(p->newer != NULL ? &p->newer->older : &v->newest) = p->older;
  *(p->older != NULL ? &p->older->newer : &v->oldest) = p->newer;
  p->newer = p->older = NULL;
  v->cached -= p->bytes;
}

static void lru_push(pprf_vault *v, struct page *p)
{
  p->bytes = sizeof *p + (p->key != NULL ? pprf_memory_bytes(p->key) : p->room * sizeof *p->child);
  p->older = v->newest;
  p->newer = NULL;
  *(v->newest != NULL ? &v->newest->newer : &v->oldest) = p;
  v->newest = p;
  v->cached += p->bytes;
}

static bool clean(const struct page *p)
{
  return !p->dirty && !p->written;
}

static void page_free(struct page *p)
{
  if (p == NULL)
    return;
  pprf_free(p->key);
  for (size_t i = 0; i < p->count; i++)
    page_free(p->child[i].page);
  wipe_free(p->child, p->room * sizeof *p->child);
  wipe_free(p, sizeof *p);
}

static void mark_dirty(pprf_vault *v, struct page *p)
{
  for (; p != &v->top; p = p->parent) {
    if (clean(p))
      lru_remove(v, p);
    p->dirty = true;
  }
}

/* A page was used, and so were those above it. */
static void touch(pprf_vault *v, struct page *p)
{
  for (; p != &v->top; p = p->parent)
    if (clean(p)) {
      lru_remove(v, p);
      lru_push(v, p);
    }
}

/* Drop clean pages beyond the limit: parents are newer than their children, so these go first. */
static void trim(pprf_vault *v)
{
  while (v->cached > v->options.cache_bytes && v->oldest != NULL) {
    struct page *p = v->oldest;
    struct entry *e = p->parent->child;
    while (e->page != p)
      e++;
    e->page = NULL;
    lru_remove(v, p);
    page_free(p);
  }
}

/* Replace `old` entries from i on by `new` empty ones. */
static int splice(struct page *p, size_t i, size_t old, size_t new)
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
  p->count = count;
  return PPRF_OK;
}

static int parse_inner(struct page *p, const uint8_t *plain, size_t len)
{
  size_t count = get_le(plain + 1, 2);
  if (len != PAGE_HEAD + count * ENTRY)
    return PPRF_VAULT_ERR_DAMAGED;
  int err = splice(p, 0, 0, count);
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

/* Read a page of either store: its children, or its key and nodes.  above: the level of the page above, 0 above the
 * root.  *total: what a root says of the vault's nodes. */
static int read_page(pprf_vault *v, int schema, const struct entry *e, unsigned above,
                     struct page *p, struct node **node, size_t *count, uint64_t *total)
{
  uint8_t sealed[SEALED_MAX], plain[PAGE_MAX];
  size_t len;
  *node = NULL;
  *count = 0;
  int err = store_get(&v->store, schema, e->row, sealed, &len);
  if (err == PPRF_OK)
    err = page_gcm(false, &v->tree, e->row, e->key, sealed, len, plain);
  if (err != PPRF_OK)
    return err;
  p->level = plain[0];
  *total = get_le(plain + 3, 8);
  if (above > 0 && p->level + 1 != above)
    err = PPRF_VAULT_ERR_DAMAGED;
  else if (p->level > 0)
    err = parse_inner(p, plain, len - TAG);
  else if ((err = leaf_decode(&v->tree, plain, len - TAG, node, count)) == PPRF_OK)
    err = key_of_nodes(&p->key, &v->tree, *node, *count);
  OPENSSL_cleanse(plain, sizeof plain);
  return err == PPRF_ERR_FORMAT || err == PPRF_VAULT_ERR_DAMAGED
           ? fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: its content is no page of this level",
                  (unsigned long long)e->row)
           : failed(err, "page");
}

/* Load the page of an entry of `parent`. */
static int load(pprf_vault *v, struct page *parent, struct entry *e)
{
  struct page *p = calloc(1, sizeof *p);
  struct node *node;
  size_t count;
  uint64_t total;
  if (p == NULL)
    return failed(PPRF_ERR_NOMEM, "page");
  int err = read_page(v, 0, e, parent->level, p, &node, &count, &total);
  nodes_free(node, count);
  if (err != PPRF_OK) {
    page_free(p);
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

/* The leaf page that holds the nodes at and around a leaf; NULL if all is erased.  *until: the last leaf before
 * the next page. */
static int find(pprf_vault *v, uint64_t leaf, struct page **found, uint64_t *until)
{
  struct page *p = &v->top;
  *found = NULL;
  *until = UINT64_MAX;
  do {
    if (p->count == 0)
      return PPRF_OK;
    size_t i = entry_of(p, leaf);
    if (p->child[i].page == NULL) {
      int err = load(v, p, &p->child[i]);
      if (err != PPRF_OK)
        return err;
    }
    if (i + 1 < p->count)
      *until = p->child[i + 1].first - 1;
    p = p->child[i].page;
  } while (p->level > 0);
  touch(v, p);
  *found = p;
  return PPRF_OK;
}

/* ---- writing a commit */

/* Write the page of an entry under a fresh key.  The root's key comes from the cell's next value. */
static int write_page(pprf_vault *v, struct entry *e, bool root)
{
  uint8_t plain[PAGE_MAX], sealed[SEALED_MAX];
  struct page *p = e->page;
  struct node *node = NULL;
  size_t count = 0, len = PAGE_HEAD + p->count * ENTRY;
  int err = p->level > 0 ? PPRF_OK : nodes_of_key(&node, &count, &v->tree, p->key);
  memset(plain, 0, PAGE_HEAD);
  if (err == PPRF_OK && p->level == 0)
    len = leaf_encode(&v->tree, node, count, plain);
  else
    put_le(plain + 1, p->count, 2);
  plain[0] = (uint8_t)p->level;
  for (size_t i = 0; p->level > 0 && i < p->count; i++) {
    struct entry *c = &p->child[i];
    uint8_t *at = plain + PAGE_HEAD + i * ENTRY;
    bool new = c->page != NULL && c->page->dirty;
    put_le(at, c->first, 8);
    put_le(at + 8, new ? c->page->next_row : c->row, 8);
    memcpy(at + 16, new ? c->page->next_key : c->key, KEY);
  }
  if (root)
    put_le(plain + 3, v->nodes, 8);
  nodes_free(node, count);
  p->next_row = ++v->store.last_row;
  if (err == PPRF_OK && root) {
    v->next.row = p->next_row;
    err = draw(v->next.salt, KEY);
    if (err == PPRF_OK)
      err = derive(p->next_key, v->next_value, CELL, v->next.salt, "pprf vault root");
  } else if (err == PPRF_OK)
    err = draw(p->next_key, KEY);
  if (err == PPRF_OK)
    err = page_gcm(true, &v->tree, p->next_row, p->next_key, plain, len, sealed);
  if (err == PPRF_OK)
    err = store_put(&v->store, p->next_row, sealed, len + TAG);
  if (err == PPRF_OK && e->row != 0)
    err = store_gone(&v->store, e->row, v->next.counter);
  OPENSSL_cleanse(plain, sizeof plain);
  p->stamp = v->stamp;
  return failed(err, "page");
}

/* Remember that an entry's page is no more. */
static int entry_gone(pprf_vault *v, const struct entry *e)
{
  if (v->gone_count == v->gone_room) {
    size_t room = 2 * v->gone_room + 16;
    uint64_t *gone = realloc(v->gone, room * sizeof *gone);
    if (gone == NULL)
      return failed(PPRF_ERR_NOMEM, "commit");
    v->gone = gone;
    v->gone_room = room;
  }
  v->gone[v->gone_count] = e->row;
  v->gone_count += e->row != 0;
  return PPRF_OK;
}

static int remove_entry(pprf_vault *v, struct page *p, size_t i)
{
  int err = entry_gone(v, &p->child[i]);
  if (err != PPRF_OK)
    return err;
  struct page *c = p->child[i].page;
  if (c != NULL && clean(c))
    lru_remove(v, c);
  page_free(c);
  return splice(p, i, 1, 0);
}

static int write_entries(pprf_vault *v, struct page *p, size_t i, size_t count)
{
  int err = PPRF_OK;
  for (size_t k = i; k < i + count && err == PPRF_OK; k++)
    err = write_page(v, &p->child[k], p == &v->top && p->count == 1);
  return err;
}

/* Bytes of node i in a page that begins before it. */
static size_t bytes_of(pprf_vault *v, const struct node *node, size_t i)
{
  return node_bytes(&v->tree, &node[i],
                    i == 0 ? node[0].start
                           : node[i - 1].start + (UINT64_C(1) << node[i - 1].height));
}

static size_t nodes_bytes(pprf_vault *v, const struct node *node, size_t count)
{
  size_t bytes = LEAF_HEAD;
  for (size_t i = 0; i < count; i++)
    bytes += bytes_of(v, node, i);
  return bytes;
}

/* Leaf pages i .. i + old - 1 of p become `new` ones with these nodes. */
static int repack(pprf_vault *v, struct page *p, size_t i, size_t old, size_t new,
                  const struct node *node, size_t count)
{
  size_t bytes = nodes_bytes(v, node, count), sum = 0, made = 0;
  struct page **page = calloc(new, sizeof(struct page *));
  uint64_t *first = calloc(new, sizeof *first);
  int err = page == NULL || first == NULL ? PPRF_ERR_NOMEM : PPRF_OK;
  for (size_t from = 0; made < new && err == PPRF_OK; made++) {
    size_t to = from;
    do
      sum += bytes_of(v, node, to++);
    while (to < count && (made + 1 == new || sum *new < bytes *(made + 1)));
    page[made] = calloc(1, sizeof **page);
    err = page[made] == NULL ? PPRF_ERR_NOMEM
                             : key_of_nodes(&page[made]->key, &v->tree, node + from, to - from);
    first[made] = node[from].start;
    from = to;
  }
  for (size_t k = i + new; k < i + old &&err == PPRF_OK; k++)
    err = entry_gone(v, &p->child[k]);
  if (err == PPRF_OK && new > old)
    err = splice(p, i + old, 0, new - old);
  for (size_t k = 0; k < (err == PPRF_OK ? old : 0); k++) {
    if (clean(p->child[i + k].page))
      lru_remove(v, p->child[i + k].page);
    page_free(p->child[i + k].page);
  }
  if (err == PPRF_OK && new < old)
    (void)splice(p, i + new, old - new, 0);
  for (size_t k = 0; k < made; k++)
    if (err == PPRF_OK) {
      page[k]->parent = p;
      page[k]->dirty = true;
      p->child[i + k].first = first[k];
      p->child[i + k].page = page[k];
    } else
      page_free(page[k]);
  free(page);
  free(first);
  return failed(err, "commit");
}

/* The nodes of n leaf pages of p. */
static int gather(pprf_vault *v, struct page *p, size_t from, size_t n, struct node **node,
                  size_t *count)
{
  int err = PPRF_OK;
  *node = NULL;
  *count = 0;
  for (size_t k = from; k < from + n && err == PPRF_OK; k++) {
    struct node *part = NULL, *both;
    size_t more = 0;
    if (p->child[k].page == NULL)
      err = load(v, p, &p->child[k]);
    if (err == PPRF_OK)
      err = failed(nodes_of_key(&part, &more, &v->tree, p->child[k].page->key), "commit");
    if (err == PPRF_OK && (both = calloc(*count + more + 1, sizeof *both)) == NULL)
      err = failed(PPRF_ERR_NOMEM, "commit");
    else if (err == PPRF_OK) {
      memcpy(both, *node != NULL ? *node : part, *count * sizeof *both);
      memcpy(both + *count, part, more * sizeof *both);
      nodes_free(*node, *count);
      *node = both;
      *count += more;
    }
    nodes_free(part, more);
  }
  return err;
}

/* Write leaf page i of p, or what it becomes: nothing if it is empty, several if it is too large.  If it is too
 * large or small, its neighbour takes part, so that pages stay two thirds full.  *step: entries now done. */
static int flush_leaf(pprf_vault *v, struct page *p, size_t i, size_t *step)
{
  struct node *node;
  size_t count, from = i, old = 1, new = 1;
  int err = gather(v, p, i, 1, &node, &count);
  size_t bytes = nodes_bytes(v, node, err == PPRF_OK ? count : 0), total = bytes;
  *step = 1;
  if (err == PPRF_OK && count == 0 && p != &v->top) {
    *step = 0;
    err = remove_entry(v, p, i);
    nodes_free(node, count);
    return err;
  }
  bool odd = bytes > PAGE_MAX || bytes < PAGE_MAX / 4;
  if (odd && i + 1 < p->count)
    old = 2;
  else if (odd && i > 0 &&
           (p->child[i - 1].page == NULL || p->child[i - 1].page->stamp != v->stamp)) {
    from = i - 1;
    old = 2;
  }
  if (err == PPRF_OK && old == 2) {
    nodes_free(node, count);
    err = gather(v, p, from, 2, &node, &count);
    total = nodes_bytes(v, node, err == PPRF_OK ? count : 0);
  }
  if (total > PAGE_MAX - PAGE_MAX / 10)
    new = total <= 2 * PAGE_MAX - PAGE_MAX / 10 ? 2 : total * 20 / (17 * PAGE_MAX) + 1;
  if (err == PPRF_OK && (bytes > PAGE_MAX || new < old)) {
    err = repack(v, p, from, old, new, node, count);
    *step = from + new - i;
  } else {
    from = i;
    new = 1;
  }
  nodes_free(node, count);
  return err == PPRF_OK ? write_entries(v, p, from, new) : err;
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
  int err = new > 1 ? splice(p, i + 1, 0, new - 1) : PPRF_OK;
  for (size_t k = new;
       k-- > 1 && err == PPRF_OK;) { /* from the last, so that c is cut at its end */
    struct page *part = calloc(1, sizeof *part);
    size_t from = k * each, count = c->count - from;
    if (part == NULL || splice(part, 0, 0, count) != PPRF_OK) {
      free(part);
      (void)splice(p, i + 1, k, 0); /* the rest stays in c */
      new -= k;
      err = PPRF_ERR_NOMEM;
      break;
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
  return err == PPRF_OK ? write_entries(v, p, i, new) : failed(err, "commit");
}

/* Write the dirty pages below p. */
static int flush_below(pprf_vault *v, struct page *p)
{
  int err = PPRF_OK;
  for (size_t i = 0, step; i < p->count && err == PPRF_OK; i += step) {
    struct page *c = p->child[i].page;
    step = 1;
    if (c == NULL || !c->dirty || c->stamp == v->stamp)
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

/* Write all dirty pages; while the root has become several, put a page above them. */
static int flush(pprf_vault *v)
{
  int err = flush_below(v, &v->top);
  while (err == PPRF_OK && v->top.count > 1) {
    struct page *root = calloc(1, sizeof *root);
    size_t step;
    if (root == NULL)
      return failed(PPRF_ERR_NOMEM, "commit");
    root->child = v->top.child;
    root->count = v->top.count;
    root->room = v->top.room;
    root->level = root->child[0].page->level + 1;
    root->parent = &v->top;
    root->dirty = true;
    for (size_t i = 0; i < root->count; i++)
      root->child[i].page->parent = root;
    v->top.child = NULL;
    v->top.count = v->top.room = 0;
    if (splice(&v->top, 0, 0, 1) != PPRF_OK) { /* as it was: the next attempt finds several again */
      v->top.child = root->child;
      v->top.count = root->count;
      v->top.room = root->room;
      for (size_t i = 0; i < v->top.count; i++)
        v->top.child[i].page->parent = &v->top;
      free(root);
      return failed(PPRF_ERR_NOMEM, "commit");
    }
    v->top.child[0].page = root;
    err = flush_inner(v, &v->top, 0, &step);
  }
  for (size_t i = 0; i < v->gone_count && err == PPRF_OK; i++)
    err = store_gone(&v->store, v->gone[i], v->next.counter);
  return err;
}

/* After the store has the commit: dirty pages are written ones. */
static void set_written(struct page *p)
{
  for (size_t i = 0; i < p->count; i++) {
    struct page *c = p->child[i].page;
    if (c == NULL || !c->dirty)
      continue;
    set_written(c);
    c->dirty = false;
    c->written = true;
  }
}

/* After the cell has confirmed: written pages are where the next commit finds them. */
static void promote(pprf_vault *v, struct page *p)
{
  for (size_t i = 0; i < p->count; i++) {
    struct entry *e = &p->child[i];
    if (e->page == NULL || !e->page->written)
      continue;
    promote(v, e->page);
    e->row = e->page->next_row;
    memcpy(e->key, e->page->next_key, KEY);
    e->page->written = false;
    if (clean(e->page))
      lru_push(v, e->page);
  }
}

/* After a failed sync the handle does nothing more; with a damaged page it writes nothing more. */
static int breaks(pprf_vault *v, int err)
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
  uint64_t newest = store_newest(&v->store);
  int err;
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

static int write_commit(pprf_vault *v)
{
  int err = next_value(v);
  if (err == PPRF_OK)
    err = store_begin(&v->store, &v->root, v->next.counter);
  if (err != PPRF_OK)
    return err;
  v->stamp++;
  err = flush(v);
  if (err == PPRF_OK)
    err = store_end(&v->store, &v->next);
  if (err != PPRF_OK) {
    store_undo(&v->store);
    return err;
  }
  set_written(&v->top);
  v->gone_count = 0;
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
  promote(v, &v->top);
  if (store_settle(&v->store) != PPRF_OK)
    (void)breaks(v, fail(PPRF_VAULT_ERR_CLOSED, "%s; open the vault again", pprf_vault_error()));
  return PPRF_OK;
}

static int commit(pprf_vault *v)
{
  int err = v->pending ? confirm(v, true) : PPRF_OK;
  if (err == PPRF_OK && v->broken == 0 && v->top.child[0].page != NULL &&
      v->top.child[0].page->dirty) {
    err = write_commit(v);
    if (err == PPRF_OK)
      err = confirm(v, false);
  }
  trim(v);
  return breaks(v, err);
}

/* ---- the interface */

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
  trim(v);
  (void)breaks(v, err);
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
    err = find(v, leaf, &p, &until);
  if (err == PPRF_OK) {
    err = p == NULL ? PPRF_ERR_PUNCTURED : pprf_eval(p->key, leaf, out);
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
    err = find(v, from, &p, &until);
    until = until < last ? until : last;
    if (err == PPRF_OK && p != NULL) {
      size_t before = pprf_node_count(p->key);
      err = from == until ? pprf_punct(p->key, from) : pprf_punct_range(p->key, from, until);
      if (err == PPRF_OK) {
        mark_dirty(v, p);
        v->nodes = v->nodes + pprf_node_count(p->key) - before;
        result = PPRF_OK;
      }
      err = err == PPRF_ERR_PUNCTURED ? PPRF_OK : failed(err, "erase");
      trim(v);
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
    err = commit(v);
  return leave(v, err);
}

int pprf_vault_erase(pprf_vault *v, uint64_t leaf, uint64_t *number)
{
  return pprf_vault_erase_range(v, leaf, leaf, number);
}

int pprf_vault_commit(pprf_vault *v, uint64_t *final)
{
  int err = enter(v, true), result = err != PPRF_OK ? err : commit(v);
  if (final != NULL)
    *final = v != NULL ? v->final : 0;
  return err != PPRF_OK ? err : leave(v, result);
}

/* What a walk over the pages on disk has seen. */
struct walk {
  int schema;
  uint64_t pages, nodes, end; /* end and height: of the last node */
  unsigned height;
};

/* The nodes of pages one after the other are a cover too. */
static bool walk_leaf(const struct node *node, size_t count, struct walk *w)
{
  bool good = count == 0 || w->nodes == 0 ||
              (node->start >= w->end && !(node->start == w->end && node->height == w->height &&
                                          (node->start >> node->height) % 2 == 1));
  if (count > 0) {
    w->height = node[count - 1].height;
    w->end = node[count - 1].start + (UINT64_C(1) << w->height);
    w->nodes += count;
  }
  return good;
}

static int walk_page(pprf_vault *v, const struct entry *e, unsigned above, struct walk *w)
{
  struct page p = {.level = 0};
  struct node *node;
  size_t count;
  uint64_t total;
  int err = read_page(v, w->schema, e, above, &p, &node, &count, &total);
  if (err == PPRF_OK && !walk_leaf(node, count, w))
    err = fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: its nodes and those before are no cover",
               (unsigned long long)e->row);
  nodes_free(node, count);
  pprf_free(p.key);
  w->pages++;
  for (size_t i = 0; i < p.count && err == PPRF_OK; i++)
    err = walk_page(v, &p.child[i], p.level, w);
  wipe_free(p.child, p.room * sizeof *p.child);
  if (err == PPRF_OK && e == v->top.child && w->nodes != total)
    err = fail(PPRF_VAULT_ERR_DAMAGED, "page %llu: the root says %llu nodes, the leaves have %llu",
               (unsigned long long)e->row, (unsigned long long)total, (unsigned long long)w->nodes);
  return err;
}

int pprf_vault_verify(pprf_vault *v, uint64_t *pages)
{
  if (pages != NULL)
    *pages = 0;
  int err = enter(v, false);
  if (err != PPRF_OK)
    return err;
  for (int i = 0; i < v->store.schemas && err == PPRF_OK; i++) {
    struct walk w = {.schema = i};
    err = walk_page(v, v->top.child, 0, &w);
    if (pages != NULL)
      *pages += w.pages;
  }
  if (err == PPRF_OK)
    err = store_shrink(&v->store);
  return leave(v, err);
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
  return failed(err, "record");
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

static void release(pprf_vault *v)
{
  for (size_t i = 0; i < v->top.count; i++)
    page_free(v->top.child[i].page);
  wipe_free(v->top.child, v->top.room * sizeof *v->top.child);
  if (v->pid == getpid()) { /* a child must not touch its parent's files */
    store_close(&v->store);
    if (v->cell.close != NULL)
      v->cell.close(v->cell.arg);
  }
  free(v->gone);
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
  if (v == NULL || path == NULL || !good || splice(&v->top, 0, 0, 1) != PPRF_OK) {
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
  size_t len = sizeof file, count = 0;
  struct node *node = NULL;
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
    err = nodes_of_key(&node, &count, &v->tree, key);
  if (err == PPRF_OK)
    err = key_of_nodes(&p->key, &v->tree, node, count);
  nodes_free(node, count);
  pprf_free(key);
  OPENSSL_cleanse(file, sizeof file);
  if (err != PPRF_OK) {
    free(p);
    return failed(err, "create");
  }
  p->parent = &v->top;
  p->dirty = true;
  v->top.child[0].page = p;
  v->nodes = 1;
  return PPRF_OK;
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
  made = v->store.db != NULL;
  if (err == PPRF_OK && v->options.mirror != NULL)
    err = store_mirror(&v->store, path, v->options.mirror, &v->tree);
  if (err == PPRF_OK)
    err = commit(v);
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
  uint64_t counter = get_le(v->value, 8), newest = store_newest(&v->store);
  err = store_root(&v->store, counter, &v->root);
  if (err == PPRF_VAULT_ERR_ROLLBACK)
    return fail(
      err, "the cell is of commit %llu, the store's last one is %llu: %s was restored from a copy",
      (unsigned long long)counter, (unsigned long long)newest,
      newest < counter ? "the store" : "the cell");
  if (err == PPRF_OK)
    err = derive(e->key, v->value, CELL, v->root.salt, "pprf vault root");
  e->row = v->root.row;
  if (err == PPRF_OK)
    err = load(v, &v->top, e);
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
  if (err == PPRF_OK && v->options.mirror != NULL)
    err = store_mirror(&v->store, path, v->options.mirror, &v->tree);
  if (err != PPRF_OK)
    release(v);
  else
    *vault = v;
  return err;
}
