#include "host/sim/counts/run_tree.hpp"

#include <algorithm>
#include <cassert>

namespace berth::sim {

JobPlace RunTree::first() const {
  if (root_ < 0) return kNoJob;
  std::int32_t entry = root_;
  while (at(entry).before >= 0) entry = at(entry).before;
  return at(entry).place;
}

JobPlace RunTree::first_behind(const JobPlace& place, TimeUs longest) const {
  const std::int32_t found = search(root_, place, longest);
  return found < 0 ? kNoJob : at(found).place;
}

// Entries behind `place` are whole subtrees but for those on one path, so that few searches fail.
std::int32_t RunTree::search(std::int32_t below, const JobPlace& place, TimeUs longest) const {
  while (below >= 0 && at(below).shortest <= longest) {
    const Entry& entry = at(below);
    if (place < entry.place) {
      const std::int32_t found = search(entry.before, place, longest);
      if (found >= 0) return found;
      if (entry.run <= longest) return below;
    }
    below = entry.behind;
  }
  return -1;
}

void RunTree::update(std::int32_t entry) {
  Entry& of = at(entry);
  of.shortest = of.run;
  if (of.before >= 0) of.shortest = std::min(of.shortest, at(of.before).shortest);
  if (of.behind >= 0) of.shortest = std::min(of.shortest, at(of.behind).shortest);
}

void RunTree::insert(const JobPlace& place, TimeUs run) {
  std::int32_t entry = static_cast<std::int32_t>(entries_.size());
  if (unused_.empty()) {
    entries_.emplace_back();
  } else {
    entry = unused_.back();
    unused_.pop_back();
  }
  drawn_ = drawn_ * 6364136223846793005U + 1442695040888963407U;
  at(entry) = {place, run, run, -1, -1, static_cast<std::uint32_t>(drawn_ >> 32)};
  insert_below(root_, entry);
}

void RunTree::insert_below(std::int32_t& root, std::int32_t entry) {
  if (root >= 0 && at(root).height >= at(entry).height) {
    insert_below(at(entry).place < at(root).place ? at(root).before : at(root).behind, entry);
    update(root);
    return;
  }
  split(root, at(entry).place, at(entry).before, at(entry).behind);
  update(entry);
  root = entry;
}

/// The entries of `root` before `place`, and the others.
void RunTree::split(std::int32_t root, const JobPlace& place, std::int32_t& before, std::int32_t& behind) {
  if (root < 0) {
    before = behind = -1;
  } else if (at(root).place < place) {
    before = root;
    split(at(root).behind, place, at(root).behind, behind);
    update(root);
  } else {
    behind = root;
    split(at(root).before, place, before, at(root).before);
    update(root);
  }
}

/// All entries of `before` are before those of `behind`.
std::int32_t RunTree::join(std::int32_t before, std::int32_t behind) {
  if (before < 0 || behind < 0) return std::max(before, behind);
  if (at(before).height >= at(behind).height) {
    at(before).behind = join(at(before).behind, behind);
    update(before);
    return before;
  }
  at(behind).before = join(before, at(behind).before);
  update(behind);
  return behind;
}

void RunTree::erase(const JobPlace& place) { erase_below(root_, place); }

void RunTree::erase_below(std::int32_t& root, const JobPlace& place) {
  assert(root >= 0);
  const JobPlace& here = at(root).place;
  if (place < here || here < place) {
    erase_below(place < here ? at(root).before : at(root).behind, place);
    update(root);
    return;
  }
  unused_.push_back(root);
  root = join(at(root).before, at(root).behind);
}

}  // namespace berth::sim
