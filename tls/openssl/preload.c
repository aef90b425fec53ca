/* SPDX-License-Identifier: Apache-2.0 */
/* libpprf_tls_preload.so: single-use tickets for servers that do not call the library.
 *
 *   LD_PRELOAD=libpprf_tls_preload.so PPRF_TICKETS_DEPTH=20 haproxy -f ...
 *
 * The first SSL_CTX of a server makes the tickets' state; that is before the program forks if it
 * reads its certificates first.  An SSL_CTX gets the tickets when it is first used, so they replace
 * the program's earlier settings.  The program still chooses the amount of early data.  If making
 * the state fails, there are no tickets at all. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pprf_fleet.h"
#include "pprf_tls.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pprf_tickets *tickets; /* NULL: there are none */
static int seen_index = -1;   /* SSL_CTX ex_data: not NULL once it was prepared */

/* The program's session ticket callbacks, in an SSL_CTX's ex_data. */
struct program {
  SSL_CTX_generate_session_ticket_fn generate;
  SSL_CTX_decrypt_session_ticket_fn decrypt;
  void *arg;
};

static int program_index = -1;
static _Thread_local int own; /* the library itself is calling OpenSSL */

static void say(const char *what, const char *why)
{
  fprintf(stderr, "libpprf_tls_preload: %s: %s\n", what, why);
}

/* ---- options ---- */

/* Whether all PPRF_TICKETS_ variables have known names.  A misspelt one would silently select a
 * default.  STATE belongs to the nginx module. */
static int all_are_known(void)
{
  static const char prefix[] = "PPRF_TICKETS_";
  static const char *const name[] = {"BACKEND", "DEPTH",    "LIFETIME", "MEMORY", "RATE",
                                     "STATE",   "ROTATION", "SUITE",    "TLS12"};
  for (char **e = environ; e != NULL && *e != NULL; e++) {
    const char *rest = *e + sizeof prefix - 1;
    if (strncmp(*e, prefix, sizeof prefix - 1) != 0)
      continue;
    size_t n = strcspn(rest, "="), i = 0;
    while (i < sizeof name / sizeof *name &&
           (strlen(name[i]) != n || strncmp(name[i], rest, n) != 0))
      i++;
    if (i == sizeof name / sizeof *name) { /* print no value: it may be a URL with a password */
      fprintf(stderr, "libpprf_tls_preload: %s%.*s: unknown variable: there will be no tickets\n",
              prefix, (int)n, rest);
      return 0;
    }
  }
  return 1;
}

/* A positive number of at most max from the environment; 0 if there is none. */
static int read_number(const char *variable, uint64_t max, uint64_t *value)
{
  const char *text = getenv(variable);
  char *end;
  if (text == NULL)
    return 1;
  errno = 0;
  unsigned long long v = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || v == 0 || v > max) {
    say(variable, "not a positive number: there will be no tickets");
    return 0;
  }
  *value = v;
  return 1;
}

static int read_option(const char *variable, unsigned *value)
{
  uint64_t v = 0;
  int good = read_number(variable, UINT32_MAX, &v);
  *value = (unsigned)v;
  return good;
}

static int read_options(struct pprf_tickets_options *o)
{
  if (!all_are_known() || !read_option("PPRF_TICKETS_DEPTH", &o->depth) ||
      !read_option("PPRF_TICKETS_LIFETIME", &o->lifetime) ||
      !read_option("PPRF_TICKETS_ROTATION", &o->rotation) ||
      !read_option("PPRF_TICKETS_RATE", &o->rate) ||
      !read_number("PPRF_TICKETS_MEMORY", INT64_MAX, &o->memory))
    return 0;
  const char *tls12 = getenv("PPRF_TICKETS_TLS12");
  o->no_tls_1_2 = tls12 != NULL && strcmp(tls12, "off") == 0;
  if (tls12 != NULL && !o->no_tls_1_2 && strcmp(tls12, "on") != 0) {
    say("PPRF_TICKETS_TLS12", "neither on nor off: there will be no tickets");
    return 0;
  }
  const char *suite = getenv("PPRF_TICKETS_SUITE");
  o->suite = pprf_tickets_suite(suite);
  if (suite != NULL && o->suite == 0) {
    say("PPRF_TICKETS_SUITE", "not sha3-256, sha3-256-salted or aes-128: there will be no tickets");
    return 0;
  }
  const char *bad = pprf_tickets_bad_option(o);
  if (bad == NULL)
    return 1;
  say(*bad == 'd'     ? "PPRF_TICKETS_DEPTH"
      : *bad == 'l'   ? "PPRF_TICKETS_LIFETIME"
      : *bad == 'm'   ? "PPRF_TICKETS_MEMORY"
      : bad[1] == 'a' ? "PPRF_TICKETS_RATE"
                      : "PPRF_TICKETS_ROTATION",
      bad);
  return 0;
}

