/* SPDX-License-Identifier: Apache-2.0 */
/** @file target.h
 * A server of the fleet's: what its URL says (pprf_fleet.h). */
#ifndef PPRF_TLS_TARGET_H
#define PPRF_TLS_TARGET_H

#include <netdb.h>
#include <openssl/ssl.h>

struct target {
  char *text; /* a copy of the URL, in which the strings below lie */
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

/** What is wrong with a URL, or NULL.  The caller frees *t in either case. */
const char *target_parse(struct target *t, const char *url);

/** Look its host up, and read its files: 0, or -1. */
int target_load(struct target *t);

void target_free(struct target *t);

#endif
