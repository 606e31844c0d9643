#pragma once

#include <berth.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/job.hpp"
#include "python-free-bindings/c/src/columns.hpp"

namespace berth::c {

/// The caller's allocation rows.
class EntryArrays {
 public:
  /// `entries` may be null: no rows. @throws InvalidArgument
  EntryArrays(const berth_entries* entries, const char* name);
  std::uint64_t size() const { return e_.n; }
  /// @param shapes  Of the job: an entry may omit the name of a shape's only group.
  Allocation allocation(const std::string& shape, const std::vector<Shape>& shapes, std::size_t begin, std::size_t end) const;

 private:
  berth_entries e_;
  Texts node_, group_;
};

/// The caller's jobs.
class JobArrays {
 public:
  /// @param with_allocations  Whether jobs may be running; otherwise their columns are not read.
  /// @throws InvalidArgument
  JobArrays(const berth_jobs* jobs, const char* name, bool with_allocations);
  std::size_t size() const { return n_; }
  Job job(std::size_t row) const;

 private:
  Shape shape(std::size_t row) const;

  berth_jobs j_;
  std::size_t n_, n_shapes_;
  Texts id_, user_, tenant_, queue_, virtual_cluster_, shape_id_, shape_type_, shape_level_;
  Rows shapes_;
  std::optional<EntryArrays> entries_;
  std::optional<Rows> entry_rows_;
};

}  // namespace berth::c
