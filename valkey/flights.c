/* SPDX-License-Identifier: Apache-2.0 */
/* Generates first flights with early data, which tests send more than once.  Makes full TLS 1.3
 * handshakes with a server of this machine and, for each ticket received, the flight that a client
 * would send with it.
 *   flights PORT COUNT PREFIX
 * Writes COUNT flights to stdout, each with its length before it, 4 bytes, the most significant first.  The
 * early data of number i is "GET /PREFIXi HTTP/1.0\r\n\r\n". */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SESSIONS_MAX = 8 };

static SSL_SESSION *session[SESSIONS_MAX];
static unsigned sessions;

static void die(const char *what)
{
  fprintf(stderr, "flights: %s\n", what);
  exit(1);
}

static int on_session(SSL *ssl, SSL_SESSION *s)
{
  (void)ssl;
  if (sessions == SESSIONS_MAX)
    return 0;
  session[sessions++] = s;
  return 1;
}

static void full_handshake(SSL_CTX *ctx, unsigned port)
{
  static const char request[] = "GET /full HTTP/1.0\r\n\r\n";
  struct sockaddr_in a = {.sin_family = AF_INET,
                          .sin_port = htons((uint16_t)port),
                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct timeval patience = {60, 0};
  char text[1024];
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  SSL *ssl = SSL_new(ctx);
  if (fd < 0 || ssl == NULL ||
      setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) ||
      connect(fd, (struct sockaddr *)&a, sizeof a) != 0 || SSL_set_fd(ssl, fd) != 1 ||
      SSL_connect(ssl) != 1 || SSL_write(ssl, request, sizeof request - 1) <= 0)
    die("no full handshake");
  while (SSL_read(ssl, text, sizeof text) > 0)
    ;
  (void)SSL_shutdown(ssl); /* without it OpenSSL marks the sessions as bad */
  SSL_free(ssl);
  (void)close(fd);
}

static void write_flight(SSL_CTX *ctx, SSL_SESSION *s, const char *request)
{
  SSL *ssl = SSL_new(ctx);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  char *bytes;
  size_t n;
  if (ssl == NULL || in == NULL || out == NULL)
    die("no memory");
  SSL_set_bio(ssl, in, out);
  SSL_set_connect_state(ssl);
  if (SSL_set_session(ssl, s) != 1 || SSL_write_early_data(ssl, request, strlen(request), &n) != 1)
    die("no early data");
  uint32_t length = (uint32_t)BIO_get_mem_data(out, &bytes), first = htonl(length);
  if (fwrite(&first, sizeof first, 1, stdout) != 1 || fwrite(bytes, length, 1, stdout) != 1)
    die("cannot write");
  SSL_free(ssl);
}

int main(int argc, char **argv)
{
  char request[128];
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  if (argc != 4 || ctx == NULL)
    die("usage: flights PORT COUNT PREFIX");
  (void)SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION);
  (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, on_session);
  for (int made = 0; made < atoi(argv[2]);) {
    full_handshake(ctx, (unsigned)atoi(argv[1]));
    if (sessions == 0)
      die("no tickets");
    for (; sessions > 0; SSL_SESSION_free(session[sessions])) {
      if (SSL_SESSION_get_max_early_data(session[--sessions]) == 0)
        die("a ticket without early data");
      (void)snprintf(request, sizeof request, "GET /%s%d HTTP/1.0\r\n\r\n", argv[3], made);
      if (made++ < atoi(argv[2]))
        write_flight(ctx, session[sessions], request);
    }
  }
  SSL_CTX_free(ctx);
  return 0;
}
