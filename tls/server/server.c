/* SPDX-License-Identifier: Apache-2.0 */
/* pprf-tls-server: serves a page over HTTPS on loopback, to try the tickets.  Prints a line for
 * each connection: full, resumed, 0-RTT accepted or 0-RTT rejected. */
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../cli/arguments.h"
#include "pprf_fleet.h"
#include "pprf_tls.h"

struct arguments {
  unsigned port, workers, connections;
  const char *cert, *key, *groups;
  int stats, openssl_tickets, anti_replay;
  struct pprf_tickets_options tickets;
  const char *server[PPRF_FLEET_SERVERS_MAX]; /* --backend */
  size_t servers;
};

/* A letter below 256 is a short option. */
enum {
  STATS = 256,
  BACKEND,
  DEPTH,
  RATE,
  MEMORY,
  LIFETIME,
  ROTATION,
  EARLY,
  OPENSSL,
  ANTI,
  CERT,
  KEY,
  GROUPS,
  TLS12,
  SUITE
};

static const struct option_line options[] = {
  {"port", 'p', "N", "Port on 127.0.0.1 (default 4433; 0: any free one)"},
  {"workers", 'w', "N", "Processes that share the tickets, 1..64 (default 1)"},
  {"connections", 'n', "N", "End after N connections a worker (default: never)"},
  {"cert", CERT, "FILE", "Certificate (default pprf-tls-server.crt; made if missing)"},
  {"key", KEY, "FILE", "Its private key (default pprf-tls-server.key)"},
  {"groups", GROUPS, "LIST", "Key exchange groups, such as P-256:X25519"},
  {"depth", DEPTH, "D", "2^D tickets a key, 4..32 (default: from the rate)"},
  {"rate", RATE, "N", "Tickets a second to handle (default 500: depth 22)"},
  {"memory", MEMORY, "BYTES", "Upper bound for the tickets' memory (default: 8 keys)"},
  {"lifetime", LIFETIME, "S", "Lifetime of a ticket in seconds (default 7200)"},
  {"rotation", ROTATION, "S", "Seconds after which a new key starts"},
  {"suite", SUITE, "NAME", "PRG suite: sha3-256, sha3-256-salted or aes-128"},
  {"backend", BACKEND, "URL", "Keep keys on a server with the module (repeatable)"},
  {"max-early-data", EARLY, "N", "Bytes of early data accepted (default 16384)"},
  {"no-tls12-tickets", TLS12, NULL, "No tickets in TLS 1.2"},
  {"stats", STATS, NULL, "Print the tickets' counters after each connection"},
  {"openssl-tickets", OPENSSL, NULL,
   "OpenSSL's own stateless tickets without anti-replay instead, for comparison"},
  {"openssl-anti-replay", ANTI, NULL,
   "Leave SSL_OP_NO_ANTI_REPLAY off, a mistake that must only cost 0-RTT"},
  {0},
};

static _Noreturn void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void wrong(const char *format, ...)
{
  char text[512];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  exit(complain(STATUS_USAGE, "%s", text));
}

static uint64_t number(const char *name, const char *arg, uint64_t least, uint64_t max)
{
  char *end;
  errno = 0;
  unsigned long long v = strtoull(arg, &end, 10);
  if (*arg < '0' || *arg > '9' || *end != '\0' || errno != 0 || v < least || v > max)
    wrong("--%s: '%s' is not a number from %llu to %llu", name, arg, (unsigned long long)least,
          (unsigned long long)max);
  return v;
}

