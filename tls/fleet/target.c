/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <openssl/crypto.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { TIMEOUT_DEFAULT = 20, TIMEOUT_MAX = 1000, BUDGET_DEFAULT = 25, WORD_MAX = 512 };

static const struct {
  const char *word;
  int tls, is_unix;
} scheme[] = {{"valkey://", 0, 0},
              {"valkeys://", 1, 0},
              {"redis://", 0, 0},
              {"rediss://", 1, 0},
              {"unix://", 0, 1}};

/* Cut the text at the first of these characters.  Returns the rest, NULL if none occurs. */
static char *cut(char *text, const char *at)
{
  char *rest = strpbrk(text, at);
  if (rest != NULL)
    *rest++ = '\0';
  return rest;
}

static int digit(char c)
{
  const char *digits = "0123456789abcdef0123456789ABCDEF",
             *d = c != '\0' ? strchr(digits, c) : NULL;
  return d == NULL ? -1 : (int)(d - digits) % 16;
}

/* Decode %XX in place.  Returns whether all are well formed and none is a zero byte. */
static int decode(char *s)
{
  char *out = s;
  for (; *s != '\0'; s++, out++) {
    *out = *s;
    if (*s != '%')
      continue;
    int high = digit(s[1]), low = high < 0 ? -1 : digit(s[2]);
    if (low < 0 || high + low == 0)
      return 0;
    *out = (char)(high << 4 | low);
    s += 2;
  }
  *out = '\0';
  return 1;
}

static int number(const char *s, unsigned most, unsigned *n)
{
  *n = 0;
  for (const char *d = s; *d != '\0'; d++) {
    if (*d < '0' || *d > '9' || *n > most)
      return 0;
    *n = *n * 10 + (unsigned)(*d - '0');
  }
  return *s != '\0' && *n >= 1 && *n <= most;
}

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* On the server the name is in braces, so that a cluster keeps all its keys in one slot. */
static int is_name(const char *s)
{
  size_t n = strlen(s);
  return n > 0 && n <= 64 && strspn(s, WORD ":") == n;
}

static const char *parse_options(struct target *t, char *text)
{
  struct {
    const char *name, **value;
  } option[] = {{"passfile", &t->passfile},
                {"name", &t->name},
                {"ca", &t->ca},
                {"cert", &t->cert},
                {"key", &t->key}};
  while (text != NULL) {
    char *next = cut(text, "&"), *value = cut(text, "=");
    if (value == NULL || *value == '\0')
      return "an option is not of the form name=value";
    if (strcmp(text, "timeout") == 0) {
      if (!number(value, TIMEOUT_MAX, &t->timeout))
        return "timeout: 1..1000 milliseconds";
    } else if (strcmp(text, "budget") == 0) {
      if (!number(value, 100, &t->budget))
        return "budget: 1..100 percent";
    } else {
      size_t i = 0;
      while (i < sizeof option / sizeof *option && strcmp(text, option[i].name) != 0)
        i++;
      if (i == sizeof option / sizeof *option)
        return "the options are timeout, budget, passfile, name, ca, cert and key";
      if (!decode(value))
        return "a % is not followed by two hexadecimal digits";
      *option[i].value = value;
    }
    text = next;
  }
  return NULL;
}

/* [user[:password]@]host[:port][/name] */
static const char *parse_place(struct target *t, char *text)
{
  char *name = cut(text, "/"), *at = strrchr(text, '@'), *host = text;
  unsigned port;
  if (at != NULL) {
    *at = '\0';
    host = at + 1;
    char *password = cut(text, ":");
    if (!decode(text) || (password != NULL && !decode(password)))
      return "a % is not followed by two hexadecimal digits";
    t->user = *text != '\0' ? text : NULL;
    t->password = password;
  }
  char *tail = host;
  const char *good = WORD;
  if (*host == '[') { /* an IPv6 address, maybe with a zone */
    good = WORD ":%";
    tail = ++host;
    tail = cut(tail, "]");
    if (tail == NULL || (*tail != '\0' && *tail != ':'))
      return "an IPv6 address is between [ and ]";
  }
  t->port = cut(tail, ":");
  if (t->port == NULL)
    t->port = "6379";
  if (!number(t->port, 65535, &port))
    return "the port is a number, 1..65535";
  if (*host == '\0')
    return "there is no host";
  if (host[strspn(host, good)] != '\0')
    return "a host has letters, digits, - _ and .";
  t->host = host;
  if (name != NULL && *name != '\0')
    t->name = name;
  return NULL;
}

