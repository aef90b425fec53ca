/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_vault.h
 * A vault: a key of pprf.h on disk, from which single leaves are erased for good.
 *
 * The key's nodes lie in sealed pages, the rows of an SQLite database (the store).  Each page is sealed under a
 * key of its own, which stands in its parent page.  The key of the root page comes from a value of 32 bytes, the
 * cell, which lies elsewhere: in a file, or behind a command such as the client of a KMS or a TPM.  A commit writes
 * new pages beside the old ones and then replaces the cell.  Without an old cell nobody can open the pages that an
 * erased leaf was in, whatever copies of the store exist.
 *
 * Values, errors and node counts are those of one key of the same depth, suite, seed and salt.  An erased leaf has
 * the result PPRF_ERR_PUNCTURED.
 *
 * An erasure takes effect in memory at once, and becomes final, that is durable and irreversible, when a commit has
 * returned PPRF_OK.  After any error, nothing that was final before is lost.
 *
 * Results are those of pprf.h and those below.  On every error outputs are zeroed, and pprf_vault_error says in
 * one line what is wrong with which page, file or cell.
 *
 * Threads.  Any number of threads may use one vault; they take turns.  pprf_vault_close must be the last call.
 * Processes.  One process at a time has a vault open.  In a child of fork every function returns PPRF_ERR_FORKED.
 * Files.  The store and, while it is open or after its process was killed, store-wal, which has the newest commits.
 */
#ifndef PPRF_VAULT_H
#define PPRF_VAULT_H

#include <pprf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a cell's value. */
#define PPRF_VAULT_CELL_BYTES 32
/** Bytes that a sealed record is longer than its text: a nonce of 12 and a tag of 16. */
#define PPRF_VAULT_RECORD_BYTES 28

/** Results of every function that returns int, beside those of pprf.h. */
enum {
  PPRF_VAULT_ERR_BUSY = 32,    /**< another process, or another handle, has the vault open */
  PPRF_VAULT_ERR_STORE = 33,   /**< the file system or SQLite failed, or there is no such store */
  PPRF_VAULT_ERR_DAMAGED = 34, /**< a page is not what was sealed: damaged, or of another vault */
  PPRF_VAULT_ERR_CELL = 35, /**< the cell cannot be read, is damaged, or belongs to another vault */
  PPRF_VAULT_ERR_ROLLBACK =
    36, /**< store and cell are not of one time: one of them was restored from a copy */
  PPRF_VAULT_ERR_UNKNOWN =
    37, /**< the cell may or may not hold the new value: commit again to ask it */
  PPRF_VAULT_ERR_CLOSED =
    38, /**< a commit was cut short, so the handle does nothing more: close it and open again */
  PPRF_VAULT_ERR_EXISTS = 39, /**< there is such a store, or the cell holds a value already */
  PPRF_VAULT_ERR_RECORD = 40, /**< the record was not sealed under this leaf, or was changed */
  PPRF_VAULT_CELL_EMPTY = 41  /**< result of a cell's read: it has never held a value */
};

/** A place for 32 secret bytes that can be replaced such that the old bytes are gone.  The first 8 of them are a
 * counter, little-endian, which grows with every write; the others are random.  A vault calls these functions one at
 * a time.  pprf_vault_cell makes the usual ones.  A cell belongs to one store: each commit first asks whether it still
 * holds the value of the last one, but what another process writes just then is lost. */
