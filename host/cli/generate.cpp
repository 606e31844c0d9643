#include "host/sim/generate.hpp"
#include "host/core/split.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/common_options.hpp"
#include "host/cli/console.hpp"
#include "host/cli/load.hpp"
#include "host/cli/values.hpp"
#include "host/io/file_error.hpp"

namespace berth::cli {
namespace {

struct GenerateArguments {
  sim::GenerateOptions generate;
  std::string workload = "helios", fabric = "auto", gpu_types;
  std::string waiting, outage, spare;
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
    if (!weight) throw InvalidArgument(fmt::format("--gpu-types: '{}': expected TYPE or TYPE:WEIGHT", part));
    types.push_back({std::string(part.substr(0, colon)), static_cast<std::int32_t>(*weight)});
  }
  return types;
}

int run(const GenerateArguments& options) {
  sim::GenerateOptions generate = options.generate;
  generate.workload = sim::workload_from_name(options.workload).value();  // the parser accepts no other
  generate.fabric = sim::fabric_from_name(options.fabric).value();
  if (!options.gpu_types.empty()) generate.gpu_types = parse_types(options.gpu_types);
  if (!options.waiting.empty()) generate.waiting_ppm = parse_part("--waiting", options.waiting);
  if (!options.outage.empty()) generate.outage_ppm = parse_part("--outage", options.outage);
  if (!options.spare.empty()) generate.spare_ppm = parse_part("--spare", options.spare);
  generate.demands = !options.no_demands;
  generate.labels = !options.no_labels;
  const Snapshot snapshot = sim::generate(generate);
  write_out(options.out, io::to_json(snapshot));
  tell(options.out, fmt::format("{}: {}\n", io::output_name(options.out), summary(snapshot)));
  return kDone;
}

void add_cluster_options(CLI::App& app, GenerateArguments& o) {
  app.add_option("--nodes", o.generate.nodes, "Nodes")->check(whole_number<std::int32_t>())->required()->type_name("N");
  app.add_option("--gpus-per-node", o.generate.gpus_per_node, "GPUs of each")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--gpu-types", o.gpu_types, "GPU types and their parts: " + sim::known_gpu_types())->type_name("TYPE[:WEIGHT],...");
  app.add_option("--fabric", o.fabric, "The network: auto, tree, nvl72, rail")
      ->check(CLI::IsMember({"auto", "tree", "nvl72", "rail"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--nodes-per-rack", o.generate.nodes_per_rack, "0: as the fabric has it")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--racks-per-pod", o.generate.racks_per_pod, "0: as the fabric has it")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--outage", o.outage, "Part of the nodes that are failed or draining, such as 0.004")->type_name("PART");
  app.add_option("--spare", o.spare, "Part of the nodes that are spare")->type_name("PART");
  app.add_flag("--no-labels", o.no_labels, "No node labels, and no jobs that ask for them");
}

void add_job_options(CLI::App& app, GenerateArguments& o) {
  app.add_option("--jobs", o.generate.jobs, "Jobs, running and waiting")->check(whole_number<std::int32_t>())->required()->type_name("M");
  app.add_option("--workload", o.workload, "Whose published statistics the jobs follow: philly, helios, pai, or llm (trees of groups)")
      ->check(CLI::IsMember({"philly", "helios", "pai", "llm"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--elastic", o.generate.elastic, "Training jobs may run on several numbers of GPUs");
  app.add_option("--waiting", o.waiting, "Least part of the jobs that wait, such as 0.5")->type_name("PART");
  app.add_option("--queues", o.generate.queues, "Queues with quotas")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--virtual-clusters", o.generate.virtual_clusters, "Virtual clusters; 0: every node serves every job")
      ->check(whole_number<std::int32_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--history", o.generate.history, "Finished jobs; -1: as many as jobs, at most 2,000")
      ->check(whole_number<std::int32_t>(-1))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-demands", o.no_demands, "No demands for cores and memory");
}

}  // namespace

void add_generate(Commands& commands) {
  auto options = std::make_shared<GenerateArguments>();
  CLI::App& app = commands.add("generate", "Make a snapshot of any size from published statistics",
                               "berth generate --nodes 64 --jobs 400 --workload helios --seed 1 --out cluster.json", options, &run);
  add_cluster_options(app, *options);
  add_job_options(app, *options);
  add_seed_option(app, options->generate.seed, "Equal options and seeds give equal snapshots");
  add_out_option(app, options->out, "Where to write it")->required();
}

}  // namespace berth::cli
