// SPDX-License-Identifier: Apache-2.0
#include "baselines.h"

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <vector>

extern "C" {
#include "lanes.h"
#include "prg.h"
}

namespace {

struct Node {
  uint64_t id; // in-order: 2*start + 2^height
  pprf_seed seed;
};

unsigned height(uint64_t id)
{
  return static_cast<unsigned>(__builtin_ctzll(id));
}

uint64_t start(uint64_t id)
{
  return (id - (UINT64_C(1) << height(id))) / 2;
}

uint64_t id_of(uint64_t leaf, unsigned h) // of the node of height h above the leaf
{
  return 2 * (leaf >> h << h) + (UINT64_C(1) << h);
}

bool covers(uint64_t id, uint64_t leaf)
{
  return leaf >> height(id) == start(id) >> height(id);
}

// Heap blocks of one size with the allocator's overhead (the chunk's size field).
size_t block_bytes(const void *block)
{
  return malloc_usable_size(const_cast<void *>(block)) + sizeof(size_t);
}

// A store finds the node that covers a leaf and replaces it with others, given in leaf order.

class List28 {
  struct __attribute__((packed)) Element {
    Element *next;
    pprf_seed seed;
    uint32_t id;
  };
  static_assert(sizeof(Element) == 28, "the paper's size");
  Element *first_ = nullptr, *last_ = nullptr;
  size_t count_ = 0, bytes_ = 0;

public:
  static constexpr unsigned depth_max = BASELINE_DEPTH_MAX;
  struct Position {
    Element *element, *before;
  };

  List28() = default;
  List28(const List28 &) = delete;
  List28 &operator=(const List28 &) = delete;
  ~List28()
  {
    while (first_ != nullptr)
      remove({first_, nullptr});
  }

  bool find(uint64_t leaf, Position *p, Node *node) const
  {
    Element *before = nullptr;
    for (Element *e = first_; e != nullptr; before = e, e = e->next)
      if (covers(e->id, leaf)) {
        *p = {e, before};
        *node = {e->id, e->seed};
        return true;
      }
    return false;
  }

  void remove(Position p)
  {
    (p.before != nullptr ? p.before->next : first_) = p.element->next;
    if (last_ == p.element)
      last_ = p.before;
    bytes_ -= block_bytes(p.element);
    count_--;
    free(p.element);
  }

  void append(const Node &n)
  {
    auto *e = static_cast<Element *>(malloc(sizeof(Element)));
    if (e == nullptr)
      throw std::bad_alloc();
    *e = {nullptr, n.seed, static_cast<uint32_t>(n.id)};
    (last_ != nullptr ? last_->next : first_) = e;
    last_ = e;
    bytes_ += block_bytes(e);
    count_++;
  }

  void replace(Position p, const Node *nodes, size_t n)
  {
    remove(p);
    std::for_each(nodes, nodes + n, [this](const Node &x) { append(x); });
  }

  size_t size() const { return count_; }
  size_t bytes() const { return bytes_; }
};

size_t tree_bytes; // of all stores with a Counted allocator

template <class T> struct Counted {
  using value_type = T;
  Counted() = default;
  template <class U> Counted(const Counted<U> &) {}
  T *allocate(size_t n)
  {
    void *block = ::operator new(n * sizeof(T));
    tree_bytes += block_bytes(block);
    return static_cast<T *>(block);
  }
  void deallocate(T *block, size_t)
  {
    tree_bytes -= block_bytes(block);
    ::operator delete(block);
  }
  template <class U> bool operator==(const Counted<U> &) const { return true; }
  template <class U> bool operator!=(const Counted<U> &) const { return false; }
};

class Tree {
  using Map = std::map<uint32_t, pprf_seed, std::less<uint32_t>,
                       Counted<std::pair<const uint32_t, pprf_seed>>>;
  Map map_;

public:
  static constexpr unsigned depth_max = BASELINE_DEPTH_MAX;
  using Position = Map::const_iterator;

  bool find(uint64_t leaf, Position *p, Node *node) const
  {
    *p = map_.lower_bound(static_cast<uint32_t>(2 * leaf + 1));
    if (*p == map_.end() || !covers((*p)->first, leaf)) {
      if (*p == map_.begin())
        return false;
      --*p; // the leaf may be in the right half of the previous node
    }
    *node = {(*p)->first, (*p)->second};
    return covers(node->id, leaf);
  }

  void replace(Position p, const Node *nodes, size_t n)
  {
    p = map_.erase(p);
    for (; n > 0; n--)
      p = map_.emplace_hint(p, static_cast<uint32_t>(nodes[n - 1].id), nodes[n - 1].seed);
  }

  void append(const Node &n) { map_.emplace(static_cast<uint32_t>(n.id), n.seed); }
  size_t size() const { return map_.size(); }
  size_t bytes() const { return tree_bytes; }
};

class Array {
  struct __attribute__((packed)) Record {
    uint32_t id;
    pprf_seed seed;
  };
  static_assert(sizeof(Record) == 20, "packed");
  std::vector<Record> v_;

public:
  static constexpr unsigned depth_max = BASELINE_DEPTH_MAX;
  using Position = size_t;