static int take(void *input, int key, char *arg)
{
  struct arguments *a = input;
  const char *name = "";
  for (const struct option_line *o = options; o->name != NULL; o++)
    if (o->key == key)
      name = o->name;
  switch (key) { /* a zero in tickets would be the default */
  case 'p':
    a->port = (unsigned)number(name, arg, 0, 65535);
    break;
  case 'w':
    a->workers = (unsigned)number(name, arg, 1, 64);
    break;
  case 'n':
    a->connections = (unsigned)number(name, arg, 0, UINT32_MAX);
    break;
  case CERT:
    a->cert = arg;
    break;
  case KEY:
    a->key = arg;
    break;
  case GROUPS:
    a->groups = arg;
    break;
  case DEPTH:
    a->tickets.depth = (unsigned)number(name, arg, 1, 32);
    break;
  case RATE:
    a->tickets.rate = (unsigned)number(name, arg, 1, UINT32_MAX);
    break;
  case MEMORY:
    a->tickets.memory = number(name, arg, 1, INT64_MAX);
    break;
  case LIFETIME:
    a->tickets.lifetime = (unsigned)number(name, arg, 1, UINT32_MAX);
    break;
  case ROTATION:
    a->tickets.rotation = (unsigned)number(name, arg, 1, UINT32_MAX);
    break;
  case SUITE:
    a->tickets.suite = pprf_tickets_suite(arg);
    if (a->tickets.suite == 0)
      wrong("--suite: '%s' is not sha3-256, sha3-256-salted or aes-128", arg);
    break;
  case BACKEND:
    if (a->servers == PPRF_FLEET_SERVERS_MAX)
      wrong("--backend: more than %d", PPRF_FLEET_SERVERS_MAX);
    a->server[a->servers++] = arg;
    break;
  case EARLY:
    a->tickets.max_early_data = (unsigned)number(name, arg, 1, UINT32_MAX);
    break;
  case TLS12:
    a->tickets.no_tls_1_2 = 1;
    break;
  case STATS:
    a->stats = 1;
    break;
  case OPENSSL:
    a->openssl_tickets = 1;
    break;
  case ANTI:
    a->anti_replay = 1;
    break;
  }
  return STATUS_DONE;
}

/* What the options mean together. */
static int check(void *input)
{
  const struct arguments *a = input;
  const char *bad = pprf_tickets_bad_option(&a->tickets);
  if (bad != NULL)
    wrong("--%s", bad);
  for (size_t i = 0; i < a->servers; i++)
    if ((bad = pprf_tickets_bad_server(a->server[i])) != NULL)
      wrong("--backend: %s", bad);
  if (a->servers > 0 &&
      (a->tickets.rotation != 0 || a->tickets.memory != 0 || a->tickets.suite != 0))
    wrong("--%s: not with --backend", a->tickets.rotation != 0 ? "rotation"
                                      : a->tickets.memory != 0 ? "memory"
                                                               : "suite");
  if (a->servers > 0 && a->tickets.lifetime > 432000)
    wrong("--lifetime: 1..432000 seconds with --backend");
  return STATUS_DONE;
}

static void parse(struct arguments *a, int argc, char **argv)
{
  static char program[] = "pprf-tls-server";
  static const struct command_line line = {
    .operands = "",
    .about =
      "Serve a page over HTTPS on 127.0.0.1 with forward-secret, replay-safe session tickets; print how each "
      "connection began.",
    .more = "See the manual page pprf-tls-server(1).",
    .options = options,
    .option = take,
    .end = check};
  argv[0] = program;
  int status = parse_arguments(&line, argc, argv, a);
  if (status != STATUS_DONE)
    exit(status == STATUS_SHOWN ? 0 : status);
}

static void die(const char *what)
{
  fprintf(stderr, "pprf-tls-server: %s: %s\n", what, errno != 0 ? strerror(errno) : "failed");
  ERR_print_errors_fp(stderr);
  exit(4);
}

/* ---- certificate ---- */

static void make_certificate(const char *cert_file, const char *key_file)
{
  errno = EINVAL;
  if (strcmp(cert_file, key_file) == 0)
    die("a certificate and its key are two files");
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *cert = X509_new();
  X509_NAME *name = X509_NAME_new();
  X509_EXTENSION *san =
    X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  int good = key != NULL && cert != NULL && name != NULL && san != NULL &&
             X509_set_version(cert, X509_VERSION_3) == 1 &&
             ASN1_INTEGER_set_int64(X509_get_serialNumber(cert), (int64_t)time(NULL)) == 1 &&
             X509_gmtime_adj(X509_getm_notBefore(cert), -3600) != NULL &&
             X509_gmtime_adj(X509_getm_notAfter(cert), 365 * 86400L) != NULL &&
             X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                        (const unsigned char *)"localhost", -1, -1, 0) == 1 &&
             X509_set_subject_name(cert, name) == 1 && X509_set_issuer_name(cert, name) == 1 &&
             X509_add_ext(cert, san, -1) == 1 && X509_set_pubkey(cert, key) == 1 &&
             X509_sign(cert, key, EVP_sha256()) > 0;
  mode_t mask = umask(077);
  FILE *k = good ? fopen(key_file, "wx") : NULL, *c = k != NULL ? fopen(cert_file, "w") : NULL;
  umask(mask);
  if (c == NULL || PEM_write_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) != 1 ||
      PEM_write_X509(c, cert) != 1 || fclose(k) != 0 || fclose(c) != 0)
    die("making a certificate");
  printf("made a certificate: %s %s\n", cert_file, key_file);
  X509_EXTENSION_free(san);
  X509_NAME_free(name);
  X509_free(cert);
  EVP_PKEY_free(key);
}

