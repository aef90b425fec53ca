/* SPDX-License-Identifier: Apache-2.0 */
#include "codec.h"

static void put_le(uint8_t *p, unsigned bytes, uint64_t v)
{
  for (unsigned k = 0; k < bytes; k++) {
    p[k] = (uint8_t)(v & 0xff);
    v >>= 8;
  }
}

static uint64_t get_le(const uint8_t *p, unsigned bytes)
{
  uint64_t v = 0;
  for (unsigned k = bytes; k > 0; k--)
    v = v << 8 | p[k - 1];
  return v;
}

/* The first 12 bytes: all of the header but the node count. */
static void header(uint8_t h[12], unsigned d)
{
  h[0] = 'P';
  h[1] = 'P';
  h[2] = 'R';
  h[3] = 'F';
  h[4] = 'K';
  h[5] = 'E';
  h[6] = 'Y';
  h[7] = CODEC_VERSION;
  h[8] = PRG_ID;
  h[9] = (uint8_t)d;
  h[10] = 0;
  h[11] = 0;
}

static int same_bytes(const uint8_t *p, const uint8_t *q, size_t n)
{
  for (size_t k = 0; k < n; k++)
    if (p[k] != q[k])
      return 0;
  return 1;
}

size_t ref_encoded_bytes(unsigned d, size_t n)
{
  return CODEC_HEADER_BYTES + n * CODEC_RECORD_BYTES(d) + DIGEST_BYTES;
}

static void put_record(uint8_t *p, const struct ref_node *node, unsigned d)
{
  unsigned w = CODEC_ID_BYTES(d);
  put_le(p, w, 2 * node->start + ref_width(node->height));
  put_le(p + w, 8, node->seed.lo);
  put_le(p + w + 8, 8, node->seed.hi);
}

int ref_encode(uint8_t *buf, const struct ref_node *a, size_t n, unsigned d)
{
  size_t body = CODEC_HEADER_BYTES + n * CODEC_RECORD_BYTES(d);
  header(buf, d);
  put_le(buf + 12, 4, n);
  for (size_t k = 0; k < n; k++)
    put_record(buf + CODEC_HEADER_BYTES + k * CODEC_RECORD_BYTES(d), &a[k], d);
  int err = prg_digest(buf, body, buf + body);
  if (err != PPRF_OK)
    for (size_t k = 0; k < body; k++)
      buf[k] = 0;
  return err;
}

int ref_decode_header(const uint8_t *buf, size_t len, unsigned *d, size_t *n)
{
  uint8_t h[12];
  *d = 0;
  *n = 0;
  if (len < CODEC_HEADER_BYTES + DIGEST_BYTES)
    return PPRF_ERR_FORMAT;
  unsigned depth = buf[9];
  if (depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX)
    return PPRF_ERR_FORMAT;
  header(h, depth);
  uint64_t count = get_le(buf + 12, 4);
  if (!same_bytes(buf, h, 12) || count > ref_width(depth - 1) ||
      len != ref_encoded_bytes(depth, count))
    return PPRF_ERR_FORMAT;
  *d = depth;
  *n = count;
  return PPRF_OK;
}

/* The node with this in-order id: its height is the number of zero bits that the id ends with.
 * Returns 0 if the tree of depth d has no such node. */
static int node_of_id(uint64_t id, unsigned d, uint64_t *start, unsigned *height)
{
  unsigned h = 0;
  if (id == 0 || id >= ref_width(d + 1))
    return 0;
  while (id % 2 == 0) {
    id /= 2;
    h++;
  }
  *start = (id / 2) << h;
  *height = h;
  return 1;
}

/* Whether node (start, h) may follow *prev: it lies right of it and is not its sibling. */
static int follows(const struct ref_node *prev, uint64_t start, unsigned h)
{
  uint64_t end = prev->start + ref_width(prev->height);
  if (start < end)
    return 0;
  return start > end || h != prev->height || (prev->start >> h) % 2 == 1;
}

static int get_nodes(struct ref_node *a, size_t n, unsigned d, const uint8_t *p)
{
  unsigned w = CODEC_ID_BYTES(d);
  for (size_t k = 0; k < n; k++) {
    struct pprf_seed seed = {get_le(p + w, 8), get_le(p + w + 8, 8)};
    uint64_t start;
    unsigned height;
    if (!node_of_id(get_le(p, w), d, &start, &height) ||
        (k > 0 && !follows(&a[k - 1], start, height))) {
      ref_wipe(a, 0, k);
      ref_wipe_seed(&seed);
      return PPRF_ERR_FORMAT;
    }
    ref_put(a, k, (struct ref_node){start, height, seed});
    p += CODEC_RECORD_BYTES(d);
  }
  return PPRF_OK;
}

int ref_decode(struct ref_node *a, size_t n, unsigned d, const uint8_t *buf)
{
  uint8_t digest[DIGEST_BYTES];
  size_t body = CODEC_HEADER_BYTES + n * CODEC_RECORD_BYTES(d);
  int err = prg_digest(buf, body, digest);
  if (err != PPRF_OK) {
    ref_wipe(a, 0, n);
    return err;
  }
  if (!same_bytes(digest, buf + body, DIGEST_BYTES)) {
    ref_wipe(a, 0, n);
    return PPRF_ERR_FORMAT;
  }
  return get_nodes(a, n, d, buf + CODEC_HEADER_BYTES);
}
