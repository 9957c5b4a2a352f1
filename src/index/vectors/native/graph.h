// hnswlib's graph for one thread, with distances of several neighbours at once.
//
// Every step takes the neighbours in the order of hnswlib and compares the same distances, so the graph, its file and
// the results have the same bytes. What differs: a node's unvisited neighbours are measured together, no lock is taken,
// the lists of a search keep their memory, and hidden labels are read from an array.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "hnswlib.h"

#include "distances.h"

namespace ragpp {

using hnswlib::labeltype;
using hnswlib::tableint;

using Near = std::pair<float, tableint>;

/** A heap by distance that can be emptied without freeing its memory. */
struct CompareDistance {
  bool operator()(const Near &a, const Near &b) const { return a.first < b.first; }
};
struct Heap : std::priority_queue<Near, std::vector<Near>, CompareDistance> {
  void clear() { c.clear(); }
};

class Graph : public hnswlib::HierarchicalNSW<float> {
 public:
  using Base = hnswlib::HierarchicalNSW<float>;

  Graph(hnswlib::SpaceInterface<float> *space, Measure measure, size_t dimension, size_t capacity, size_t m,
        size_t efConstruction, size_t seed)
      : Base(space, capacity, m, efConstruction, seed), measure_(measure), dimension_(dimension) {
    adviseHugePages();
  }

  /** @throws std::runtime_error for a file that is not of a graph with this dimension. */
  Graph(hnswlib::SpaceInterface<float> *space, Measure measure, size_t dimension, const std::string &path)
      : Base(space, path), measure_(measure), dimension_(dimension) {
    if (label_offset_ - offsetData_ != data_size_) throw std::runtime_error("The file has vectors of another dimension");
  }

  /** Adds a row with a new label; the graph grows to twice its size when it is full. */
  void add(const float *row, labeltype label) {
    if (label_lookup_.count(label) > 0) throw std::runtime_error("The label is in the graph");
    if (cur_element_count >= max_elements_) {
      resizeIndex(2 * max_elements_);
      adviseHugePages();
    }
    const tableint added = cur_element_count++;
    label_lookup_[label] = added;
    const int level = getRandomLevel(mult_);
    element_levels_[added] = level;
    writeNode(added, row, label, level);
    const int highest = maxlevel_;
    const tableint entry = enterpoint_node_;
    if (added == 0) {
      enterpoint_node_ = 0;
      maxlevel_ = level;
      return;
    }
    const bool isEntryHidden = isMarkedDeleted(entry);
    tableint nearest = level < highest ? descend(row, entry, highest, level) : entry;
    for (int at = std::min(level, highest); at >= 0; at--) {
      searchLayer(row, nearest, ef_construction_, at, nullptr, 0);
      if (isEntryHidden) {
        nearest_.emplace(measureNode(row, entry), entry);
        if (nearest_.size() > ef_construction_) nearest_.pop();
      }
      nearest = connect(added, at, nearest);
    }
    if (level > highest) {
      enterpoint_node_ = added;
      maxlevel_ = level;
    }
  }

  /**
   * The nearest k, the farthest on top.
   *
   * @param shown of each label below `labels`, 1 if it may be found; null: every label.
   */
  std::priority_queue<std::pair<float, labeltype>> search(const float *query, size_t k, const uint8_t *shown,
                                                           size_t labels) {
    std::priority_queue<std::pair<float, labeltype>> found;
    if (cur_element_count == 0) return found;
    const tableint entry = descend(query, enterpoint_node_, maxlevel_, 0);
    searchLayer(query, entry, std::max(ef_, k), 0, shown, labels);
    while (nearest_.size() > k) nearest_.pop();
    for (; !nearest_.empty(); nearest_.pop()) found.emplace(nearest_.top().first, getExternalLabel(nearest_.top().second));
    return found;
  }

 private:
  const Measure measure_;
  const size_t dimension_;
  /** The nodes that are measured together, their rows and distances. */
  std::vector<tableint> nodes_;
  std::vector<const float *> rows_;
  std::vector<float> distances_;
  /** The result of the last search of a layer, and its nodes that were not expanded. */
  Heap nearest_, open_;
  std::vector<Near> sorted_, kept_;