  bool find(uint64_t leaf, Position *p, Node *node) const
  {
    auto it = std::lower_bound(v_.begin(), v_.end(), 2 * leaf + 1,
                               [](const Record &r, uint64_t id) { return r.id < id; });
    *p = static_cast<size_t>(it - v_.begin());
    if (*p == v_.size() || !covers(v_[*p].id, leaf)) {
      if (*p == 0)
        return false;
      --*p;
    }
    *node = {v_[*p].id, v_[*p].seed};
    return covers(node->id, leaf);
  }

  void replace(Position p, const Node *nodes, size_t n)
  {
    auto it = v_.begin() + static_cast<ptrdiff_t>(p);
    if (n == 0) {
      v_.erase(it);
      return;
    }
    v_.insert(it, n - 1, Record());
    for (size_t i = 0; i < n; i++)
      v_[p + i] = {static_cast<uint32_t>(nodes[i].id), nodes[i].seed};
  }

  void append(const Node &n) { v_.push_back({static_cast<uint32_t>(n.id), n.seed}); }
  size_t size() const { return v_.size(); }
  size_t bytes() const { return v_.capacity() > 0 ? block_bytes(v_.data()) : 0; }
};

// A B-tree of nodes by 8-byte ids (Abseil).
class BTree {
  using Map = absl::btree_map<uint64_t, pprf_seed, std::less<uint64_t>,
                              Counted<std::pair<const uint64_t, pprf_seed>>>;
  Map map_;

public:
  static constexpr unsigned depth_max = WIDE_DEPTH_MAX;
  using Position = Map::const_iterator;

  bool find(uint64_t leaf, Position *p, Node *node) const
  {
    *p = map_.lower_bound(2 * leaf + 1);
    if (*p == map_.end() || !covers((*p)->first, leaf)) {
      if (*p == map_.begin())
        return false;
      --*p; // the leaf may be in the right half of the previous node
    }
    *node = {(*p)->first, (*p)->second};
    return covers(node->id, leaf);
  }

  void replace(Position p, const Node *nodes, size_t n)
  {
    p = map_.erase(p);
    for (; n > 0; n--)
      p = map_.emplace_hint(p, nodes[n - 1].id, nodes[n - 1].seed);
  }

  void append(const Node &n) { map_.emplace(n.id, n.seed); }
  size_t size() const { return map_.size(); }
  size_t bytes() const { return tree_bytes; }
};

// A hash map of nodes by 8-byte ids (Abseil). A leaf's node is looked up at each height.
class Hash {
  using Map =
    absl::flat_hash_map<uint64_t, pprf_seed, absl::Hash<uint64_t>, std::equal_to<uint64_t>,
                        Counted<std::pair<const uint64_t, pprf_seed>>>;
  Map map_;
  unsigned top_ = 0; // height of the root

public:
  static constexpr unsigned depth_max = WIDE_DEPTH_MAX;
  using Position = Map::const_iterator;

  bool find(uint64_t leaf, Position *p, Node *node) const
  {
    for (unsigned h = 0; h <= top_; h++) {
      *p = map_.find(id_of(leaf, h));
      if (*p != map_.end()) {
        *node = {(*p)->first, (*p)->second};
        return true;
      }
    }
    return false;
  }

  void replace(Position p, const Node *nodes, size_t n)
  {
    map_.erase(p);
    for (size_t i = 0; i < n; i++)
      map_.emplace(nodes[i].id, nodes[i].seed);
  }

  void append(const Node &n)
  {
    map_.emplace(n.id, n.seed);
    top_ = std::max(top_, height(n.id));
  }
  size_t size() const { return map_.size(); }
  size_t bytes() const { return tree_bytes; }
};

// The API over a store; a pprf_key is a Key<Store>.

template <class Store> struct Key {
  unsigned depth;
  Store store;
};

template <class Store> Key<Store> *cast(const pprf_key *key)
{
  return reinterpret_cast<Key<Store> *>(const_cast<pprf_key *>(key));
}

void store_seed(uint8_t out[PPRF_SEED_BYTES], pprf_seed seed)
{
  memcpy(out, &seed, PPRF_SEED_BYTES); // two little-endian words, as on the machines we measure
}

template <class Store>
int setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES])
{
  if (depth < PPRF_DEPTH_MIN || depth > Store::depth_max)
    return PPRF_ERR_RANGE;
  Node root = {UINT64_C(1) << depth, {0, 0}};
  if (seed != nullptr)
    memcpy(&root.seed, seed, PPRF_SEED_BYTES);
  else if (prg_random(&root.seed) != PPRF_OK)
    return PPRF_ERR_CRYPTO;
  auto *k = new Key<Store>{depth, {}};
  k->store.append(root);
  *key = reinterpret_cast<pprf_key *>(k);
  return PPRF_OK;
}

