/* SPDX-License-Identifier: Apache-2.0 */
/* JSON documents: split into values, each with its pointer (RFC 6901) in canonical form (RFC 8785). */
#include <ctype.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- canonical form ---- */

/* Increment a decimal number of n digits; false if it overflows. */
static bool increment(char *digits, size_t n)
{
  while (n-- > 0) {
    if (digits[n] != '9') {
      digits[n]++;
      return true;
    }
    digits[n] = '0';
  }
  return false;
}

/* Whether 0.digits * 10^point is read as x.  No decimal point is written, which locales change. */
static bool is_read_as(const char *digits, int point, double x)
{
  char text[40];
  snprintf(text, sizeof text, "%se%d", digits, point - (int)strlen(digits));
  return strtod(text, NULL) == x;
}

/* The fewest digits d with x = 0.d * 10^*point, and of these the closest to x: the rounded ones, or,
 * where x is a power of two and its neighbour below is nearer, those above. */
static void shortest(double x, char digits[20], int *point)
{
  for (int precision = 0; precision < 17; precision++) {
    char text[32];
    size_t n = 0;
    snprintf(text, sizeof text, "%.*e", precision, x);
    const char *c = text;
    for (; *c != 'e'; c++)
      if (isdigit((unsigned char)*c))
        digits[n++] = *c;
    digits[n] = '\0';
    *point = atoi(c + 1) + 1;
    if (is_read_as(digits, *point, x) || (increment(digits, n) && is_read_as(digits, *point, x)))
      return;
  }
}

/* RFC 8785, 3.2.2.3: ECMAScript's Number::toString. */
void redact_number(double x, char out[32])
{
  char digits[20];
  int point, k;
  if (x < 0)
    *out++ = '-';
  if (x == 0) {
    strcpy(out, "0");
    return;
  }
  shortest(x < 0 ? -x : x, digits, &point);
  k = (int)strlen(digits);
  if (k <= point && point <= 21)
    sprintf(out, "%s%0*d", digits, point - k, 0), out[point] = '\0';
  else if (0 < point && point <= 21)
    sprintf(out, "%.*s.%s", point, digits, digits + point);
  else if (-6 < point && point <= 0)
    sprintf(out, "0.%.*s%s", -point, "00000", digits);
  else
    sprintf(out, "%c%s%se%+d", *digits, k > 1 ? "." : "", digits + 1, point - 1);
}

static void put_text(struct redact_buffer *b, const char *text)
{
  redact_put(b, text, strlen(text));
}

/* RFC 8785, 3.2.2.2. */
static void put_string(struct redact_buffer *b, const char *text, size_t len)
{
  static const char shorts[] = "\bb\tt\nn\ff\rr\"\"\\\\";
  char escape[8];
  put_text(b, "\"");
  for (size_t i = 0; i < len; i++) {
    const char *s = text[i] != '\0' ? strchr(shorts, text[i]) : NULL;
    if (s != NULL && (s - shorts) % 2 == 0) {
      snprintf(escape, sizeof escape, "\\%c", s[1]);
      put_text(b, escape);
    } else if ((unsigned char)text[i] < 0x20) {
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)text[i]);
      put_text(b, escape);
    } else {
      redact_put(b, text + i, 1);
    }
  }
  put_text(b, "\"");
}

/* By UTF-16 code units (RFC 8785, 3.2.3): the order of bytes, but characters beyond U+FFFF, whose first
 * byte is at least 0xf0, come before U+E000 to U+FFFF, whose first byte is 0xee or 0xef. */
static int by_utf16(const void *a, const void *b)
{
  const unsigned char *x = *(const unsigned char *const *)a, *y = *(const unsigned char *const *)b;
  while (*x == *y && *x != '\0') {
    x++;
    y++;
  }
  if (*x >= 0xee && *y >= 0xee && (*x >= 0xf0) != (*y >= 0xf0))
    return *x >= 0xf0 ? -1 : 1;
  return (*x > *y) - (*x < *y);
}

/* The sorted names of an object, from malloc; NULL if there is no memory. */
static const char **sorted_names(json_t *object)
{
  const char **names = OPENSSL_malloc(json_object_size(object) * sizeof *names + 1);
  const char *name;
  json_t *value;
  size_t n = 0;
  if (names == NULL)
    return NULL;
  json_object_foreach(object, name, value) names[n++] = name;
  if (n > 1)
    qsort(names, n, sizeof *names, by_utf16);
  return names;
}