/* ---- the tickets ---- */

/* Make tickets whose keys are on the servers with these URLs, separated by spaces. */
static int new_fleet(const struct pprf_tickets_options *o, const char *text)
{
  static const char variable[] = "PPRF_TICKETS_BACKEND";
  const char *server[PPRF_FLEET_SERVERS_MAX + 1], *bad = NULL;
  size_t n = 0;
  char *urls = strdup(text), *rest;
  if (urls == NULL)
    return PPRF_ERR_NOMEM;
  for (char *url = strtok_r(urls, " ", &rest);
       url != NULL && n <= PPRF_FLEET_SERVERS_MAX && bad == NULL;
       url = strtok_r(NULL, " ", &rest)) {
    bad = pprf_tickets_bad_server(url);
    server[n++] = url;
  }
  if (bad == NULL)
    bad = n == 0                       ? "no URL"
          : n > PPRF_FLEET_SERVERS_MAX ? "more than 8 URLs"
          : o->rotation != 0           ? "not with PPRF_TICKETS_ROTATION"
          : o->memory != 0             ? "not with PPRF_TICKETS_MEMORY"
          : o->suite != 0              ? "not with PPRF_TICKETS_SUITE"
          : o->lifetime > 432000       ? "with it PPRF_TICKETS_LIFETIME is 1 to 432000"
                                       : NULL;
  int err = bad != NULL ? PPRF_TLS_ERR_OPTION : pprf_tickets_new_fleet(&tickets, o, server, n);
  if (bad != NULL)
    say(variable, bad);
  OPENSSL_cleanse(urls, strlen(text)); /* it may contain a password */
  free(urls);
  return err;
}

static void free_program(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                         void *argp)
{
  (void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
  free(ptr);
}

static void start(void)
{
  struct pprf_tickets_options options = {.size = sizeof options};
  seen_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  program_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_program);
  if (!read_options(&options))
    return;
  const char *backend = getenv("PPRF_TICKETS_BACKEND");
  int err = backend != NULL ? new_fleet(&options, backend) : pprf_tickets_new(&tickets, &options);
  if (err != PPRF_OK)
    say("no tickets", pprf_tls_strerror(err));
}

static int attach(SSL_CTX *ctx)
{
  uint32_t early = SSL_CTX_get_max_early_data(ctx), skipped = SSL_CTX_get_recv_max_early_data(ctx);
  SSL_CTX_sess_set_new_cb(ctx, NULL);
  SSL_CTX_sess_set_get_cb(ctx, NULL);
  if (tickets == NULL)
    return 0;
  const struct program *p = SSL_CTX_get_ex_data(ctx, program_index);
  own = 1;
  int err = pprf_tickets_attach(ctx, tickets);
  if (err == PPRF_OK && p != NULL)
    err = pprf_tickets_set_session_ticket_cb(ctx, p->generate, p->decrypt, p->arg);
  own = 0;
  if (err == PPRF_OK && (SSL_CTX_set_max_early_data(ctx, early) != 1 ||
                         SSL_CTX_set_recv_max_early_data(ctx, skipped) != 1))
    err = PPRF_TLS_ERR_SSL;
  if (err != PPRF_OK)
    say("no tickets for an SSL_CTX", pprf_tls_strerror(err));
  return err == PPRF_OK;
}

