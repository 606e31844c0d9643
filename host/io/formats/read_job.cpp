#include <algorithm>
#include <map>
#include <string_view>

#include "host/core/base/huge_pages.hpp"
#include "host/io/fields/job_fields.hpp"
#include "host/io/formats/read_parts.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kShapesField = 13, kGpusField = 14, kTypesField = 15;
static_assert(kJobFields[kShapesField].name == "shapes" && kJobFields[kGpusField].name == "gpus" &&
              kJobFields[kTypesField].name == "types");

void settle_shapes(JsonCursor& in, const char* at, std::uint64_t seen, JobBeingRead& row, std::size_t index,
                   std::vector<PendingShapes>& pending) {
  const auto has = [seen](std::size_t field) { return (seen >> field & 1) != 0; };
  if (has(kShapesField)) {
    if (has(kGpusField) || has(kTypesField))
      in.fail_at(at, "'gpus' and 'types' are the short form of 'shapes'; only one of the two forms may stand here");
    return;
  }
  if (!has(kGpusField)) in.fail_at(at, "the field 'shapes' (or its short form 'gpus') is missing");
  if (has(kTypesField) && row.types.empty()) in.fail_at(at, "'types' is empty: the job could run nowhere");
  if (row.gpus.step == GpuRange::Step::kNode) {
    pending.push_back({index, row.gpus, std::move(row.types)});
    return;
  }
  const std::string problem = expand_shapes(row.gpus, row.types, {}, row.value.shapes);
  if (!problem.empty()) in.fail_at(at, problem);
}

// Estimates the number of jobs in the text, rather too high than too low.
// It counts a key that each job must have, in samples of a long text.
std::size_t jobs_in(std::string_view text) {
  constexpr std::string_view kKey = "\"submit_s\"";
  constexpr std::size_t kPieces = 16, kPiece = std::size_t{1} << 16;
  std::size_t found = 0, read = 0;
  const std::size_t step = std::max(kPiece, text.size() / kPieces);
  for (std::size_t begin = 0; begin < text.size(); begin += step) {
    const std::string_view piece = text.substr(begin, kPiece);
    for (std::size_t at = piece.find(kKey); at != piece.npos; at = piece.find(kKey, at + kKey.size())) ++found;
    read += piece.size();
  }
  if (read == text.size() || read == 0) return found;
  return static_cast<std::size_t>(static_cast<double>(found) / static_cast<double>(read) * static_cast<double>(text.size()) * 1.05);
}

}  // namespace

void settle_members(const std::vector<Shape>& shapes, Allocation& allocation) {
  struct Ranks {
    std::int32_t gpus_per_member = 1;
    std::int64_t next = 0;
  };
  std::map<std::string_view, Ranks> groups;
  for (const Shape& shape : shapes) {
    if (shape.id != allocation.shape) continue;
    for (const Group& g : shape.groups) groups[g.name].gpus_per_member = std::max(1, g.gpus_per_member);
  }
  for (AllocationEntry& e : allocation.entries) {
    Ranks& ranks = groups[e.group];
    if (e.member == kMemberNotSaid) e.member = static_cast<std::int32_t>(std::min<std::int64_t>(ranks.next, INT32_MAX));
    ranks.next = e.member + static_cast<std::int64_t>(e.gpus.size()) / ranks.gpus_per_member;
  }
}

void read_job(JsonCursor& in, Job& job, std::size_t index, std::vector<PendingShapes>& pending) {
  const char* at = in.next_mark();
  JobBeingRead row{job, job.x, {}, {}};
  const std::uint64_t seen = read_object(in, row, kJobFields);
  settle_shapes(in, at, seen, row, index, pending);
  if (!job.allocation.entries.empty()) settle_members(job.shapes, job.allocation);
}

void read_jobs(JsonCursor& in, std::vector<Job>& out, std::vector<PendingShapes>& pending) {
  // Jobs are large, so a list that grows by doubling would move all of them repeatedly.
  constexpr std::size_t kFew = 64;
  in.array([&] {
    if (out.size() == kFew) {
      out.reserve(kFew + jobs_in(in.rest()));
      core::prefer_huge_pages(out.data(), out.capacity() * sizeof(Job));
    }
    Job& job = out.emplace_back();
    read_job(in, job, out.size() - 1, pending);
  });
}

}  // namespace berth::io
