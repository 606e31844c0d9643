#include "host/sim/generate/generate.hpp"
#include "host/core/base/split.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/values.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::cli {
namespace {

struct GenerateArguments {
  sim::GenerateOptions generate;
  std::string workload = "helios", fabric = "auto", gpu_types;
  std::string waiting, outage, spare;
  std::vector<std::string> oversubscription;
  bool no_demands = false, no_labels = false;
  std::string out;
};

// "A100-80GB:3,H100-80GB": a type without a weight has 1.
std::vector<sim::TypePart> parse_types(const std::string& text) {
  constexpr std::int64_t kMostWeight = 999'999;
  std::vector<sim::TypePart> types;
  for (const std::string_view part : core::split(text, ',')) {
    const std::size_t colon = part.find(':');
    const auto weight = colon == part.npos ? 1 : core::parse_whole(part.substr(colon + 1), kMostWeight);
    if (!weight) throw InvalidArgument(fmt::format("--gpu-types: '{}': expected TYPE or TYPE:WEIGHT", echoed(part)));
    types.push_back({std::string(part.substr(0, colon)), static_cast<std::int32_t>(*weight)});
  }
  return types;
}

int run(const GenerateArguments& options) {
  sim::GenerateOptions generate = options.generate;
  generate.workload = sim::workload_from_name(options.workload).value();  // the parser accepts no other value
  generate.fabric = sim::fabric_from_name(options.fabric).value();
  if (!options.gpu_types.empty()) generate.gpu_types = parse_types(options.gpu_types);
  if (!options.waiting.empty()) generate.waiting_ppm = parse_part("--waiting", options.waiting);
  if (!options.outage.empty()) generate.outage_ppm = parse_part("--outage", options.outage);
  if (!options.spare.empty()) generate.spare_ppm = parse_part("--spare", options.spare);
  generate.oversubscription_ppm =
      by_name<std::int64_t>("--oversubscription", options.oversubscription, "LEVEL=RATIO above 0, such as rack=2",
                            [](std::string_view text) { return parse_positive(text, 6, 1'000'000'000'000); });
  generate.demands = !options.no_demands;
  generate.labels = !options.no_labels;
  const Snapshot snapshot = sim::generate(generate);
  write_out(options.out, io::to_json(snapshot));
  print_message(options.out, fmt::format("{}: {}\n", io::output_name(options.out), summary(snapshot)));
  return kDone;
}

void add_cluster_options(CLI::App& app, GenerateArguments& o) {
  app.add_option("--nodes", o.generate.nodes, "Generate N nodes")->check(whole_number<std::int32_t>())->required()->type_name("N");
  app.add_option("--gpus-per-node", o.generate.gpus_per_node, "Give each node N GPUs")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--gpu-types", o.gpu_types, "Mix GPU types by weight: " + sim::known_gpu_types())->type_name("TYPE[:WEIGHT],...");
  app.add_option("--fabric", o.fabric, "Connect the nodes by this kind of network")
      ->check(CLI::IsMember({"auto", "tree", "nvl72", "rail"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--nodes-per-rack", o.generate.nodes_per_rack, "Put N nodes into a rack; 0 lets the fabric choose")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--racks-per-pod", o.generate.racks_per_pod, "Put N racks into a pod; 0 lets the fabric choose")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--oversubscription", o.oversubscription, "Set a level's bandwidth from below over that up; repeatable")
      ->delimiter(',')
      ->type_name("LEVEL=RATIO");
  app.add_option("--outage", o.outage, "Fail or drain this fraction of the nodes, such as 0.004")->type_name("FRACTION");
  app.add_option("--spare", o.spare, "Keep this fraction of the nodes as spares")->type_name("FRACTION");
  app.add_flag("--no-labels", o.no_labels, "Leave out node labels and jobs that require them");
}

void add_job_options(CLI::App& app, GenerateArguments& o) {
  app.add_option("--jobs", o.generate.jobs, "Generate M jobs, running and waiting")
      ->check(whole_number<std::int32_t>())
      ->required()
      ->type_name("M");
  app.add_option("--workload", o.workload, "Follow these published statistics; llm has trees of groups")
      ->check(CLI::IsMember({"philly", "helios", "pai", "llm", "ones", "dally", "dally-gangs"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--elastic", o.generate.elastic, "Let training jobs run on several numbers of GPUs");
  app.add_option("--waiting", o.waiting, "Let at least this fraction of the jobs wait, such as 0.5")->type_name("FRACTION");
  app.add_option("--queues", o.generate.queues, "Generate N queues with quotas")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--virtual-clusters", o.generate.virtual_clusters, "Split the nodes into N virtual clusters; 0 does not")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--history", o.generate.history, "Add N finished jobs; -1 adds as many as jobs, at most 2,000")
      ->check(whole_number<std::int32_t>(-1))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-demands", o.no_demands, "Leave out demands for cores and memory");
}

}  // namespace

void add_generate(Commands& commands) {
  auto options = std::make_shared<GenerateArguments>();
  CLI::App& app = commands.add("generate", "Generate a snapshot of any size from published statistics",
                               "berth generate --nodes 64 --jobs 400 --workload helios --seed 1 \\\n"
                               "    --out cluster.json",
                               options, &run);
  add_cluster_options(app, *options);
  add_job_options(app, *options);
  add_seed_option(app, options->generate.seed, "Seed the random numbers; equal seeds give equal snapshots");
  add_out_option(app, options->out, "Write the snapshot to FILE")->required();
}

}  // namespace berth::cli
