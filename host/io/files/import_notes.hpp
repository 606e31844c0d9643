#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::io {

/// Assumptions and omissions of an import, counted by cause.
class ImportNotes {
 public:
  /// Counts one `noun` ("job", "node") to which `what` applies; the first of each is named.
  /// @param what  Continues "3 jobs", for example " left out: no GPUs asked for".
  /// @param times  None is counted where it is 0 or below.
  void count(std::string_view noun, std::string_view what, std::string_view first, std::int64_t times = 1);
  /// Counts a job that is left out by cause, and stores its id.
  void leave_out(const std::string& job, const std::string& why) {
    count("job", " left out: " + why, job);
    left_out_.emplace(job, why);
  }
  /// Adds a note once, even if several documents cause it.
  void say(std::string text) {
    if (std::find(said_.begin(), said_.end(), text) == said_.end()) said_.push_back(std::move(text));
  }

  std::vector<std::string> lines() const;
  std::map<std::string, std::string>& left_out() { return left_out_; }

 private:
  struct Entry {
    std::int64_t times = 0;
    std::string first;
  };
  std::vector<std::string> said_;
  std::map<std::string, std::string> left_out_;
  std::map<std::pair<std::string, std::string>, Entry, std::less<>> counts_;
};

}  // namespace berth::io
