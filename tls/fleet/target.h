/* SPDX-License-Identifier: Apache-2.0 */
/** @file target.h
 * A server of the fleet, as parsed from its URL (pprf_fleet.h). */
#ifndef PPRF_TLS_TARGET_H
#define PPRF_TLS_TARGET_H

#include <netdb.h>
#include <openssl/ssl.h>

struct target {
  char *text; /* a copy of the URL, which holds the strings below */
  size_t bytes;
  const char *host, *port; /* host NULL: a Unix socket at path */
  const char *path, *name, *user, *password, *passfile, *ca, *cert, *key;
  unsigned timeout; /* ms */
  unsigned budget;  /* percent */
  int tls;
};

/** What a connection needs beside the URL. */
struct access {
  char *password;             /* NULL: none */
  SSL_CTX *ctx;               /* NULL: no TLS */
  struct addrinfo *addresses; /* NULL: not looked up, or a Unix socket */
};

/** Parse a URL.  Returns NULL, or what is wrong with it; the caller frees *t in either case. */
const char *target_parse(struct target *t, const char *url);

void target_free(struct target *t);

/** Read the target's files: its password and certificates.  Returns 0, or -1 and nothing. */
int access_read(struct access *a, const struct target *t);

/** Copy the password and share the certificates.  Returns 0, or -1 and nothing. */
int access_copy(struct access *to, const struct access *from);

/** Look up the target's host.  Returns 0 or -1. */
int access_look_up(struct access *a, const struct target *t);

void access_free(struct access *a);

#endif
