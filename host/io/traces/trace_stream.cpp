#include "host/io/traces/trace_stream.hpp"

#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/io/traces/trace_json.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

}  // namespace

TraceStream::TraceStream(std::string path, const std::function<void(const TraceJob&)>& see) : path_(std::move(path)) {
  TimeUs last_submit = -1;
  std::string last_id;
  head_ = scan_trace(path_, [&](const TraceJob& job, int line) {
    if (std::tie(job.submit_us, job.id) <= std::tie(last_submit, last_id)) {
      throw InputError(
          path_, fmt::format("/jobs/{}", jobs_), line,
          fmt::format("job '{}' stands behind '{}', but jobs that are read as they come stand by (submit, id)", job.id, last_id));
    }
    last_submit = job.submit_us;
    last_id = job.id;
    ++jobs_;
    see(job);
  });
}

void TraceStream::rewind() {
  input_ = std::make_unique<GzipInput>(path_);
  if (!chunk_) chunk_ = std::make_unique<char[]>(kPieceBytes);
  read_.clear();
  given_ = 0;
  splitter_ = std::make_unique<JsonListSplitter>(
      "jobs", [this](const std::string& text, std::int64_t index, int line) { read_.push_back(parse_trace_job(text, path_, index, line)); },
      path_);
}

bool TraceStream::next(TraceJob& job) {
  if (!splitter_) rewind();
  while (read_.empty()) {
    const std::size_t n = input_->read(chunk_.get(), kPieceBytes);
    if (n == 0) {
      if (given_ != jobs_) throw InputError(path_, "/jobs", 0, fmt::format("{} jobs, where there were {}", given_, jobs_));
      return false;
    }
    splitter_->feed({chunk_.get(), n});
  }
  job = std::move(read_.front());
  read_.pop_front();
  ++given_;
  return true;
}

}  // namespace berth::io
