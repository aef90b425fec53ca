/* SPDX-License-Identifier: Apache-2.0 */
/** @file store.h
 * The store: an SQLite database, and perhaps a mirror of it, with the tables
 *   vault  one row: the public head;
 *   page   row, sealed bytes; rows are numbered in the order in which they were written, never twice;
 *   root   counter, row, salt: the root page of the commit with that counter;
 *   gone   row, at: the page that the commit with counter `at` no longer needs.
 * SQLite sees sealed bytes and row numbers only.  A page is removed after the commit that replaced it, some at
 * a time, so that both roots exist until the cell has confirmed. */
#ifndef PPRF_VAULT_STORE_H
#define PPRF_VAULT_STORE_H

#include <sqlite3.h>

#include "page.h"

/** A root as the store names it. */
struct root {
  uint64_t counter, row;
  uint8_t salt[KEY];
};

struct store {
  sqlite3 *db;
  sqlite3_stmt *get[2], *put[2], *gone[2], *root[2]; /* of the store, of its mirror */
  int schemas;                                       /* 2 with a mirror */
  int frames;                                        /* longest write-ahead log, in pages */
  uint64_t last_row;                                 /* the highest number used so far */
  bool begun;                                        /* a commit since it was opened */
  uint64_t old, old_most; /* pages listed since some were removed, and how many may be */
};

/** Open or make the store, for one process.  tree: in when it is made, else out. */
int store_open(struct store *s, const char *path, bool make, struct tree *tree);
/** Open or make its mirror, a file of the same name in another directory, and bring it up to date. */
int store_mirror(struct store *s, const char *path, const char *directory, const struct tree *tree);
void store_close(struct store *s);

/** Read a page into SEALED_MAX bytes; schema: 1 for the mirror. */
int store_get(struct store *s, int schema, uint64_t row, uint8_t *sealed, size_t *len);
/** The root of the commit with this counter. @retval PPRF_VAULT_ERR_ROLLBACK there is none */
int store_root(struct store *s, uint64_t counter, struct root *root);
/** The highest counter of a root, 0 if there is none. */
uint64_t store_newest(struct store *s);
/** The result of a query without secrets, 0 if it has none. */
uint64_t store_number(struct store *s, const char *query);

/** The pages that the commit after the one with this counter would remove, from the store or its mirror, in order;
 * to be given back with free. */
int store_listed(struct store *s, uint64_t counter, uint64_t **row, size_t *count);
/** Is a page one of them? */
bool store_lists(const uint64_t *row, size_t count, uint64_t one);
/** Write a commit: begin, pages and what they replace, end.  `from` is the root that the cell has confirmed. */
int store_begin(struct store *s, const struct root *from, uint64_t counter);
int store_put(struct store *s, uint64_t row, const uint8_t *sealed, size_t len);
int store_gone(struct store *s, uint64_t row, uint64_t counter);
/** @retval PPRF_VAULT_ERR_CLOSED it may or may not be on disk */
int store_end(struct store *s, const struct root *root);
void store_undo(struct store *s);
/** Move what was written from the log into the database if the log is long. */
int store_settle(struct store *s);
/** Give unused space back to the file system, if there is much.
 * @retval PPRF_VAULT_ERR_CLOSED a sync may have failed */
int store_shrink(struct store *s);

#endif
