#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "berth/kernel/base/wide.hpp"
#include "berth/snapshot.hpp"

/// A second implementation of rates and step times, from docs/profiles.md alone: simple and slow, with public structs.
/// It supports what generated clusters have: one GPU type, equal nodes, racks in pods, shapes of whole GPUs with a batch, no spares,
/// measured points for each shape, no input work.
namespace berth::test {

inline constexpr std::int64_t kMillion = 1'000'000, kNsPerSecond = 1'000'000'000;

/// The locality of a gang at its place, or at a possible one.
struct Lies {
  std::int64_t nodes = 1, gpus_of_one = 1;  // of the fullest node
  bool nvlink_domain = false;               // all in one NVLink domain
  std::int64_t bandwidth = 0;               // from a node to the others; 0: not limited
  std::int64_t switches = 1;                // switches on the path
  std::int64_t latency_us = 0;              // stated latency of these switches
};

class ProfileOracle {
 public:
  using GpusByNode = std::map<std::int32_t, std::int64_t>;

  /// @param snapshot  of a state, so that nodes are in rank order
  explicit ProfileOracle(const Snapshot& snapshot) : s_(snapshot) {
    for (const Domain& d : s_.domains) {
      if (d.topology == TopologyKind::kSwitch) switch_[d.parent.empty() ? d.id : d.parent + "/" + d.id] = &d;
    }
    for (const Node& node : s_.nodes) nvlink_gpus_[node.domain[kNvlink]] += node.gpus;
    nvlink_gpus_.erase("");
  }

  const Node& node(std::int32_t rank) const { return s_.nodes[static_cast<std::size_t>(rank)]; }
  static std::int64_t nics_of(const Node& node) { return node.nics * node.nic_bytes_per_s; }
  std::int64_t uplink(const std::string& path) const { return switch_.at(path)->uplink_bytes_per_s; }

  /// Paths of the switch domains that a ring over these nodes leaves: those with some of the nodes, but not all.
  std::set<std::string> left_by(const GpusByNode& gpus) const {
    std::map<std::string, std::size_t> has;
    for (const auto& [rank, n] : gpus) {
      const std::string& path = node(rank).domain[0];
      for (std::size_t end = 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        ++has[path.substr(0, end)];
      }
    }
    std::set<std::string> left;
    for (const auto& [path, nodes] : has) {
      if (nodes < gpus.size()) left.insert(path);
    }
    return left;
  }

  Lies lies(const GpusByNode& gpus) const {
    Lies lies;
    lies.nodes = static_cast<std::int64_t>(gpus.size());
    lies.nvlink_domain = true;
    const std::string& first = node(gpus.begin()->first).domain[kNvlink];
    for (const auto& [rank, n] : gpus) {
      lies.gpus_of_one = std::max(lies.gpus_of_one, n);
      lies.bandwidth = tighter(lies.bandwidth, nics_of(node(rank)));
      if (first.empty() || node(rank).domain[kNvlink] != first) lies.nvlink_domain = false;
    }
    std::map<bool, std::int64_t> latency_us;  // of racks, of pods
    for (const std::string& path : left_by(gpus)) {
      std::int64_t& worst = latency_us[path.find('/') == std::string::npos];
      worst = std::max(worst, switch_.at(path)->latency_us);
      lies.bandwidth = tighter(lies.bandwidth, uplink(path));
      // Leaving a rack reaches a pod, leaving a pod the whole cluster: 2 l - 1 switches to level l.
      lies.switches = std::max<std::int64_t>(lies.switches, path.find('/') == std::string::npos ? 5 : 3);
    }
    for (const auto& [is_pod, worst] : latency_us) lies.latency_us += worst;
    return lies;
  }

  Lies tightest(const Shape& shape) const {
    const Node& node = s_.nodes[0];
    Lies lies;
    lies.nodes = (shape.gpus + node.gpus - 1) / node.gpus;
    lies.gpus_of_one = std::min(shape.gpus, node.gpus);
    lies.bandwidth = nics_of(node);
    for (const auto& [path, gpus] : nvlink_gpus_) lies.nvlink_domain = lies.nvlink_domain || shape.gpus <= gpus;
    return lies;
  }

  /// Millionths of the unit per second.
  std::int64_t rate(const Job& job, const Shape& shape, const Lies& at) const {
    if (job.profile.kind == ProfileKind::kOpaque) return std::min(kMillion, kernel::mul_div(kMillion, shape.gpus, job.shapes[0].gpus));
    if (job.profile.kind == ProfileKind::kClosedForm) return units_over(shape, model_step_ns(job, shape, at));
    for (const RatePoint& point : job.profile.points) {
      if (point.gpus == shape.gpus) return point.rate;
    }
    return 0;
  }
  /// 0: not known.
  std::int64_t step_ns(const Job& job, const Shape& shape, const Lies& at) const {
    if (job.profile.kind == ProfileKind::kOpaque) return 0;
    return job.profile.kind == ProfileKind::kClosedForm ? model_step_ns(job, shape, at) : units_over(shape, rate(job, shape, at));
  }
  /// Millionths of the rate in the requested shape.
  std::int64_t speed(const Job& job, const Shape& shape) const {
    return kernel::mul_div(rate(job, shape, tightest(shape)), kMillion, rate(job, job.shapes[0], tightest(job.shapes[0])));
  }

 private:
  static constexpr std::size_t kNvlink = static_cast<std::size_t>(TopologyKind::kNvlink);

  static std::int64_t tighter(std::int64_t a, std::int64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

  // rate = samples / step, and step = samples / rate.
  static std::int64_t units_over(const Shape& shape, std::int64_t divisor) {
    return kernel::mul_div(std::int64_t{shape.gpus} * shape.local_batch, kMillion * kNsPerSecond, divisor);
  }

  static std::int64_t ring_ns(std::int64_t ranks, std::int64_t hop_ns, std::int64_t bytes, std::int64_t bandwidth) {
    const std::int64_t sent =
        bandwidth == 0 ? 0 : kernel::saturate(kernel::Wide{2 * (ranks - 1)} * bytes * kNsPerSecond / (kernel::Wide{ranks} * bandwidth));
    return 2 * (ranks - 1) * hop_ns + sent;
  }

  std::int64_t model_step_ns(const Job& job, const Shape& shape, Lies at) const {
    if (at.nvlink_domain) {
      at.gpus_of_one = shape.gpus;
      at.nodes = 1;
    }
    const ClosedForm& form = job.profile.closed_form;
    const std::int64_t bytes = job.profile.gradient_bytes;
    const std::int64_t nvlink = s_.gpu_types[0].nvlink_bytes_per_s;
    const std::int64_t all_reduce = ring_ns(at.gpus_of_one, nvlink > 0 ? 3'400 : 5'700, bytes, nvlink > 0 ? nvlink : 24 * kNsPerSecond) +
                                    ring_ns(at.nodes, 14'000 + 1'000 * (at.switches + at.latency_us), bytes, at.bandwidth);
    return form.step.at(0).alpha_ns * shape.local_batch + form.step.at(0).beta_ns +
           kernel::mul_div(all_reduce, kMillion - form.overlap_ppm, kMillion);
  }

  const Snapshot& s_;
  std::map<std::string, const Domain*> switch_;
  std::map<std::string, std::int64_t> nvlink_gpus_;
};

}  // namespace berth::test
