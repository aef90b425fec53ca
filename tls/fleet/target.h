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
  char *read_password; /* passfile's */
  struct addrinfo *addresses;
  SSL_CTX *ctx;
};

/** Parse a URL.  Returns NULL, or what is wrong with it; the caller frees *t in either case. */
const char *target_parse(struct target *t, const char *url);

/** Look up its host and read its files.  Returns 0 or -1. */
int target_load(struct target *t);

void target_free(struct target *t);

#endif
