#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace berth::cli {

/// Objects that threads share, made once where they are first asked for. The least recently used ones go; one in use
/// lives on until it is released.
template <class Object>
class SharedCache {
 public:
  explicit SharedCache(std::size_t room) : room_(room) {}

  /// Others wait while one makes the same object. What `make` throws, each of them gets by a try of its own.
  template <class Make>
  std::shared_ptr<const Object> get(const std::string& key, Make&& make) {
    const std::shared_ptr<Entry> entry = entry_of(key);
    const std::lock_guard<std::mutex> lock(entry->making);
    if (entry->object == nullptr) entry->object = make();
    return entry->object;
  }

 private:
  struct Entry {
    std::mutex making;
    std::shared_ptr<const Object> object;
  };

  std::shared_ptr<Entry> entry_of(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->first != key) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return it->second;
    }
    if (entries_.size() == room_) entries_.pop_back();
    entries_.emplace_front(key, std::make_shared<Entry>());
    return entries_.front().second;
  }

  std::size_t room_;
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<Entry>>> entries_;
};

}  // namespace berth::cli
