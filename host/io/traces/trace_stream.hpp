#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "berth/trace.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/json/json_list.hpp"

namespace berth::io {

/// A `berth.trace.v1` file, plain or gzip, with only a few jobs in memory at a time.
/// Its jobs must be sorted by (submit, id), as in everything that Berth writes.
/// It is read twice: first as a whole, so that errors are found before anything is done.
/// Repeated ids are detected only within one instant.
class TraceStream {
 public:
  /// @param see  Called with each job.
  /// @throws InputError as `read_trace`, and for jobs in another order; EnvironmentError when it cannot be read.
  TraceStream(std::string path, const std::function<void(const TraceJob&)>& see);

  /// All but the jobs.
  const Trace& head() const { return head_; }
  std::int64_t jobs() const { return jobs_; }

  /// Restarts at the first job.
  void rewind();
  /// Reads the next job. @returns false at the end. @throws InputError when the file has changed.
  bool next(TraceJob& job);

 private:
  std::string path_;
  Trace head_;
  std::int64_t jobs_ = 0, given_ = 0;
  std::unique_ptr<GzipInput> input_;
  std::unique_ptr<JsonListSplitter> splitter_;
  std::unique_ptr<char[]> chunk_;
  std::deque<TraceJob> read_;
};

}  // namespace berth::io
