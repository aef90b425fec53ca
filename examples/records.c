/* SPDX-License-Identifier: Apache-2.0 */
/* Records that can be erased: each is encrypted under its own value, and erased by a puncture. */
#include <openssl/evp.h>
#include <pprf.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 16, ROOM = 64 };

/* AES-128-GCM under the value of leaf `number`, used for one record only, so the nonce may be 0. */
static int crypt(const pprf_key *key, uint64_t number, int seal, const uint8_t *in, int len,
                 uint8_t *out)
{
  static const uint8_t nonce[12];
  uint8_t value[PPRF_SEED_BYTES], tag[TAG];
  int n, err = pprf_eval(key, number, value);
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  if (!seal)
    memcpy(tag, in + len, TAG);
  if (err == PPRF_OK &&
      (c == NULL || EVP_CipherInit_ex(c, EVP_aes_128_gcm(), NULL, value, nonce, seal) != 1 ||
       EVP_CipherUpdate(c, out, &n, in, len) != 1 ||
       (!seal && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG, tag) != 1) ||
       EVP_CipherFinal_ex(c, out + n, &n) != 1 ||
       (seal && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG, out + len) != 1)))
    err = PPRF_ERR_CRYPTO;
  EVP_CIPHER_CTX_free(c);
  explicit_bzero(value, sizeof value);
  return err;
}

int main(void)
{
  static const char *const records[] = {"Ada, 36", "Grace, 85", "Edsger, 72"};
  uint8_t sealed[3][ROOM + TAG]; /* may be anywhere, also in backups */
  pprf_key *key;                 /* must not be in a backup: its punctures erase records */
  if (pprf_setup(&key, 32, NULL) != PPRF_OK)
    return 1;
  for (int i = 0; i < 3; i++)
    if (crypt(key, (uint64_t)i, 1, (const uint8_t *)records[i], (int)strlen(records[i]),
              sealed[i]) != PPRF_OK)
      return 1;
  int err = pprf_punct(key, 1); /* erase record 1 */
  for (int i = 0; i < 3 && err == PPRF_OK; i++) {
    uint8_t text[ROOM] = {0};
    int result = crypt(key, (uint64_t)i, 0, sealed[i], (int)strlen(records[i]), text);
    printf("record %d: %s\n", i, result == PPRF_OK ? (const char *)text : pprf_strerror(result));
  }
  pprf_free(key);
  return err;
}
