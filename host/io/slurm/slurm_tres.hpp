#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// One generic resource of a list.
struct Gres {
  std::string_view name;  ///< of the text that was read: "gpu"
  std::string_view type;  ///< "h100"; empty: not said
  std::int64_t count = 1;
  std::uint64_t indices = 0;  ///< bit i: index i; only indices up to 63
  bool indexed = false;       ///< indices are given
  bool beyond = false;        ///< some of them are above 63, which exceeds every node
};

/// Reads "gpu:h100:8(S:0-1),nic:2", "gres:gpu:2", "gres/gpu:h100=2", "gpu:h100:4(IDX:0-3)", "gpu:h100(IDX:0,2)",
/// "gpu:h100(CNT:4)"; "N/A" and "(null)" are empty lists.
/// @returns the problem, or empty.
std::string parse_gres(std::string_view text, std::vector<Gres>& out);

/// The GPUs of such a list.
struct GpuCount {
  std::string type;        ///< empty: any
  std::int64_t count = 0;  ///< 0: the list has none
  bool mixed = false;      ///< several types, or typed and untyped: `count` is the total
  bool others = false;     ///< the list has other resources too
};
std::string parse_gpus(std::string_view text, GpuCount& out);

/// Content of a list such as "cpu=2,mem=200M,node=1,billing=2,gres/gpu=4,gres/gpu:h100=4"; -1: not stated.
struct Tres {
  std::int64_t cpus = -1;
  std::int64_t memory_bytes = -1;
  std::int64_t nodes = -1;
  std::int64_t gpus = -1;
  std::string gpu_type;      ///< empty: not stated, or not for all GPUs
  bool gpus_differ = false;  ///< the typed counts are of several types, or do not add up to the total; `gpus` is the larger number
};

/// GPUs in a list of resources: a total count, counts by type, or both.
class TresGpus {
 public:
  /// @param type  Empty: of all types.
  void add(std::string_view type, std::int64_t count);
  void settle(Tres& out) const;

 private:
  std::int64_t all_ = -1, typed_ = -1;
  std::string type_;
  bool several_ = false;
};
std::string parse_tres(std::string_view text, Tres& out);

/// Reads "200M", "1.5G", "64K"; without a suffix it counts in `unit` bytes. @returns -1 for anything else, and beyond kMaxBytes.
std::int64_t parse_memory(std::string_view text, std::int64_t unit);

}  // namespace berth::io