// From a node down to a leaf: the leaf's seed and, if wanted, the seeds beside the path, by height.
// A single function call if the PRG has a walk, as in opt.
int walk(pprf_seed seed, uint64_t leaf, unsigned height, pprf_seed *beside, pprf_seed *value)
{
  const pprf_family bare = {PRG_SHA3_256, 0, 0};
  if (opt_descend(bare, seed, leaf, height, beside, value) != 0)
    return PPRF_OK;
  for (unsigned h = height; h > 0; h--) {
    const pprf_children c = prg_expand(bare, seed, leaf >> h << h, h);
    const bool right = (leaf >> (h - 1) & 1) != 0;
    if (c.err != PPRF_OK)
      return c.err;
    seed = right ? c.right : c.left;
    if (beside != nullptr)
      beside[h - 1] = right ? c.left : c.right;
  }
  *value = seed;
  return PPRF_OK;
}

template <class Store> int access(Key<Store> *key, uint64_t leaf, uint8_t *out, bool change)
{
  typename Store::Position position;
  Node node, left[WIDE_DEPTH_MAX], right[WIDE_DEPTH_MAX], copath[WIDE_DEPTH_MAX];
  size_t lefts = 0, rights = 0;
  if (leaf >> key->depth != 0)
    return PPRF_ERR_RANGE;
  if (!key->store.find(leaf, &position, &node))
    return PPRF_ERR_PUNCTURED;
  const unsigned top = height(node.id);
  pprf_seed seed, beside[WIDE_DEPTH_MAX];
  const int err = walk(node.seed, leaf, top, change ? beside : nullptr, &seed);
  if (err != PPRF_OK)
    return err;
  for (unsigned h = change ? top : 0; h > 0; h--) {
    const uint64_t first = leaf >> h << h, half = UINT64_C(1) << (h - 1);
    if ((leaf & half) == 0)
      right[rights++] = {2 * (first + half) + half, beside[h - 1]};
    else
      left[lefts++] = {2 * first + half, beside[h - 1]};
  }
  if (out != nullptr)
    store_seed(out, seed);
  if (change) {
    std::copy(left, left + lefts, copath);
    std::reverse_copy(right, right + rights, copath + lefts);
    key->store.replace(position, copath, lefts + rights);
  }
  return PPRF_OK;
}

template <class Store> int eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  return access(cast<Store>(key), leaf, out, false);
}

template <class Store> int punct(pprf_key *key, uint64_t leaf)
{
  return access(cast<Store>(key), leaf, nullptr, true);
}

template <class Store> int eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  return access(cast<Store>(key), leaf, out, true);
}

template <class Store> int punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  int result = PPRF_ERR_PUNCTURED;
  for (uint64_t leaf = first; leaf <= last; leaf++) {
    const int err = punct<Store>(key, leaf);
    if (err == PPRF_OK)
      result = PPRF_OK;
    else if (err != PPRF_ERR_PUNCTURED)
      return err;
  }
  return result;
}

template <class Store> size_t node_count(const pprf_key *key)
{
  return cast<Store>(key)->store.size();
}

template <class Store> size_t memory_bytes(const pprf_key *key)
{
  return cast<Store>(key)->store.bytes() + block_bytes(key);
}

template <class Store> unsigned depth(const pprf_key *key)
{
  return cast<Store>(key)->depth;
}

template <class Store> void destroy(pprf_key *key)
{
  delete cast<Store>(key);
}

template <class Store> constexpr pprf_impl make(const char *name)
{
  return {name,
          setup<Store>,
          nullptr,
          eval<Store>,
          punct<Store>,
          eval_punct<Store>,
          punct_range<Store>,
          nullptr,
          node_count<Store>,
          memory_bytes<Store>,
          nullptr,
          depth<Store>,
          nullptr,
          nullptr,
          nullptr,
          nullptr,
          nullptr,
          destroy<Store>};
}

} // namespace

const struct pprf_impl impl_list28 = make<List28>("list28");
const struct pprf_impl impl_bst = make<Tree>("bst");
const struct pprf_impl impl_array = make<Array>("array");
const struct pprf_impl impl_btree = make<BTree>("btree");
const struct pprf_impl impl_hash = make<Hash>("hash");

static int setup_slots(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES])
{
  pprf_options options = {};
  options.size = sizeof options;
  options.seed = seed;
  options.depth = depth;
  options.store = PPRF_STORE_SLOTS;
  return impl_opt.setup_with(key, &options);
}

static int import_into_slots(pprf_key **key, const uint8_t *buf, size_t len)
{
  pprf_import_options options = {};
  options.size = sizeof options;
  options.store = PPRF_STORE_SLOTS;
  return impl_opt.import_with(key, buf, len, &options);
}

static pprf_impl opt_in_slots()
{
  pprf_impl impl = impl_opt;
  impl.name = "slots";
  impl.setup = setup_slots;
  impl.import_key = import_into_slots;
  return impl;
}
const struct pprf_impl impl_slots = opt_in_slots();
