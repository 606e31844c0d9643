#include "host/cli/import/topology_options.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/split.hpp"

namespace berth::cli {
namespace {

constexpr std::int32_t kMostLinks = 1'000'000;

}  // namespace

std::string TopologyOptions::any() const {
  if (gpus_per_node > 0) return "--gpus-per-node";
  if (nics > 0) return "--nics";
  if (!gpu_type.empty()) return "--gpu-type";
  if (!topology.empty()) return "--topology";
  if (!bandwidth.empty()) return "--bandwidth";
  if (!oversubscription.empty()) return "--oversubscription";
  if (!links.empty()) return "--links";
  if (!failed.empty()) return "--failed";
  return failed_links.empty() ? "" : "--failed-links";
}

io::LinkOptions link_options(const TopologyOptions& options) {
  const auto whole = [](std::string_view text) {
    const auto value = core::parse_whole(text, kMostLinks);
    return value && *value > 0 ? value : std::nullopt;
  };
  io::LinkOptions out;
  out.nics = options.nics > 0 ? options.nics : 1;
  out.bytes_per_s = by_name<std::int64_t>("--bandwidth", options.bandwidth, "LEVEL=GB/s above 0, such as leaf=50",
                                          [](std::string_view text) { return parse_positive(text, 9, kMaxBytes); });
  if (options.nics > 0 && out.bytes_per_s.count("node") == 0) throw InvalidArgument("--nics needs --bandwidth node=GB/s");
  out.oversubscription_ppm = by_name<std::int64_t>("--oversubscription", options.oversubscription, "LEVEL=RATIO above 0, such as spine=4",
                                                   [](std::string_view text) { return parse_positive(text, 6, 1'000'000'000'000); });
  out.links = by_name<std::int32_t>("--links", options.links, "LEVEL=N, such as leaf=2", whole);
  out.failed = options.failed;
  out.failed_links = by_name<std::int32_t>("--failed-links", options.failed_links, "SWITCH=N, such as leaf7=1", whole);
  return out;
}

io::NodeDefaults node_defaults(const TopologyOptions& options) { return {options.gpus_per_node, options.gpu_type}; }

void add_topology_options(CLI::App& app, TopologyOptions& o) {
  app.add_option("--gpus-per-node", o.gpus_per_node, "Give nodes N GPUs where the files have no counts")
      ->check(whole_number<std::int32_t>(1, kMaxGpusPerNode))
      ->type_name("N");
  app.add_option("--gpu-type", o.gpu_type, "Give nodes this GPU type where the files have none")->type_name("NAME");
  app.add_option("--topology", o.topology, "Take this topology of several in the files")->type_name("NAME");
  app.add_option("--nics", o.nics, "Give nodes N NICs of the bandwidth of level node")
      ->check(whole_number<std::int32_t>(1, 1'000))
      ->type_name("N");
  app.add_option("--bandwidth", o.bandwidth, "Set the bandwidth of one link up; repeatable; node is a NIC")->type_name("LEVEL=GB/s");
  app.add_option("--oversubscription", o.oversubscription, "Set a level's bandwidth from below over that up; repeatable")
      ->type_name("LEVEL=RATIO");
  app.add_option("--links", o.links, "Set the links to each switch above; repeatable")->type_name("LEVEL=N");
  app.add_option("--failed", o.failed, "Take this switch out; nodes without a way up have failed")->type_name("SWITCH");
  app.add_option("--failed-links", o.failed_links, "Take N of a switch's links up out; repeatable")->type_name("SWITCH=N");
  for (const char* const option : {"--bandwidth", "--oversubscription", "--links", "--failed", "--failed-links"})
    app.get_option(option)->allow_extra_args(false);
}

}  // namespace berth::cli