struct pprf_vault_cell {
  size_t size; /**< sizeof(struct pprf_vault_cell) */
  void *arg;   /**< passed to each function */
  /** Read the value.
   * @retval PPRF_OK                the value.
   * @retval PPRF_VAULT_CELL_EMPTY  there is none yet.
   * @retval PPRF_VAULT_ERR_CELL    it cannot be read. */
  int (*read)(void *arg, uint8_t value[PPRF_VAULT_CELL_BYTES]);
  /** Give the value that the following write will store, for a cell that prepares it; NULL: the vault draws it.
   * It must be fresh in each call, and after each opening: pages of an attempt that was cut off may be on the disk
   * under a value given before, and would open again when that became current. */
  int (*next)(void *arg, uint8_t value[PPRF_VAULT_CELL_BYTES]);
  /** Replace the value.  The same value may be written again after PPRF_VAULT_ERR_UNKNOWN.  A cell that can should
   * refuse a counter that does not grow: the write of a killed process may arrive after that of a newer commit.
   * @retval PPRF_OK                 the new value is durable, and the old one is gone.
   * @retval PPRF_VAULT_ERR_UNKNOWN  either may be in place, now or later.
   * @retval PPRF_VAULT_ERR_CLOSED   a sync failed: either may be in place after the next power cut. */
  int (*write)(void *arg, const uint8_t value[PPRF_VAULT_CELL_BYTES]);
  /** Release arg; may be NULL. */
  void (*close)(void *arg);
  /** One line on what the cell cannot promise, never NULL; valid until close. */
  const char *warning;
};

/** Make a cell.
 * @param[out] cell the cell, to be passed to pprf_vault_create or pprf_vault_open, which close it.
 * @param[in]  spec "file:PATH", a file that the first write makes; or a command for /bin/sh.  It is run
 *                  with one more argument: read, and it prints the 32 bytes, or nothing if there are none yet; or
 *                  write, and it reads them from standard input.  A status other than 0, or no end within 60 seconds,
 *                  is a failure, and so is every run in a process that ignores SIGCHLD; what it leaves running is not
 *                  waited for; standard error is not touched.  After each write the value is read back.
 * @retval PPRF_OK         *cell can be used; the file, or the command, was not touched yet.
 * @retval PPRF_ERR_NULL   cell or spec is NULL.
 * @retval PPRF_ERR_NOMEM  no memory. */
PPRF_API int pprf_vault_cell(struct pprf_vault_cell *cell, const char *spec);

/** Make a cell in memory, for tests.
 * @param[out] cell  as for pprf_vault_cell.
 * @param[in]  value the memory, which outlives the vault; all zero: an empty cell.
 * @retval PPRF_OK       *cell can be used.
 * @retval PPRF_ERR_NULL cell or value is NULL. */
PPRF_API int pprf_vault_cell_memory(struct pprf_vault_cell *cell,
                                    uint8_t value[PPRF_VAULT_CELL_BYTES]);

/** Choices for create and open; a zero member selects the default. */
struct pprf_vault_options {
  size_t size; /**< sizeof(struct pprf_vault_options) */
  const char *
    mirror; /**< a directory in which every commit writes a copy of the store, under the same name, before
                             it changes the cell.  Opening reads all of the copy; one that is missing, behind or
                             damaged is made anew if the store is whole, and pprf_vault_info says so.  NULL: none;
                             "": none, and the store forgets that it had one */
  size_t cache_bytes; /**< memory for pages without changes, in bytes; 0: 8 MB */
  uint64_t count;     /**< an erasure commits if it is the count-th not yet committed; 0: never */
  unsigned
    seconds; /**< or, when it is made, the oldest not yet committed is so many seconds old; 0: never */
};

/** A vault in use. */
typedef struct pprf_vault pprf_vault;

/** Make a vault, with nothing erased, and open it.
 * @param[out] vault   the vault, to be given back with pprf_vault_close; NULL on error.
 * @param[in]  path    the store's file, which must not exist; SQLite keeps another one beside it while it is open.
 * @param[in]  cell    an empty cell; it is closed with the vault, on an error at once.
 * @param[in]  key     what pprf_setup_with would make: depth, suite, salt, seed; flags and store are not used.
 * @param[in]  options choices, or NULL.
 * @retval PPRF_OK                the vault is durable.
 * @retval PPRF_VAULT_ERR_EXISTS  the file exists, or the cell holds a value.
 * @retval PPRF_ERR_RANGE         a size is that of no version; or as pprf_setup_with.
 * @retval others                 as described above, and as pprf_setup_with. */