const char *target_parse(struct target *t, const char *url)
{
  size_t i = 0;
  const char *wrong = NULL;
  *t = (struct target){.name = "pprf", .timeout = TIMEOUT_DEFAULT, .budget = BUDGET_DEFAULT};
  while (i < sizeof scheme / sizeof *scheme &&
         strncmp(url, scheme[i].word, strlen(scheme[i].word)) != 0)
    i++;
  if (i == sizeof scheme / sizeof *scheme)
    return "it begins with valkey://, valkeys://, redis://, rediss:// or unix:///";
  t->bytes = strlen(url) + 1;
  t->text = strdup(url);
  if (t->text == NULL)
    return "there is no memory";
  char *place = t->text + strlen(scheme[i].word), *options = cut(place, "?");
  t->tls = scheme[i].tls;
  if (scheme[i].is_unix) {
    t->path = place;
    if (*place != '/' || strlen(place) >= sizeof((struct sockaddr_un){0}).sun_path)
      wrong = "a socket's path begins with / and has 107 bytes at most";
  } else {
    wrong = parse_place(t, place);
  }
  if (wrong == NULL)
    wrong = parse_options(t, options);
  if (wrong == NULL && !is_name(t->name))
    wrong = "a name has 1 to 64 letters, digits, - _ . or :";
  if (wrong == NULL && t->password != NULL && t->passfile != NULL)
    wrong = "a password and a passfile exclude each other";
  if (wrong == NULL && t->user != NULL && t->password == NULL && t->passfile == NULL)
    wrong = "a user has a password";
  if (wrong == NULL && ((t->user != NULL && strlen(t->user) > WORD_MAX) ||
                        (t->password != NULL && strlen(t->password) > WORD_MAX)))
    wrong = "user and password have 512 bytes at most";
  if (wrong == NULL && !t->tls && (t->ca != NULL || t->cert != NULL || t->key != NULL))
    wrong = "ca, cert and key are for valkeys://";
  if (wrong == NULL && (t->cert == NULL) != (t->key == NULL))
    wrong = "cert and key belong together";
  return wrong;
}

static char *read_password(const char *file)
{
  char line[WORD_MAX + 2], *password = NULL;
  FILE *f = fopen(file, "re");
  if (f == NULL)
    return NULL;
  setvbuf(f, NULL, _IONBF, 0); /* unbuffered: leave no copy of the password */
  int good = fgets(line, sizeof line, f) != NULL;
  (void)fclose(f);
  if (good) {
    line[strcspn(line, "\r\n")] = '\0';
    password = *line != '\0' && strlen(line) <= WORD_MAX ? strdup(line) : NULL;
  }
  OPENSSL_cleanse(line, sizeof line);
  return password;
}

/* The server's certificate must be for its host name or its address. */
static int set_certificates(SSL_CTX *ctx, const struct target *t)
{
  if (ctx == NULL || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1)
    return -1;
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
  (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  (void)SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  X509_VERIFY_PARAM *verify = SSL_CTX_get0_param(ctx);
  if (X509_VERIFY_PARAM_set1_ip_asc(verify, t->host) != 1 &&
      X509_VERIFY_PARAM_set1_host(verify, t->host, 0) != 1)
    return -1;
  if ((t->ca != NULL ? SSL_CTX_load_verify_file(ctx, t->ca)
                     : SSL_CTX_set_default_verify_paths(ctx)) != 1)
    return -1;
  return t->cert == NULL || (SSL_CTX_use_certificate_chain_file(ctx, t->cert) == 1 &&
                             SSL_CTX_use_PrivateKey_file(ctx, t->key, SSL_FILETYPE_PEM) == 1 &&
                             SSL_CTX_check_private_key(ctx) == 1)
           ? 0
           : -1;
}

void target_free(struct target *t)
{
  if (t->text != NULL)
    OPENSSL_cleanse(t->text, t->bytes);
  free(t->text);
  *t = (struct target){0};
}

/* ---- access ---- */

int access_read(struct access *a, const struct target *t)
{
  *a = (struct access){0};
  if (t->passfile != NULL)
    a->password = read_password(t->passfile);
  else if (t->password != NULL)
    a->password = strdup(t->password);
  int good = a->password != NULL || (t->passfile == NULL && t->password == NULL);
  if (good && t->tls) {
    a->ctx = SSL_CTX_new(TLS_client_method());
    good = set_certificates(a->ctx, t) == 0;
  }
  if (!good)
    access_free(a);
  return good ? 0 : -1;
}

int access_copy(struct access *to, const struct access *from)
{
  *to = (struct access){0};
  if (from->password != NULL && (to->password = strdup(from->password)) == NULL)
    return -1;
  if (from->ctx != NULL && SSL_CTX_up_ref(from->ctx) == 1)
    to->ctx = from->ctx;
  if (to->ctx == from->ctx)
    return 0;
  access_free(to);
  return -1;
}

int access_look_up(struct access *a, const struct target *t)
{
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  return t->host == NULL || getaddrinfo(t->host, t->port, &hints, &a->addresses) == 0 ? 0 : -1;
}

void access_free(struct access *a)
{
  if (a->addresses != NULL)
    freeaddrinfo(a->addresses);
  SSL_CTX_free(a->ctx);
  if (a->password != NULL)
    OPENSSL_cleanse(a->password, strlen(a->password));
  free(a->password);
  *a = (struct access){0};
}