/* ---- one connection ---- */

static const char page[] = "<!doctype html><title>libpprf</title><p>served\n";

/* Read the request.  *early: how many of its bytes came as early data.  Returns 0 if there is no
 * request. */
static int receive(SSL *ssl, char *buf, size_t size, size_t *early)
{
  size_t have = 0, n;
  int state = SSL_READ_EARLY_DATA_ERROR;
  while (state != SSL_READ_EARLY_DATA_FINISH) {
    state = SSL_read_early_data(ssl, buf + have, size - 1 - have, &n);
    if (state == SSL_READ_EARLY_DATA_ERROR)
      return 0;
    *early = have += n;
  }
  if (SSL_accept(ssl) != 1)
    return 0;
  for (;;) {
    buf[have] = '\0';
    if (strstr(buf, "\r\n\r\n") != NULL || strstr(buf, "\n\n") != NULL)
      return 1;
    if (have + 1 == size || SSL_read_ex(ssl, buf + have, size - 1 - have, &n) != 1)
      return have > 0;
    have += n;
  }
}

static const char *outcome(SSL *ssl)
{
  switch (SSL_get_early_data_status(ssl)) {
  case SSL_EARLY_DATA_ACCEPTED:
    return "0-RTT accepted";
  case SSL_EARLY_DATA_REJECTED:
    return "0-RTT rejected";
  default:
    return SSL_session_reused(ssl) ? "resumed" : "full";
  }
}

static void print_stats(pprf_tickets *tickets)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  if (pprf_tickets_stats(tickets, &s) == PPRF_OK)
    printf("  issued %lu  resumed %lu  early %lu  early rejected %lu  refused %lu  foreign %lu  "
           "not issued %lu  expired %lu  dropped %lu  kept %lu  keys %lu  keys max %lu  "
           "outstanding %lu  seeds %lu  suite %lu  memory %lu bytes\n",
           (unsigned long)s.issued, (unsigned long)s.resumed, (unsigned long)s.early_accepted,
           (unsigned long)s.early_rejected, (unsigned long)s.refused, (unsigned long)s.foreign,
           (unsigned long)s.not_issued, (unsigned long)s.expired, (unsigned long)s.dropped,
           (unsigned long)s.kept, (unsigned long)s.keys, (unsigned long)s.keys_max,
           (unsigned long)s.outstanding, (unsigned long)s.nodes, (unsigned long)s.suite,
           (unsigned long)s.memory_bytes);
}

static void serve(SSL_CTX *ctx, int fd, const struct arguments *a, pprf_tickets *tickets)
{
  static char request[65536];
  struct timeval patience = {.tv_sec = 10};
  size_t early = 0, n;
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  SSL *ssl = SSL_new(ctx);
  if (ssl == NULL || SSL_set_fd(ssl, fd) != 1)
    die("SSL_new");
  int got = receive(ssl, request, sizeof request, &early);
  if (SSL_is_init_finished(ssl)) {
    printf("%s, %s%s\n", SSL_get_version(ssl), outcome(ssl),
           early > 0 ? ", request in early data"
           : got     ? ", request"
                     : "");
    char head[256];
    int len = snprintf(head, sizeof head,
                       "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nX-Handshake: %s\r\n"
                       "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                       outcome(ssl), sizeof page - 1);
    if (got && SSL_write_ex(ssl, head, (size_t)len, &n) == 1 &&
        SSL_write_ex(ssl, page, sizeof page - 1, &n) == 1)
      (void)SSL_shutdown(ssl);
  } else {
    unsigned long e = ERR_peek_error();
    const char *reason = e != 0 ? ERR_reason_error_string(e) : NULL;
    printf("failed: %s%s\n", reason != NULL ? reason : "connection closed",
           early > 0 ? ", request in early data" : "");
  }
  ERR_clear_error();
  OPENSSL_cleanse(request, sizeof request);
  SSL_free(ssl);
  close(fd);
  if (a->stats && tickets != NULL)
    print_stats(tickets);
  char failure[512];
  while (tickets != NULL && pprf_tickets_failure(tickets, failure, sizeof failure))
    fprintf(stderr, "pprf-tls-server: %s\n", failure);
  fflush(stdout);
}

/* ---- the server ---- */

static int listen_on(unsigned *port)
{
  int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  struct sockaddr_in addr = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)*port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof addr;
  if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
      bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 || listen(fd, 128) != 0 ||
      getsockname(fd, (struct sockaddr *)&addr, &len) != 0)
    die("listening on 127.0.0.1");
  *port = ntohs(addr.sin_port);
  return fd;
}