static void put_value(struct redact_buffer *b, json_t *value)
{
  size_t n = json_is_object(value) ? json_object_size(value) : json_array_size(value);
  const char **names = json_is_object(value) ? sorted_names(value) : NULL;
  char number[32];
  if (json_is_object(value) && names == NULL) {
    redact_fail(&b->err, PPRF_ERR_NOMEM);
  } else if (json_is_object(value) || json_is_array(value)) {
    put_text(b, names != NULL ? "{" : "[");
    for (size_t i = 0; i < n; i++) {
      put_text(b, i > 0 ? "," : "");
      if (names != NULL) {
        put_string(b, names[i], strlen(names[i]));
        put_text(b, ":");
      }
      put_value(b, names != NULL ? json_object_get(value, names[i]) : json_array_get(value, i));
    }
    put_text(b, names != NULL ? "}" : "]");
  } else if (json_is_string(value)) {
    put_string(b, json_string_value(value), json_string_length(value));
  } else if (json_is_real(value)) {
    redact_number(json_real_value(value), number);
    put_text(b, number);
  } else {
    put_text(b, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
  }
  OPENSSL_free(names);
}

/* ---- parts ---- */

struct splitter {
  const char *const *pointers;
  size_t count;
  struct redact_buffer path, part, *parts; /* the path to the present value: a pointer */
  bool *found;                             /* which pointers were */
  uint64_t done, *where;                   /* parts so far */
};

uint32_t redact_pointer_length(const uint8_t *part)
{
  return (uint32_t)part[0] << 24 | (uint32_t)part[1] << 16 | (uint32_t)part[2] << 8 | part[3];
}

bool redact_is_below(const char *pointer, const uint8_t *part, size_t len)
{
  size_t n = strlen(pointer), path = redact_pointer_length(part);
  const char *text = (const char *)part + 4;
  return path <= len - 4 && n <= path && memcmp(text, pointer, n) == 0 &&
         (n == path || text[n] == '/');
}

/* Whether the present value is one part because a pointer names it. */
static bool is_named(struct splitter *s)
{
  bool named = false;
  for (size_t i = 0; i < s->count; i++)
    if (strlen(s->pointers[i]) == s->path.len &&
        memcmp(s->pointers[i], s->path.bytes, s->path.len) == 0)
      named = s->found[i] = true;
  return named;
}

static int put_part(struct splitter *s, json_t *value)
{
  uint32_t len = (uint32_t)s->path.len;
  uint8_t start[4] = {(uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
                      (uint8_t)len};
  s->part.len = 0;
  redact_put(&s->part, start, sizeof start);
  redact_put(&s->part, s->path.bytes, s->path.len);
  put_value(&s->part, value);
  redact_fail(&s->part.err, s->path.err);
  redact_put_bytes(s->parts, s->part.bytes, s->part.len);
  redact_fail(&s->parts->err, s->part.err);
  s->done++;
  return s->parts->err;
}

/* Append /name to the path, escaped. */
static void descend(struct splitter *s, const char *name)
{
  put_text(&s->path, "/");
  for (; *name != '\0'; name++)
    if (*name == '~' || *name == '/')
      put_text(&s->path, *name == '~' ? "~0" : "~1");
    else
      redact_put(&s->path, name, 1);
}

static int split(struct splitter *s, json_t *value)
{
  size_t n = json_is_object(value) ? json_object_size(value) : json_array_size(value);
  size_t len = s->path.len;
  char index[24];
  int err = PPRF_OK;
  if (is_named(s) || n == 0)
    return put_part(s, value);
  const char **names = json_is_object(value) ? sorted_names(value) : NULL;
  if (json_is_object(value) && names == NULL)
    return PPRF_ERR_NOMEM;
  for (size_t i = 0; err == PPRF_OK && i < n; i++) {
    snprintf(index, sizeof index, "%zu", i);
    descend(s, names != NULL ? names[i] : index);
    err = s->path.len > REDACT_POINTER_MAX
            ? PPRF_REDACT_ERR_LIMIT
            : split(s, names != NULL ? json_object_get(value, names[i]) : json_array_get(value, i));
    if (err == PPRF_REDACT_ERR_LIMIT)
      *s->where = s->done;
    s->path.len = len;
  }
  OPENSSL_free(names);
  return err;
}

/* Every pointer must have named a part: none lies in another's value, none names nothing. */
static int check_pointers(const struct splitter *s)
{
  for (size_t i = 0; i < s->count; i++)
    if (!s->found[i]) {
      *s->where = i;
      return PPRF_REDACT_ERR_POINTER;
    }
  return PPRF_OK;
}

int redact_split(const struct redact_buffer *text, const char *const *pointers, size_t count,
                 struct redact_buffer *parts, uint64_t *where)
{
  json_error_t error;
  struct splitter s = {.pointers = pointers, .count = count, .parts = parts, .where = where};
  /* jansson passes over some zero bytes */
  const uint8_t *zero = text->len > 0 ? memchr(text->bytes, '\0', text->len) : NULL;
  if (zero != NULL) {
    *where = (uint64_t)(zero - text->bytes);
    return PPRF_REDACT_ERR_JSON;
  }
  /* numbers are doubles in RFC 8785 */
  json_t *whole = json_loadb(
    text->len > 0 ? (const char *)text->bytes : "", text->len,
    JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
  if (whole == NULL) {
    enum json_error_code code = json_error_code(&error);
    *where = error.position < 0 ? 0 : (uint64_t)error.position;
    return code == json_error_duplicate_key   ? PPRF_REDACT_ERR_DUPLICATE
           : code == json_error_out_of_memory ? PPRF_ERR_NOMEM
                                              : PPRF_REDACT_ERR_JSON;
  }
  s.found = OPENSSL_zalloc(count + 1);
  int err = s.found == NULL ? PPRF_ERR_NOMEM : split(&s, whole);
  if (err == PPRF_OK)
    err = check_pointers(&s);
  json_decref(whole);
  OPENSSL_free(s.found);
  redact_buffer_free(&s.path);
  redact_buffer_free(&s.part);
  return err;
}
