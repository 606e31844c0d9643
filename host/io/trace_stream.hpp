#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "berth/trace.hpp"
#include "host/io/input_bytes.hpp"
#include "host/io/json_list.hpp"

namespace berth::io {

/// A `berth.trace.v1` file of which a few jobs at a time are in memory, plain or gzip. Its jobs have to stand by (submit, id), as
/// everything that Berth writes does. It is read twice: whole at first, so that what is wrong shows before anything is done with it. Of ids
/// that occur twice only those of one instant are found.
class TraceStream {
 public:
  /// @param see  Told of each job.
  /// @throws InputError as `read_trace`, and for jobs in another order; EnvironmentError when it cannot be read.
  TraceStream(std::string path, const std::function<void(const TraceJob&)>& see);

  /// All but the jobs.
  const Trace& head() const { return head_; }
  std::int64_t jobs() const { return jobs_; }

  /// From the first job on.
  void rewind();
  /// The next job. @returns false at the end. @throws InputError when the file is not what it was.
  bool next(TraceJob& job);

 private:
  std::string path_;
  Trace head_;
  std::int64_t jobs_ = 0, given_ = 0;
  std::unique_ptr<InputBytes> input_;
  std::unique_ptr<JsonListSplitter> splitter_;
  std::unique_ptr<char[]> chunk_;
  std::deque<TraceJob> read_;
};

}  // namespace berth::io