static SSL_CTX *make_ctx(const struct arguments *a, pprf_tickets **tickets)
{
  static const unsigned char id[] = "pprf-tls-server";
  SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
  if (ctx == NULL || SSL_CTX_use_certificate_chain_file(ctx, a->cert) != 1 ||
      SSL_CTX_use_PrivateKey_file(ctx, a->key, SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1) != 1)
    die("setting up TLS");
  if (a->groups != NULL && SSL_CTX_set1_groups_list(ctx, a->groups) != 1) {
    fprintf(stderr, "pprf-tls-server: --groups: '%s' is not a list of groups\n", a->groups);
    exit(1);
  }
  if (a->openssl_tickets) {
    (void)SSL_CTX_set_max_early_data(ctx, 16384);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_ANTI_REPLAY);
    return ctx;
  }
  int err = a->servers > 0 ? pprf_tickets_new_fleet(tickets, &a->tickets, a->server, a->servers)
                           : pprf_tickets_new(tickets, &a->tickets);
  if (err == PPRF_OK)
    err = pprf_tickets_attach(ctx, *tickets);
  if (err != PPRF_OK) {
    fprintf(stderr, "pprf-tls-server: tickets: %s\n", pprf_tls_strerror(err));
    exit(4);
  }
  if (a->anti_replay)
    (void)SSL_CTX_clear_options(ctx, SSL_OP_NO_ANTI_REPLAY);
  return ctx;
}

static void work(SSL_CTX *ctx, int listener, const struct arguments *a, pprf_tickets *tickets)
{
  for (unsigned n = 0; a->connections == 0 || n < a->connections;) {
    int fd = accept(listener, NULL, NULL);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED)
        continue;
      die("accept");
    }
    serve(ctx, fd, a, tickets);
    n++;
  }
}

int main(int argc, char **argv)
{
  struct arguments a = {.tickets = {.size = sizeof a.tickets},
                        .port = 4433,
                        .workers = 1,
                        .cert = "pprf-tls-server.crt",
                        .key = "pprf-tls-server.key"};
  pprf_tickets *tickets = NULL;
  if (pprf_tickets_wipe_openssl() != PPRF_OK)
    fprintf(stderr, "pprf-tls-server: OpenSSL will not wipe freed memory\n");
  parse(&a, argc, argv);
  (void)signal(SIGPIPE, SIG_IGN);
  if (access(a.key, F_OK) != 0 && access(a.cert, F_OK) != 0)
    make_certificate(a.cert, a.key);
  SSL_CTX *ctx = make_ctx(&a, &tickets);
  int listener = listen_on(&a.port);
  printf("listening on 127.0.0.1:%u\n", a.port);
  fflush(stdout);
  if (a.workers == 1) {
    work(ctx, listener, &a, tickets);
  } else {
    for (unsigned i = 0; i < a.workers; i++) {
      pid_t pid = fork();
      if (pid < 0)
        die("fork");
      if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        work(ctx, listener, &a, tickets);
        exit(0);
      }
    }
    while (wait(NULL) > 0 || errno == EINTR)
      ;
  }
  SSL_CTX_free(ctx);
  pprf_tickets_free(tickets);
  return 0;
}
