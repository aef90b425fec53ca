/* SPDX-License-Identifier: Apache-2.0 */
/** @file tree.h
 * The tree of pages in memory, and a vault that has it. */
#ifndef PPRF_VAULT_TREE_H
#define PPRF_VAULT_TREE_H

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#include "store.h"

enum { CELL = PPRF_VAULT_CELL_BYTES };

/* A page in memory. */
struct page {
  struct page *parent, *newer, *older; /* among the pages that may be dropped */
  struct nodes nodes;                  /* of a leaf */
  struct entry *child;                 /* of an inner page: count of room */
  size_t count, room, bytes;           /* bytes: as counted for the cache */
  unsigned level;                      /* 0: a leaf */
  bool dirty;                          /* changed since it was written */
  bool written;                        /* to next_row, in a commit that the cell has not confirmed */
  uint64_t next_row;
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
  struct arena arena; /* of the tree's nodes */
  struct page top;              /* in memory only: its one entry is the root */
  struct page *newest, *oldest; /* clean pages, which may be dropped */
  size_t cached;
  uint64_t nodes, erased, written, final, rewrites;
  time_t since; /* when the oldest erasure without a commit was made */
  struct root root, next;
  uint8_t value[CELL], next_value[CELL]; /* of the cell */
  bool pending;                          /* `next` is in the store and not confirmed */
  struct rows gone;                      /* of pages that are no more, since the last commit */
  struct rows free;                      /* no confirmed page is in them */
  size_t taken;                          /* from the end of free, by the attempt to commit */
  bool searched;                         /* for all free rows, not only those of this handle */
  int broken; /* the result of every call from now on */
  char why[256];
  char notice[512]; /* of opening, on the mirror; "": none */
};

/** The list of clean pages, which may be dropped: take one out, put one in as the newest. */
void lru_remove(pprf_vault *v, struct page *p);
void lru_push(pprf_vault *v, struct page *p);
/** Drop clean pages beyond the cache's limit. */
void tree_trim(pprf_vault *v);

bool page_clean(const struct page *p);
/** A page was changed, and so must be those above it. */
void page_dirty(pprf_vault *v, struct page *p);
/** Wipe a page and those below it. */
void page_free(const pprf_vault *v, struct page *p);
/** Replace `old` entries from i on by `new` empty ones. */
int page_splice(struct page *p, size_t i, size_t old, size_t new);
/** Read a page of either store: its children or nodes.  above: the level of the page above, 0 above the root.
 * *total: what a root says of the vault's nodes. */
int page_read(pprf_vault *v, int schema, const struct entry *e, unsigned above, struct page *p,
              uint64_t *total);
/** The entry of the confirmed root, not of the one in memory, which may be of a commit that failed. */
int tree_root(const pprf_vault *v, struct entry *root);
/** Read all pages on disk, of the mirror if schema is 1, and check that their nodes are a cover; or only the inner ones.
 * rows: all that are in use, in order; to be freed, on errors too. */
int tree_walk(pprf_vault *v, int schema, bool leaves, struct rows *rows);
/** Load the page of an entry of `parent`. */
int page_load(pprf_vault *v, struct page *parent, struct entry *e);
/** Cut a leaf page in memory if it has grown beyond what a page on disk holds some times over: an erasure moves half of
 * a page's nodes.  Without memory it stays as it is. */
void page_cut(pprf_vault *v, struct page *p);
/** The leaf page that holds the nodes at and around a leaf; NULL if all is erased.  *until: the last leaf before the
 * next page. */
int tree_find(pprf_vault *v, uint64_t leaf, struct page **found, uint64_t *until);

/** Write all changes and have the cell confirm them. */
int vault_commit(pprf_vault *v);
/** After a failed sync the handle does nothing more; with a damaged page it writes nothing more. @return err */
int vault_breaks(pprf_vault *v, int err);

#endif
