#include "host/cli/base/dump.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/version.hpp"
#include "host/core/base/names.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

// For a POSIX shell: text between single quotes is literal.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string json_of(const Request& request) {
  io::JsonWriter out;
  out.object([&] {
    out.text("version", BERTH_VERSION);
    out.text("policy", request.policy);
    out.key("params");
    out.object([&] {
      for (const auto& param : request.params) out.text(param.first, param.second);
    });
    out.text("backend", core::name(request.backend));
    out.number("threads", request.threads);
    out.text("seed", fmt::format("{}", request.seed));
    out.number("max_iterations", request.max_iterations);
    out.number("budget_us", request.budget_us);
  });
  return out.finish();
}

}  // namespace

std::string replay_command(const Request& request, bool with_state) {
  std::string text = fmt::format("berth plan --snapshot snapshot.json --policy {}", request.policy);
  for (const auto& param : request.params) text += fmt::format(" --param {}", quoted(param.first + "=" + param.second));
  text += fmt::format(" --backend {} --threads {} --seed {}", core::name(request.backend), request.threads, request.seed);
  if (request.max_iterations > 0) text += fmt::format(" --max-iterations {}", request.max_iterations);
  if (request.budget_us > 0) text += fmt::format(" --budget {}us", request.budget_us);
  if (with_state) text += " --state-in state.json";
  return text;
}

void dump_decision(const std::string& folder, const ClusterState& state, const PolicyState& policy_state, const Request& request,
                   const std::string& message) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  const bool with_state = !policy_state.policy.empty();
  io::write_file(folder + "/snapshot.json", io::to_json(state.snapshot()));
  if (with_state) io::write_file(folder + "/state.json", io::to_json(policy_state));
  io::write_file(folder + "/request.json", json_of(request));
  io::write_file(folder + "/error.txt", fmt::format("{}\n{}\n", message, replay_command(request, with_state)));
}

}  // namespace berth::cli
