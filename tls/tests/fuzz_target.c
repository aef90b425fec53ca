/* SPDX-License-Identifier: Apache-2.0 */
/* URLs of ticket servers. Those in a table must mean what it says. Any other bytes that are
 * accepted are written as a URL again, with everything possible as %XX; that URL must mean the
 * same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fleet/target.h"

static const struct {
  const char *url, *wrong; /* a word of the expected error, or NULL */
  struct target t;
} table[] = {
  {"valkey://h", NULL, {.host = "h", .port = "6379", .name = "pprf", .timeout = 20, .budget = 25}},
  {"redis://h:1/n", NULL, {.host = "h", .port = "1", .name = "n", .timeout = 20, .budget = 25}},
  {"valkeys://u:p%40%2f@h:65535/a.b?ca=%2Fc%3f&timeout=1000&budget=100",
   NULL,
   {.host = "h",
    .port = "65535",
    .name = "a.b",
    .user = "u",
    .password = "p@/",
    .ca = "/c?",
    .timeout = 1000,
    .budget = 100,
    .tls = 1}},
  {"rediss://:p@q@[::1]:7/?name=x&cert=c&key=k",
   NULL,
   {.host = "::1",
    .port = "7",
    .name = "x",
    .password = "p@q",
    .cert = "c",
    .key = "k",
    .timeout = 20,
    .budget = 25,
    .tls = 1}},
  {"valkey://u@h?passfile=/f",
   NULL,
   {.host = "h",
    .port = "6379",
    .name = "pprf",
    .user = "u",
    .passfile = "/f",
    .timeout = 20,
    .budget = 25}},
  {"unix:///run/s?name=a:b", NULL, {.path = "/run/s", .name = "a:b", .timeout = 20, .budget = 25}},
  {"http://h", "begins with", {0}},
  {"valkey:/h", "begins with", {0}},
  {"valkey://", "no host", {0}},
  {"valkey://u:p@", "no host", {0}},
  {"valkey://h:", "port", {0}},
  {"valkey://h:0", "port", {0}},
  {"valkey://h:65536", "port", {0}},
  {"valkey://h:18446744073709551617", "port", {0}},
  {"valkey://::1", "port", {0}},
  {"valkey://[::1", "between [ and ]", {0}},
  {"valkey://[::1]7", "between [ and ]", {0}},
  {"valkey://[fe80::1%eth0]:7",
   NULL,
   {.host = "fe80::1%eth0", .port = "7", .name = "pprf", .timeout = 20, .budget = 25}},
  {"valkey://h]:7", "a host has", {0}},
  {"valkey://[:]:]:7", "port", {0}},
  {"valkey://[h[]:7", "a host has", {0}},
  {"valkey://h%41", "a host has", {0}},
  {"valkey://h\033", "a host has", {0}},
  {"valkey://h/a b", "a name has", {0}},
  {"valkey://h/a/b", "a name has", {0}},
  {"valkey://h/%61", "a name has", {0}},
  {"valkey://u:%0@h", "hexadecimal", {0}},
  {"valkey://u:p%00@h", "hexadecimal", {0}},
  {"valkey://u:p%g0@h", "hexadecimal", {0}},
  {"valkey://h?passfile=%", "hexadecimal", {0}},
  {"valkey://h?timeout=0", "timeout", {0}},
  {"valkey://h?timeout=1001", "timeout", {0}},
  {"valkey://h?timeout=+1", "timeout", {0}},
  {"valkey://h?budget=101", "budget", {0}},
  {"valkey://h?budget", "name=value", {0}},
  {"valkey://h?&", "name=value", {0}},
  {"valkey://h?other=1", "the options are", {0}},
  {"valkey://u@h", "a user has a password", {0}},
  {"valkey://u:p@h?passfile=f", "exclude", {0}},
  {"valkey://h?ca=c", "valkeys://", {0}},
  {"valkeys://h?cert=c", "belong together", {0}},
  {"unix://run/s", "a socket's path", {0}},
};

static void stop(const char *why, const char *url)
{
  (void)fprintf(stderr, "fuzz_target: %s: %s\n", why, url);
  abort();
}

static int equal(const char *a, const char *b)
{
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static int same(const struct target *a, const struct target *b)
{
  return equal(a->host, b->host) && equal(a->port, b->port) && equal(a->path, b->path) &&
         equal(a->name, b->name) && equal(a->user, b->user) && equal(a->password, b->password) &&
         equal(a->passfile, b->passfile) && equal(a->ca, b->ca) && equal(a->cert, b->cert) &&
         equal(a->key, b->key) && a->timeout == b->timeout && a->budget == b->budget &&
         a->tls == b->tls;
}

/* Append `before` and then the text as %XX, if there is a text. */
static char *put(char *at, const char *before, const char *text)
{
  if (text == NULL)
    return at;
  at += sprintf(at, "%s", before);
  for (; *text != '\0'; text++)
    at += sprintf(at, "%%%02x", (unsigned char)*text);
  return at;
}

static void write_again(char *at, const struct target *t)
{
  if (t->path != NULL) {
    at += sprintf(at, "unix://%s", t->path);
  } else {
    at += sprintf(at, "valkey%s://", t->tls ? "s" : "");
    if (t->user != NULL || t->password != NULL) {
      at = put(at, "", t->user);
      at = put(at, ":", t->password);
      at += sprintf(at, "@");
    }
    at += sprintf(at, "[%s]:%s", t->host, t->port);
  }
  at += sprintf(at, "?timeout=%u&budget=%u", t->timeout, t->budget);
  at = put(at, "&name=", t->name);
  at = put(at, "&passfile=", t->passfile);
  at = put(at, "&ca=", t->ca);
  at = put(at, "&cert=", t->cert);
  (void)put(at, "&key=", t->key);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc, (void)argv;
#ifndef NO_TABLE /* the planted bug must be found without it */
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct target t;
    const char *wrong = target_parse(&t, table[i].url);
    if (table[i].wrong == NULL ? wrong != NULL
                               : wrong == NULL || strstr(wrong, table[i].wrong) == NULL)
      stop(wrong == NULL ? "accepted" : wrong, table[i].url);
    if (wrong == NULL && !same(&t, &table[i].t))
      stop("means something else", table[i].url);
    target_free(&t);
  }
#endif
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
  struct target t, again;
  char *url = calloc(1, n + 1), *text = malloc(4 * n + 256);
  if (url == NULL || text == NULL)
    abort();
  memcpy(url, data, n);
  if (target_parse(&t, url) == NULL) {
    write_again(text, &t);
    const char *wrong = target_parse(&again, text);
    if (wrong != NULL || !same(&t, &again))
      stop(wrong != NULL ? wrong : text, url);
    target_free(&again);
  }
  target_free(&t);
  free(text);
  free(url);
  return 0;
}
