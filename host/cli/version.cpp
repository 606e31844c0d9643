#include "berth/version.hpp"

#include <fmt/format.h>

#include <vector>

#include "berth/build_id.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

struct VersionArguments {
  bool json = false;
};

int run(const VersionArguments& options) {
  std::vector<std::string> backends{"reference", "cpu"};
#ifdef BERTH_WITH_CUDA
  backends.emplace_back("cuda");
#endif
  if (options.json) {
    io::JsonWriter out;
    out.object([&] {
      out.text("version", BERTH_VERSION);
      out.text("build", BERTH_BUILD_ID);
      out.strings("backends", backends);
    });
    print(out.finish());
  } else {
    print(fmt::format("berth {} (build {}; backends built: {})\n", BERTH_VERSION, BERTH_BUILD_ID, fmt::join(backends, ", ")));
  }
  return kDone;
}

}  // namespace

void add_version(Commands& commands) {
  auto options = std::make_shared<VersionArguments>();
  CLI::App& app = commands.add("version", "Print the version and the backends that were built", "berth version --json", options, &run);
  add_json_flag(app, options->json, "Print one JSON object: version, build, backends");
}

}  // namespace berth::cli
