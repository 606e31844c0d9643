#include "host/report/shadow.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/slurm_input.hpp"
#include "host/cli/base/values.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

struct ShadowArguments {
  std::vector<std::string> files;
  bool slurm = false;
  bool held = false;
  bool json = false;
  std::string policy;
  std::string slack = "60s";
  std::size_t rows = 20;
  RequestOptions request;
};

struct Recorded {
  ClusterState state;
  std::string origin_iso;
};

Recorded load(const std::string& path, const ShadowArguments& options, bool last) {
  // An import omits much the same from state to state, so only the last one is reported.
  Snapshot snapshot;
  if (options.slurm) {
    snapshot = read_slurm({path}, {.held = options.held}, last).snapshot;
  } else {
    const std::string text = io::read_file(path);
    snapshot = parse_no_slurm(text, [&] { return io::parse_snapshot(text, io::input_name(path)); });
  }
  std::string origin = snapshot.origin_iso;
  return {ClusterState(std::move(snapshot), io::input_name(path)), std::move(origin)};
}

const char* name_of(report::ShadowDifference::Kind kind) {
  switch (kind) {
    case report::ShadowDifference::Kind::kEarlier:
      return "earlier";
    case report::ShadowDifference::Kind::kLater:
      return "later";
    case report::ShadowDifference::Kind::kDisplaced:
      break;
  }
  return "displaced";
}

std::string json_of(const report::ShadowReport& report, const std::string& policy) {
  io::JsonWriter out;
  out.object([&] {
    out.text("policy", policy);
    out.number("states", report.states);
    out.number("from_s", report.from_us, 6);
    out.number("to_s", report.to_us, 6);
    out.text_unless("origin", report.origin_iso, "");
    out.number("same_starts", report.same_starts);
    out.number("other_nodes", report.other_nodes);
    out.number("unseen", report.unseen);
    out.number("same_instant", report.same_instant);
    out.number("still_waiting", report.still_waiting);
    out.number("wait_saved_s", report.wait_saved_us, 6);
    out.number("gpu_s", report.gpu_us, 6);
    out.number("real_gpu_s", report.real_gpu_us, 6);
    out.number("planned_gpu_s", report.planned_gpu_us, 6);
    out.lines(
        "differences", report.differences,
        [&](const report::ShadowDifference& d) {
          out.object([&] {
            out.text("kind", name_of(d.kind));
            out.text("job", d.job);
            out.number("gpus", d.gpu_ppm, 6);
            if (d.planned_us != kNever) out.number("planned_s", d.planned_us, 6);
            if (d.really_us != kNever) out.number("really_s", d.really_us, 6);
            out.text_unless("planned_where", d.planned_place, "");
            out.text_unless("really_where", d.real_place, "");
            out.text_unless("reason", d.reason, "");
          });
        },
        true);
  });
  return out.finish();
}

int run(const ShadowArguments& options) {
  if (options.files.size() < 2) throw InvalidArgument("FILE: at least two states, or there is nothing that happened between them");
  if (options.held && !options.slurm) throw InvalidArgument("--held needs --slurm: a snapshot has no held jobs");
  std::vector<Place> inputs;
  for (const std::string& file : options.files) inputs.push_back({"FILE", file});
  check_places(inputs, {});
  const Request request = make_request(options.request, options.policy);
  report::Shadow shadow(request, parse_duration(options.slack));
  for (const std::string& file : options.files) {
    const Recorded recorded = load(file, options, &file == &options.files.back());
    try {
      shadow.add(recorded.state, recorded.origin_iso);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("{}: {}", io::input_name(file), error.what()));
    }
  }
  const report::ShadowReport report = shadow.finish();
  print(options.json ? json_of(report, options.policy) : report::to_text(report, options.policy, options.rows));
  return kDone;
}

}  // namespace

void add_shadow(Commands& commands) {
  auto options = std::make_shared<ShadowArguments>();
  CLI::App& app =
      commands.add("shadow", "Compare Berth with the scheduler that made recorded states",
                   "berth shadow --policy srsf monday/*.json\n  berth shadow --slurm --policy priority monday/*.txt", options, &run);
  app.add_option("FILE", options->files, "Read the states, earliest first; plain or .gz")->required();
  app.add_flag("--slurm", options->slurm, "Read what squeue, sinfo and scontrol printed at one instant in each FILE");
  app.add_flag("--held", options->held, "With --slurm, plan held jobs as if they were released");
  app.add_option("--policy", options->policy, "Decide by this policy ('berth policies' lists them)")->required()->type_name("NAME");
  app.add_option("--param", options->request.params, "Set a parameter of the policy; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--slack", options->slack, "Count starts within DURATION of each other as the same")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--rows", options->rows, "List at most N differences of each kind; 0 lists all")
      ->type_name("N")
      ->check(whole_number<std::size_t>())
      ->capture_default_str();
  add_json_flag(app, options->json, "Print one JSON object: totals, and every difference");
}

}  // namespace berth::cli