PPRF_API int pprf_vault_create(pprf_vault **vault, const char *path,
                               const struct pprf_vault_cell *cell, const struct pprf_options *key,
                               const struct pprf_vault_options *options);

/** Open a vault: the store at path, or a mirror of it.  A commit that the cell had not confirmed is dropped.
 * @param[out] vault   the vault, to be given back with pprf_vault_close; NULL on error.
 * @param[in]  path    the store's file.
 * @param[in]  cell    its cell; it is closed with the vault, on an error at once.
 * @param[in]  options choices, or NULL.
 * @retval PPRF_OK                  it is open.
 * @retval PPRF_VAULT_ERR_ROLLBACK  the store is older than the cell, or the cell two commits or more older than the
 *                                  store; one that is a single commit older opens the vault as it was.
 * @retval others                   as described above. */
PPRF_API int pprf_vault_open(pprf_vault **vault, const char *path,
                             const struct pprf_vault_cell *cell,
                             const struct pprf_vault_options *options);

/** Wipe the handle's memory and release it.  Erasures without a commit are lost.  NULL is allowed. */
PPRF_API void pprf_vault_close(pprf_vault *vault);

/** Evaluate at a leaf, as pprf_eval.
 * @param[in]  vault the vault.
 * @param[in]  leaf  0 <= leaf < 2^depth.
 * @param[out] out   one value: 32 bytes in the suite PPRF_MLS_SHA256, otherwise 16.
 * @retval as pprf_eval, and PPRF_VAULT_ERR_STORE, _DAMAGED and _CLOSED. */
PPRF_API int pprf_vault_eval(pprf_vault *vault, uint64_t leaf, uint8_t *out);

/** Erase a leaf.  From now on this handle refuses it; a commit makes that final.
 * @param[in]  vault  the vault.
 * @param[in]  leaf   0 <= leaf < 2^depth.
 * @param[out] number the erasure's number, 1, 2, .. in this handle; 0 if there is none.  May be NULL.
 * @retval PPRF_OK            the leaf is erased in memory, and on disk if the options made this call commit.
 * @retval PPRF_ERR_PUNCTURED it was erased before, perhaps in memory only.
 * @retval others             if *number is not 0, the leaf is erased in memory, but the commit failed so. */
PPRF_API int pprf_vault_erase(pprf_vault *vault, uint64_t leaf, uint64_t *number);

/** Erase every leaf of a range, as pprf_punct_range; the time grows with the number of pages that it touches.
 * @param[in]  vault  the vault.
 * @param[in]  first  first leaf of the range.
 * @param[in]  last   last leaf of the range, first <= last < 2^depth.
 * @param[out] number as for pprf_vault_erase.
 * @retval PPRF_ERR_PUNCTURED all of them were erased before.
 * @retval others             as pprf_vault_erase.  After another error a part of the range may be erased in memory, and
 *                            becomes final with the next commit; *number is 0 then. */
PPRF_API int pprf_vault_erase_range(pprf_vault *vault, uint64_t first, uint64_t last,
                                    uint64_t *number);

/** Make all erasures so far final.  Without new ones nothing is written.
 * @param[in]  vault the vault.
 * @param[out] final every erasure of this handle with this number or a lower one is final; also set on an error.
 *                   May be NULL.
 * @retval PPRF_OK                 all of them are.
 * @retval PPRF_VAULT_ERR_UNKNOWN  the cell did not confirm.  The next commit asks it again.
 * @retval PPRF_VAULT_ERR_CLOSED   writing failed.  Open the vault again: it is as before or after this commit.
 * @retval others                  nothing became final; commit may be called again. */
PPRF_API int pprf_vault_commit(pprf_vault *vault, uint64_t *final);

/** Read every page of the store on disk, and of the mirror: each opens, their nodes are a cover, and nothing is
 * missing.  Changes without a commit are not looked at.  If all is well and more than a sixteenth of the file is unused,
 * the file is made shorter.
 * @param[in]  vault the vault.
 * @param[out] pages pages read; may be NULL.
 * @retval PPRF_OK                 all are as they were sealed.
 * @retval PPRF_VAULT_ERR_DAMAGED  pprf_vault_error names the page and the cause. */
