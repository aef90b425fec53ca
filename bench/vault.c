/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a vault with RECORDS records, a tenth of them erased: dense ids (0, 1, ..) and sparse ones (hashed, 63
 * bits).  Beside it, in turns within each round: the pair of synced writes that a durable erasure needs at least, a
 * table of keys in SQLite, `pprf punct` on a key file.  Wall time: most of it is the disk's.
 * Usage: vault ROUNDS RECORDS FOLDER PPRF FILE     works in FOLDER, writes each round's values as JSON */
#include <fcntl.h>
#include <pprf_vault.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "figures.h"

enum { SINGLE = 40, BATCH = 4096, EVALS = 2000 };
static uint64_t records, state;
static char store[300], cell_spec[310], keys[300], key_file[300], blocks[300];
static pprf_vault *vault;

static double wall(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* splitmix64: record i's sparse id. */
static uint64_t id_of(uint64_t i, int sparse)
{
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return sparse ? (z ^ z >> 31) >> 1 : i;
}

static void good(int err)
{
  check(err == PPRF_OK, pprf_vault_error());
}

static struct pprf_options tree(int sparse)
{
  struct pprf_options key = {.size = sizeof key, .suite = PPRF_AES_128};
  for (key.depth = 1; !sparse && UINT64_C(1) << key.depth < records;)
    key.depth++;
  key.depth = sparse ? 63 : key.depth;
  return key;
}

static void open_vault(size_t cache, const struct pprf_options *key)
{
  struct pprf_vault_options options = {.size = sizeof options, .cache_bytes = cache};
  struct pprf_vault_cell cell;
  pprf_vault_close(vault);
  good(pprf_vault_cell(&cell, cell_spec));
  good(key != NULL ? pprf_vault_create(&vault, store, &cell, key, &options)
                   : pprf_vault_open(&vault, store, &cell, &options));
}

/* Erase n random records of the vault, in one commit. */
static void erase(unsigned n, int sparse)
{
  while (n > 0) {
    int err = pprf_vault_erase(vault, id_of(next_random(&state) % records, sparse), NULL);
    if (err != PPRF_ERR_PUNCTURED)
      good(err);
    n -= err == PPRF_OK;
  }
  good(pprf_vault_commit(vault, NULL));
}

static double single_rate(int sparse)
{
  double from = wall();
  for (unsigned i = 0; i < SINGLE; i++)
    erase(1, sparse);
  return SINGLE / (wall() - from);
}

/* The pair: a page to a file that grows, 32 bytes over those of a second file, each with fdatasync. */
static double pair_rate(void)
{
  static const char page[4096] = "a page";
  char second[310];
  snprintf(second, sizeof second, "%s.2", blocks);
  int a = open(blocks, O_CREAT | O_WRONLY | O_APPEND, 0600),
      b = open(second, O_CREAT | O_WRONLY, 0600);
  check(a >= 0 && b >= 0, "files for the pair");
  double from = wall();
  for (unsigned i = 0; i < SINGLE; i++)
    check(write(a, page, sizeof page) == sizeof page && fdatasync(a) == 0 &&
            pwrite(b, page, 32, 0) == 32 && fdatasync(b) == 0,
          "a write and its sync");
  double rate = SINGLE / (wall() - from);
  check(close(a) == 0 && close(b) == 0 && unlink(blocks) == 0 && unlink(second) == 0,
        "the pair's files");
  return rate;
}

static double batch_rate(int sparse)
{
  double from = wall();
  erase(BATCH, sparse);
  return BATCH / (wall() - from);
}

/* One evaluation in us: of 16 records again and again, or of any. */
static double eval_us(int sparse, uint64_t among)
{
  uint8_t out[PPRF_SEED_BYTES];
  uint64_t first = next_random(&state) % records, n = 0;
  double from = wall();
  for (unsigned i = 0; i < EVALS; i++) {
    uint64_t r = among == 1 ? (first + i % 16) % records : next_random(&state) % records;
    n += pprf_vault_eval(vault, id_of(r, sparse), out) == PPRF_OK;
  }
  check(among == 1 || n > EVALS / 2, "most records are not erased");
  return (wall() - from) / EVALS * 1e6;
}

static double read_so_far(void)
{
  unsigned long long n = 0;
  FILE *f = fopen("/proc/self/io", "r");
  check(f != NULL && fscanf(f, "rchar: %llu", &n) == 1 && fclose(f) == 0, "/proc/self/io");
  return (double)n;
}

static void measure_vault(FILE *json, unsigned rounds, int sparse)
{
  struct figure single = {{0}, 0}, pair = single, batch = single, cached = single,
                uncached = single, opened = single, first = single;
  struct pprf_options key = tree(sparse);
  snprintf(running, sizeof running, "%s ids", sparse ? "sparse" : "dense");
  double from = wall();
  open_vault(0, &key);
  for (uint64_t n = 0; n < records / 10; n += BATCH) {
    fprintf(stderr, "\rvault: %s: %llu erased", running, (unsigned long long)n);
    erase((unsigned)(records / 10 - n < BATCH ? records / 10 - n : BATCH), sparse);
  }
  fprintf(stderr, " in %.0f s\n", wall() - from);
  struct pprf_vault_info info = {.size = sizeof info};
  open_vault(0, NULL); /* the next commit removes what the last one replaced */
  erase(1, sparse);
  good(pprf_vault_verify(vault, NULL));
  good(pprf_vault_info(vault, &info));
  for (unsigned round = 0; round <= rounds; round++) { /* the first warms up */
    double value[7];
    open_vault(0, NULL);
    from = wall();
    erase(1, sparse);
    value[6] = (wall() - from) * 1e3;
    value[0] = single_rate(sparse);
    value[1] = pair_rate();
    value[2] = batch_rate(sparse);
    (void)eval_us(sparse, 1);
    value[3] = eval_us(sparse, 1);
    open_vault(info.disk_bytes / 16, NULL); /* room for inner pages and few others */
    value[4] = eval_us(sparse, records);
    pprf_vault_close(vault);
    vault = NULL;
    double before = read_so_far();
    open_vault(0, NULL);
    value[5] = read_so_far() - before;
    struct figure *const figure[] = {&single, &pair, &batch, &cached, &uncached, &opened, &first};
    for (unsigned i = 0; i < 7 && round > 0; i++)
      add_value(figure[i], value[i]);
  }
  fprintf(
    json,
    "{\"case\": \"vault, %s ids\", \"nodes\": %llu, \"node_bytes\": %.4g, \"nodes_an_erasure\": %.4g",
    sparse ? "sparse" : "dense", (unsigned long long)info.nodes,
    (double)info.disk_bytes / (double)info.nodes, (double)info.nodes / ((double)records / 10));
  fprintf(json, ", \"bytes\": %llu", (unsigned long long)info.disk_bytes);
  write_figure(json, "single", &single);
  write_figure(json, "pair", &pair);
  write_figure(json, "batch", &batch);
  write_figure(json, "cached_us", &cached);
  write_figure(json, "uncached_us", &uncached);
  write_figure(json, "open_bytes", &opened);
  write_figure(json, "first_ms", &first);
  fprintf(json, "},\n ");
  pprf_vault_close(vault);
  vault = NULL;
  check(unlink(store) == 0 && unlink(cell_spec + 5) == 0, "the vault's files");
}

static void sql(sqlite3 *db, const char *text)
{
  check(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

/* A table with a key of 16 bytes for each record; a deletion overwrites it (secure_delete). */
static void measure_table(FILE *json, unsigned rounds)
{
  struct figure single = {{0}, 0}, batch = single;
  sqlite3 *db;
  char text[300];
  struct stat s;
  snprintf(running, sizeof running, "a table of keys");
  check(sqlite3_open(keys, &db) == SQLITE_OK, "the table's file");
  sql(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
          "PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE k (id INTEGER PRIMARY KEY, key BLOB)");
  snprintf(
    text, sizeof text,
    "INSERT INTO k WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %llu) "
    "SELECT i, randomblob(16) FROM n; PRAGMA wal_checkpoint(TRUNCATE)",
    (unsigned long long)records - 1);
  sql(db, text);
  check(stat(keys, &s) == 0, "the table's file");
  for (unsigned round = 0; round <= rounds; round++)
    for (unsigned n = 0; n < 2; n++) {
      double from = wall();
      if (n == 1)
        sql(db, "BEGIN");
      for (unsigned i = 0; i < (n == 1 ? BATCH : SINGLE); i++) {
        snprintf(text, sizeof text, "DELETE FROM k WHERE id = %llu",
                 (unsigned long long)(next_random(&state) % records));
        sql(db, text);
      }
      if (n == 1)
        sql(db, "COMMIT");
      if (round > 0)
        add_value(n == 1 ? &batch : &single, (n == 1 ? BATCH : SINGLE) / (wall() - from));
    }
  fprintf(json, "{\"case\": \"table of keys in SQLite\", \"bytes\": %llu",
          (unsigned long long)s.st_size);
  write_figure(json, "single", &single);
  write_figure(json, "batch", &batch);
  fprintf(json, "},\n ");
  check(sqlite3_close(db) == SQLITE_OK && unlink(keys) == 0, "the table's file");
}

/* `pprf punct FILE LEAF`, on a key with a tenth of the records erased. */
static void measure_punct(FILE *json, unsigned rounds, const char *program)
{
  struct figure single = {{0}, 0};
  struct pprf_options options = tree(0);
  pprf_key *key;
  size_t len = 0;
  snprintf(running, sizeof running, "pprf punct");
  check(pprf_setup_with(&key, &options) == PPRF_OK, "set-up");
  for (uint64_t n = 0; n < records / 10;)
    n += pprf_punct(key, next_random(&state) % records) == PPRF_OK;
  check(pprf_export(key, NULL, &len) == PPRF_OK, "export");
  uint8_t *bytes = malloc(len);
  check(bytes != NULL && pprf_export(key, bytes, &len) == PPRF_OK, "export");
  FILE *f = fopen(key_file, "wb");
  check(f != NULL && fwrite(bytes, len, 1, f) == 1 && fclose(f) == 0, "the key file");
  for (unsigned round = 0; round < rounds;) {
    char command[700];
    snprintf(command, sizeof command, "exec %s punct %s %llu 2> /dev/null", program, key_file,
             (unsigned long long)(next_random(&state) % records));
    double from = wall();
    int status = system(command);
    check(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3), command);
    if (WEXITSTATUS(status) == 0) {
      add_value(&single, 1 / (wall() - from));
      round++;
    }
  }
  fprintf(json, "{\"case\": \"pprf punct on a key file\", \"bytes\": %zu", len);
  write_figure(json, "single", &single);
  fprintf(json, "}");
  pprf_free(key);
  free(bytes);
  check(unlink(key_file) == 0, "the key file");
}

int main(int argc, char **argv)
{
  unsigned rounds = argc == 6 ? (unsigned)atoi(argv[1]) : 0;
  records = argc == 6 ? strtoull(argv[2], NULL, 10) : 0;
  program_name = "vault";
  say_what_ends();
  check(rounds >= 1 && rounds <= ROUNDS_MAX && records >= 100000,
        "usage: vault ROUNDS RECORDS FOLDER PPRF FILE; RECORDS at least 100000");
  state = 88172645463325252u;
  snprintf(store, sizeof store, "%s/vault-bench", argv[3]);
  snprintf(cell_spec, sizeof cell_spec, "file:%s.cell", store);
  snprintf(keys, sizeof keys, "%s/vault-bench-keys", argv[3]);
  snprintf(key_file, sizeof key_file, "%s/vault-bench-key", argv[3]);
  snprintf(blocks, sizeof blocks, "%s/vault-bench-pair", argv[3]);
  (void)(unlink(store), unlink(cell_spec + 5), unlink(keys),
         unlink(key_file)); /* of a run that was stopped */
  FILE *json = fopen(argv[5], "w");
  check(json != NULL, "the file cannot be written");
  fprintf(json, "{\"rounds\": %u, \"records\": %llu, \"rows\": [\n ", rounds,
          (unsigned long long)records);
  measure_vault(json, rounds, 0);
  measure_vault(json, rounds, 1);
  measure_table(json, rounds);
  measure_punct(json, rounds, argv[4]);
  fprintf(json, "\n]}\n");
  check(ferror(json) == 0 && fclose(json) == 0, "the file cannot be written");
  return 0;
}
