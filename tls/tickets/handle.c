/* SPDX-License-Identifier: Apache-2.0 */
#include "handle.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../opt/key.h" /* ref has one of its own */

size_t handle_bytes(unsigned depth)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = opt_store_mapped_bytes(depth);
  return mapped == 0 ? 0 : mapped + (opt_store_small_bytes(depth) + page - 1) / page * page;
}

int handle_new(pprf_key **key, unsigned depth, void *memory)
{
  *key = calloc(1, sizeof **key);
  if (*key == NULL)
    return PPRF_ERR_NOMEM;
  opt_store_lay_out(&(*key)->store, depth, memory,
                    (unsigned char *)memory + opt_store_mapped_bytes(depth), 1);
  return PPRF_OK;
}

void handle_lock(const pprf_key *key)
{
  if (key->store.locked)
    (void)mlock2(key->store.slot, sizeof(struct pprf_seed) << (key->store.punctured.depth - 1),
                 MLOCK_ONFAULT);
}

void handle_set_family(pprf_key *key, struct pprf_family family)
{
  key->family = family;
}

void handle_set_nodes(pprf_key *key, uint64_t nodes)
{
  key->store.nodes = nodes;
}

size_t handle_own_bytes(const pprf_key *key)
{
  /* glibc keeps the size of a block in the 8 bytes before it */
  return malloc_usable_size((void *)(uintptr_t)key) + sizeof(size_t);
}

size_t handle_memory_bytes(const pprf_key *key)
{
  /* small levels are not counted by the store */
  return handle_own_bytes(key) + opt_store_resident_bytes(&key->store) +
         opt_store_small_bytes(key->store.punctured.depth);
}

void handle_free(pprf_key *key)
{
  free(key);
}