PPRF_API int pprf_vault_verify(pprf_vault *vault, uint64_t *pages);

/** Copy the store, as of the last commit, to a new file.  It opens with the cell until the next commit.
 * @param[in] vault the vault.
 * @param[in] path  the file's name.  Until the copy is complete, it has this name with six letters behind it.
 * @retval PPRF_OK               the copy is complete and synced.
 * @retval PPRF_VAULT_ERR_EXISTS there is a file of this name, or with -wal or -journal behind it.
 * @retval PPRF_VAULT_ERR_STORE  it cannot be written, or its name ends with -wal or -journal; nothing stays.
 * @retval others                as described above. */
PPRF_API int pprf_vault_backup(pprf_vault *vault, const char *path);

/** Public facts about a vault. */
struct pprf_vault_info {
  size_t size;        /**< in: sizeof(struct pprf_vault_info) */
  unsigned depth;     /**< tree levels below the root */
  unsigned suite;     /**< as for pprf_suite */
  size_t value_bytes; /**< bytes of a value */
  uint64_t nodes;     /**< stored seeds, as pprf_node_count; changes without a commit count */
  uint64_t erased;    /**< erasures of this handle, the number of the last one */
  uint64_t final;     /**< those that are final, as for pprf_vault_commit */
  uint64_t commit;    /**< counter of the cell: its writes since the vault was made */
  uint64_t
    rewrites; /**< writes of this handle beyond that, which repeated one that was not confirmed */
  uint64_t
    disk_bytes; /**< the store's pages on disk, in bytes; a part of them may be unused until verify */
  uint8_t id[16];      /**< the store's identity, random */
  const char *warning; /**< what the cell cannot promise; valid until pprf_vault_close */
  const char *
    notice; /**< that opening made the mirror anew, and why, or that the vault had a mirror which this
                            handle does not write; NULL: neither; valid until pprf_vault_close */
};

/** Describe a vault.
 * @param[in]     vault the vault.
 * @param[in,out] info  receives the description; its size is set.
 * @retval PPRF_OK         *info is set.
 * @retval PPRF_ERR_RANGE  its size is that of no version.
 * @retval others          as described above. */
PPRF_API int pprf_vault_info(pprf_vault *vault, struct pprf_vault_info *info);

/** Encrypt a record under the leaf `id`: AES-256-GCM with a random nonce, which comes first; the key is derived from
 * the leaf's value by HKDF-SHA256, the id is associated data.  Its strength is that of the value: 128 bits, or 256 in
 * the suite PPRF_MLS_SHA256.  Up to 2^32 records of one id are safe.
 * @param[in]  vault the vault.
 * @param[in]  id    the leaf.
 * @param[in]  text  len bytes.
 * @param[in]  len   the text's length in bytes.
 * @param[out] out   len + PPRF_VAULT_RECORD_BYTES bytes.
 * @retval as pprf_vault_eval; PPRF_ERR_RANGE also if len > 2^31 - 64. */
PPRF_API int pprf_vault_seal(pprf_vault *vault, uint64_t id, const uint8_t *text, size_t len,
                             uint8_t *out);

/** Decrypt what pprf_vault_seal wrote.
 * @param[in]  vault  the vault.
 * @param[in]  id     the leaf.
 * @param[in]  record len bytes.
 * @param[in]  len    the record's length in bytes.
 * @param[out] out    len - PPRF_VAULT_RECORD_BYTES bytes.
 * @retval PPRF_VAULT_ERR_RECORD it was changed, is too short, or was sealed under another id or vault.
 * @retval others                as pprf_vault_seal. */
PPRF_API int pprf_vault_unseal(pprf_vault *vault, uint64_t id, const uint8_t *record, size_t len,
                               uint8_t *out);

/** One line of English on this thread's last call of a function above that failed, never NULL. */
PPRF_API const char *pprf_vault_error(void);

#ifdef __cplusplus
}
#endif
#endif
