#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster.hpp"
#include "berth/job.hpp"

namespace berth::core {

/// Names for the integers of a plan. The indices are those of kernel::ProblemView and of ClusterState; an invalid index
/// gives "?". For text output only.
class NameSource {
 public:
  virtual ~NameSource() = default;
  virtual const Job* job(std::int32_t job) const = 0;  ///< null: none
  virtual std::string_view node(std::int32_t rank) const = 0;
  virtual std::string_view domain(std::int32_t id) const = 0;  ///< last part of its path, the full path where that is not unique
  virtual std::string_view level(TopologyKind topology, std::int32_t level) const = 0;  ///< "node", "rack", ..., "cluster"
  virtual std::string_view queue(std::int32_t index) const = 0;
  virtual std::string_view gpu_type(std::int32_t index) const = 0;
  virtual std::int32_t gpu_types() const = 0;       ///< how many there are
  virtual std::string_view origin_iso() const = 0;  ///< what time 0 is, empty where that is not known
  virtual TimeUs now() const = 0;                   ///< the instant that texts are written for
  virtual bool has_node(std::string_view id) const = 0;
  virtual bool serves(std::string_view virtual_cluster) const = 0;  ///< whether some node belongs to it
  virtual bool has_label(std::string_view key,
                         const std::vector<std::string>& values) const = 0;  ///< whether some node has one of the values

  std::string_view job_id(std::int32_t job_index) const {
    const Job* found = job(job_index);
    return found == nullptr ? std::string_view("?") : std::string_view(found->id);
  }
};

}  // namespace berth::core