/* Neither tickets nor a session store. */
static void switch_off(SSL_CTX *ctx)
{
  (void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
  (void)SSL_CTX_set_num_tickets(ctx, 0);
  (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  (void)SSL_CTX_set_max_early_data(ctx, 0);
}

static int is_server(const SSL_METHOD *method)
{
  return method == TLS_server_method();
}

static void prepare(SSL_CTX *ctx)
{
  if (ctx == NULL || !is_server(SSL_CTX_get_ssl_method(ctx)) || pthread_once(&once, start) != 0 ||
      pthread_mutex_lock(&lock) != 0)
    return;
  if (SSL_CTX_get_ex_data(ctx, seen_index) == NULL) {
    if (!attach(ctx))
      switch_off(ctx);
    (void)SSL_CTX_set_ex_data(ctx, seen_index, &seen_index);
  }
  (void)pthread_mutex_unlock(&lock);
}

/* ---- what the program calls ---- */

/* Find libssl's function of this name. */
static void find(const char *name, void *function)
{
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    say(name, "not found in OpenSSL");
    abort();
  }
  memcpy(function, &found, sizeof found);
}

static SSL_CTX *(*real_SSL_CTX_new)(const SSL_METHOD *);
static SSL_CTX *(*real_SSL_CTX_new_ex)(OSSL_LIB_CTX *, const char *, const SSL_METHOD *);
static SSL *(*real_SSL_new)(SSL_CTX *);
static SSL_CTX *(*real_SSL_set_SSL_CTX)(SSL *, SSL_CTX *);
static int (*real_SSL_CTX_set_session_ticket_cb)(SSL_CTX *, SSL_CTX_generate_session_ticket_fn,
                                                 SSL_CTX_decrypt_session_ticket_fn, void *);
static int (*real_CRYPTO_set_mem_functions)(CRYPTO_malloc_fn, CRYPTO_realloc_fn, CRYPTO_free_fn);

static pthread_once_t found = PTHREAD_ONCE_INIT;

static void find_all(void)
{
  find("SSL_CTX_new", &real_SSL_CTX_new);
  find("SSL_CTX_new_ex", &real_SSL_CTX_new_ex);
  find("SSL_new", &real_SSL_new);
  find("SSL_set_SSL_CTX", &real_SSL_set_SSL_CTX);
  find("SSL_CTX_set_session_ticket_cb", &real_SSL_CTX_set_session_ticket_cb);
  find("CRYPTO_set_mem_functions", &real_CRYPTO_set_mem_functions);
}

static void need_real(void)
{
  if (pthread_once(&found, find_all) != 0)
    abort();
}

static int wipes; /* OpenSSL has the library's memory functions */

/* Before main, while OpenSSL has not allocated anything. */
__attribute__((constructor)) static void wipe(void)
{
  own = 1;
  wipes = pprf_tickets_wipe_openssl() == PPRF_OK;
  own = 0;
  if (!wipes)
    say("OpenSSL will not wipe freed memory", pprf_tls_strerror(PPRF_TLS_ERR_LATE));
}

/* A program's own functions, as stunnel's, would free without wiping.  It gets the answer that OpenSSL
 * gives once it has allocated memory. */
PPRF_API int CRYPTO_set_mem_functions(CRYPTO_malloc_fn allocate, CRYPTO_realloc_fn reallocate,
                                      CRYPTO_free_fn release)
{
  need_real();
  return own || !wipes ? real_CRYPTO_set_mem_functions(allocate, reallocate, release) : 0;
}

PPRF_API SSL_CTX *SSL_CTX_new(const SSL_METHOD *method)
{
  need_real();
  if (is_server(method))
    (void)pthread_once(&once, start);
  return real_SSL_CTX_new(method);
}

PPRF_API SSL_CTX *SSL_CTX_new_ex(OSSL_LIB_CTX *libctx, const char *propq, const SSL_METHOD *method)
{
  need_real();
  if (is_server(method))
    (void)pthread_once(&once, start);
  return real_SSL_CTX_new_ex(libctx, propq, method);
}

/* Failures of the servers of PPRF_TICKETS_BACKEND that no process has told yet. */
static void tell_failures(void)
{
  char line[512];
  while (tickets != NULL && pprf_tickets_failure(tickets, line, sizeof line))
    say("PPRF_TICKETS_BACKEND", line);
}

PPRF_API SSL *SSL_new(SSL_CTX *ctx)
{
  need_real();
  prepare(ctx);
  tell_failures();
  return real_SSL_new(ctx);
}

/* After SNI: OpenSSL asks the new SSL_CTX for the tickets. */
PPRF_API SSL_CTX *SSL_set_SSL_CTX(SSL *ssl, SSL_CTX *ctx)
{
  need_real();
  prepare(ctx);
  return real_SSL_set_SSL_CTX(ssl, ctx);
}

/* Set the program's callbacks.  The library's callbacks run first, whether this is called before or
 * after the SSL_CTX is used. */
PPRF_API int SSL_CTX_set_session_ticket_cb(SSL_CTX *ctx,
                                           SSL_CTX_generate_session_ticket_fn generate,
                                           SSL_CTX_decrypt_session_ticket_fn decrypt, void *arg)
{
  need_real();
  if (own || ctx == NULL || !is_server(SSL_CTX_get_ssl_method(ctx)) ||
      pthread_once(&once, start) != 0 || pthread_mutex_lock(&lock) != 0)
    return real_SSL_CTX_set_session_ticket_cb(ctx, generate, decrypt, arg);
  int good = 0;
  if (SSL_CTX_get_ex_data(ctx, seen_index) != NULL) {
    own = 1;
    good = pprf_tickets_set_session_ticket_cb(ctx, generate, decrypt, arg) == PPRF_OK;
    own = 0;
  } else {
    struct program *p = SSL_CTX_get_ex_data(ctx, program_index);
    if (p == NULL && (p = malloc(sizeof *p)) != NULL &&
        SSL_CTX_set_ex_data(ctx, program_index, p) != 1) {
      free(p);
      p = NULL;
    }
    good = p != NULL;
    if (good)
      *p = (struct program){generate, decrypt, arg};
  }
  (void)pthread_mutex_unlock(&lock);
  return good || real_SSL_CTX_set_session_ticket_cb(ctx, generate, decrypt, arg);
}