  /**
   * Asks for pages of 2 MiB under the nodes: a walk jumps from node to node, and each jump into another small page looks
   * its address up in memory.
   */
  void adviseHugePages() {
#ifdef MADV_HUGEPAGE
    const uintptr_t page = 2 << 20, start = (uintptr_t)data_level0_memory_;
    const uintptr_t first = (start + page - 1) / page * page, end = start + max_elements_ * size_data_per_element_;
    if (end > first) madvise((void *)first, end - first, MADV_HUGEPAGE);
#endif
  }

  const float *getRow(tableint node) const { return (const float *)getDataByInternalId(node); }

  /** The beginning of a row: the processor finds the rest by itself, and more of it here delays the other rows. */
  void prefetchRow(tableint node) const {
    const char *row = getDataByInternalId(node);
    _mm_prefetch(row, _MM_HINT_T0);
    _mm_prefetch(row + 64, _MM_HINT_T0);
  }

  float measureNode(const float *query, tableint node) const {
    const float *row = getRow(node);
    float distance;
    measure_(query, &row, 1, dimension_, &distance);
    return distance;
  }

  /** Measures `nodes_`. */
  void measureNodes(const float *query) {
    rows_.resize(nodes_.size());
    distances_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); i++) rows_[i] = getRow(nodes_[i]);
    measure_(query, rows_.data(), nodes_.size(), dimension_, distances_.data());
  }

  void writeNode(tableint node, const float *row, labeltype label, int level) {
    memset(data_level0_memory_ + node * size_data_per_element_ + offsetLevel0_, 0, size_data_per_element_);
    setExternalLabel(node, label);
    memcpy(getDataByInternalId(node), row, data_size_);
    if (level == 0) return;
    const size_t bytes = size_links_per_element_ * level + 1;
    linkLists_[node] = (char *)calloc(bytes, 1);
    if (linkLists_[node] == nullptr) throw std::runtime_error("Not enough memory for the links of a node");
  }

  /** Walks to the node nearest to `query` on each layer above `lowest`. */
  tableint descend(const float *query, tableint entry, int highest, int lowest) {
    tableint current = entry;
    float best = measureNode(query, entry);
    for (int level = highest; level > lowest; level--) {
      for (bool changed = true; changed;) {
        changed = false;
        const unsigned int *links = get_linklist(current, level);
        nodes_.assign(links + 1, links + 1 + getListCount((hnswlib::linklistsizeint *)links));
        measureNodes(query);
        for (size_t i = 0; i < nodes_.size(); i++) {
          if (!(distances_[i] < best)) continue;
          best = distances_[i];
          current = nodes_[i];
          changed = true;
        }
      }
    }
    return current;
  }

  bool isShown(tableint node, const uint8_t *shown, size_t labels) const {
    if (isMarkedDeleted(node)) return false;
    if (shown == nullptr) return true;
    const labeltype label = getExternalLabel(node);
    return label < labels && shown[label] != 0;
  }

  /** Lists the neighbours of a node that were not visited, and marks them. */
  void listUnvisited(tableint node, int level, hnswlib::vl_type *visited, hnswlib::vl_type tag) {
    const unsigned int *links = get_linklist_at_level(node, level);
    const size_t count = getListCount((hnswlib::linklistsizeint *)links);
    nodes_.clear();
    for (size_t i = 1; i <= count; i++) {
      const tableint neighbour = links[i];
      if (visited[neighbour] == tag) continue;
      visited[neighbour] = tag;
      nodes_.push_back(neighbour);
      prefetchRow(neighbour);
    }
  }

  /** Leaves the nearest `ef` of a layer in `nearest_`. */
  void searchLayer(const float *query, tableint entry, size_t ef, int level, const uint8_t *shown, size_t labels) {
    hnswlib::VisitedList *list = visited_list_pool_->getFreeVisitedList();
    hnswlib::vl_type *visited = list->mass;
    const hnswlib::vl_type tag = list->curV;
    const bool isFiltered = shown != nullptr || num_deleted_ > 0;
    nearest_.clear();
    open_.clear();
    float bound = std::numeric_limits<float>::max();
    if (!isFiltered || isShown(entry, shown, labels)) {
      bound = measureNode(query, entry);
      nearest_.emplace(bound, entry);
    }
    open_.emplace(-bound, entry);
    visited[entry] = tag;
    while (!open_.empty()) {
      const Near current = open_.top();
      if (-current.first > bound && nearest_.size() == ef) break;
      open_.pop();
      listUnvisited(current.second, level, visited, tag);
      measureNodes(query);
      for (size_t i = 0; i < nodes_.size(); i++) {
        if (nearest_.size() >= ef && !(bound > distances_[i])) continue;
        open_.emplace(-distances_[i], nodes_[i]);
        if (!isFiltered || isShown(nodes_[i], shown, labels)) nearest_.emplace(distances_[i], nodes_[i]);
        if (nearest_.size() > ef) nearest_.pop();
        if (!nearest_.empty()) bound = nearest_.top().first;
      }
      if (!open_.empty()) _mm_prefetch((const char *)get_linklist_at_level(open_.top().second, level), _MM_HINT_T0);
    }
    visited_list_pool_->releaseVisitedList(list);
  }

  /** True if a node is nearer to its query than to each node that was kept. */
  bool isDiverse(const Near &candidate) {
    static const size_t TOGETHER = 8;
    const float *rows[TOGETHER];
    float distances[TOGETHER];
    for (size_t start = 0; start < kept_.size(); start += TOGETHER) {
      const size_t count = std::min(TOGETHER, kept_.size() - start);
      for (size_t i = 0; i < count; i++) rows[i] = getRow(kept_[start + i].second);
      measure_(getRow(candidate.second), rows, count, dimension_, distances);
      for (size_t i = 0; i < count; i++)
        if (distances[i] < candidate.first) return false;
    }
    return true;
  }

  /** Reduces a heap to at most `most` nodes in different directions. */
  void selectNeighbours(Heap &heap, size_t most) {
    if (heap.size() < most) return;
    sorted_.clear();
    for (; !heap.empty(); heap.pop()) sorted_.emplace_back(-heap.top().first, heap.top().second);
    std::make_heap(sorted_.begin(), sorted_.end());
    kept_.clear();
    for (; !sorted_.empty() && kept_.size() < most; sorted_.pop_back()) {
      std::pop_heap(sorted_.begin(), sorted_.end());
      const Near candidate(-sorted_.back().first, sorted_.back().second);
      if (isDiverse(candidate)) kept_.push_back(candidate);
    }
    for (const Near &node : kept_) heap.push(node);
  }

  /** Links a new node with the best of `nearest_`. @returns the nearest of them, or `entry` if there is none. */
  tableint connect(tableint added, int level, tableint entry) {
    selectNeighbours(nearest_, M_);
    unsigned int *links = get_linklist_at_level(added, level);
    size_t count = 0;
    for (; !nearest_.empty(); nearest_.pop()) links[++count] = nearest_.top().second;
    setListCount(links, count);
    for (size_t i = 1; i <= count; i++) addLink(links[i], added, level);
    return count == 0 ? entry : links[count];
  }

  /** Adds a link from a node to another; a full node keeps the best of its links. */
  void addLink(tableint node, tableint added, int level) {
    unsigned int *links = get_linklist_at_level(node, level);
    const size_t count = getListCount(links), most = level == 0 ? maxM0_ : maxM_;
    if (count < most) {
      links[count + 1] = added;
      setListCount(links, count + 1);
      return;
    }
    nodes_.assign(1, added);
    nodes_.insert(nodes_.end(), links + 1, links + 1 + count);
    measureNodes(getRow(node));
    Heap &heap = open_;
    heap.clear();
    for (size_t i = 0; i < nodes_.size(); i++) heap.emplace(distances_[i], nodes_[i]);
    selectNeighbours(heap, most);
    size_t kept = 0;
    for (; !heap.empty(); heap.pop()) links[++kept] = heap.top().second;
    setListCount(links, kept);
  }
};

}  // namespace ragpp
