/* SPDX-License-Identifier: Apache-2.0 */
/** @file store.h
 * The store: an SQLite database, and perhaps a mirror of it, with the tables
 *   vault  one row: the public head;
 *   page   row, sealed bytes, as many in each row: a page is written in place of one that is not in use;
 *   root   counter, row, salt: the root page of the commit with that counter.
 * SQLite sees sealed bytes and row numbers only.  Which rows are in use, the sealed pages alone say.  A row is free once
 * the cell has confirmed the commit that replaced its page, so that both roots exist until then. */
#ifndef PPRF_VAULT_STORE_H
#define PPRF_VAULT_STORE_H

#include <sqlite3.h>

#include "page.h"

/** A root as the store names it. */
struct root {
  uint64_t counter, row;
  uint8_t salt[KEY];
};

/** Numbers of rows. */
struct rows {
  uint64_t *at;
  size_t count, room;
};
/** @retval PPRF_OK, PPRF_ERR_NOMEM (not reported) */
int rows_push(struct rows *rows, uint64_t row);

struct store {
  sqlite3 *db;
  sqlite3_stmt *get[2], *put[2], *root[2], *old[2]; /* of the store, of its mirror */
  int schemas;                                      /* 2 with a mirror */
  int frames;                                       /* longest write-ahead log, in pages */
  int logs;                                         /* that are this process's own */
  uint64_t last_row;                                /* the highest number used so far */
  char *mirror;                                     /* its file */
  struct descriptor lock[2];                        /* descriptors of both files */
  bool made;                                        /* the file is new */
};

/** Open or make the store, for one process.  tree: in when it is made, else out. */
int store_open(struct store *s, const char *path, bool make, struct tree *tree);
/** Attach its mirror, a file of the same name in another directory, which may be missing.
 * is: CURRENT if it has the same roots; its pages were not looked at. */
enum mirror { MISSING, BEHIND, CURRENT };
int store_mirror(struct store *s, const char *path, const char *directory, const struct tree *tree,
                 enum mirror *is);
/** Make the attached mirror the same as the store.  After an error it is as it was, or of no use. */
int store_copy(struct store *s);
/** Copy the store to a new file. */
int store_backup(struct store *s, const char *path);
/** From now on commits write the mirror too. */
int store_join(struct store *s);
/** Whether the store has been kept with a mirror.  It is not sealed, so good for a notice only. */
bool store_mirrored(struct store *s);
int store_set_mirrored(struct store *s, bool mirrored);
void store_close(struct store *s);

/** Read a page of SEALED_MAX bytes; schema: 1 for the mirror. */
int store_get(struct store *s, int schema, uint64_t row, uint8_t *sealed);
/** The root of the commit with this counter. @retval PPRF_VAULT_ERR_ROLLBACK there is none */
int store_root(struct store *s, uint64_t counter, struct root *root);
/** The highest counter of a root up to `most`, 0 if there is none. */
int store_newest(struct store *s, uint64_t most, uint64_t *counter);
/** Roots are not sealed: one so many commits ahead is nobody's. */
enum { ROOT_AHEAD = 1 << 20 };
/** The result of a query without secrets, 0 if it has none or fails. */
uint64_t store_number(struct store *s, const char *query);

/** Write a commit: begin, pages, end.  The cell has confirmed the root `from`. */
int store_begin(struct store *s);
int store_put(struct store *s, uint64_t row, const uint8_t *sealed);
/** After an error it may or may not be on disk. */
int store_end(struct store *s, const struct root *from, const struct root *root);
void store_undo(struct store *s);
/** Move what was written from the log into the database if the log is long. */
int store_settle(struct store *s);
/** Give unused space back to the file system, if there is much and the disk is not full.  used: all rows in use, in
 * order.
 * @retval PPRF_VAULT_ERR_CLOSED a sync may have failed */
int store_shrink(struct store *s, const struct rows *used);

#endif
