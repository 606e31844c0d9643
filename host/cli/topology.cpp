#include <fmt/format.h>

#include <algorithm>

#include "berth/io.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/places.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::cli {
namespace {

struct TopologyArguments {
  std::string snapshot, format, out;
};

std::string format_list() {
  std::string text = "\nFormats:\n";
  for (const io::TopologyWriter& writer : io::topology_writers()) text += fmt::format("  {:<12} {}\n", writer.name, writer.help);
  return text;
}

int run(const TopologyArguments& options) {
  check_places({{"--snapshot", options.snapshot}}, {{"--out", options.out}});
  const auto writers = io::topology_writers();
  const auto writer = std::find_if(writers.begin(), writers.end(), [&](const auto& one) { return one.name == options.format; });
  const std::string name = io::input_name(options.snapshot);
  const io::TopologyModel model = io::model_of(io::parse_snapshot(io::read_file(options.snapshot), name), name);
  write_out(options.out, writer->write(model));  // the parser accepts no other format
  print_message(options.out, fmt::format("{}: {} of {}\n", io::output_name(options.out), options.format,
                                         core::counted(static_cast<std::int64_t>(model.nodes.size()), "node")));
  return kDone;
}

}  // namespace

void add_topology(Commands& commands) {
  auto options = std::make_shared<TopologyArguments>();
  CLI::App& app = commands.add("topology", "Write the topology of a snapshot in a format of other schedulers",
                               "berth topology --snapshot cluster.json --format slurm-yaml \\\n"
                               "    --out topology.yaml\n" +
                                   format_list(),
                               options, &run);
  app.add_option("--snapshot", options->snapshot, "Read the cluster from FILE; - is standard input")->required()->type_name("FILE");
  std::vector<std::string> names;
  for (const io::TopologyWriter& writer : io::topology_writers()) names.emplace_back(writer.name);
  app.add_option("--format", options->format, "Write this format (listed below)")
      ->required()
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""));
  add_out_option(app, options->out, "Write the topology to FILE")->required();
}

}  // namespace berth::cli
