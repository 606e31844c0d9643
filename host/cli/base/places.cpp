#include "host/cli/base/places.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "berth/error.hpp"
#include "host/io/files/links.hpp"

namespace berth::cli {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-") return !a.empty() && a == b;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(a, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const std::filesystem::path first = std::filesystem::weakly_canonical(io::behind_links(a), error);
  if (error) return a == b;
  const std::filesystem::path second = std::filesystem::weakly_canonical(io::behind_links(b), error);
  return error ? a == b : first == second;
}

}  // namespace

void check_places(const std::vector<Place>& inputs, const std::vector<Place>& outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (inputs[i].path != "-" || inputs[j].path != "-") continue;
      throw InvalidArgument(fmt::format("{} and {} both name '-': standard input can be read once", inputs[j].option, inputs[i].option));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same_file(outputs[i].path, outputs[j].path)) continue;
      throw InvalidArgument(fmt::format("{} and {} both name '{}'", outputs[j].option, outputs[i].option, outputs[i].path));
    }
    for (const Place& input : inputs) {
      if (outputs[i].path == "-" || !is_same_file(outputs[i].path, input.path)) continue;
      throw InvalidArgument(fmt::format("{} would replace '{}', which {} reads", outputs[i].option, input.path, input.option));
    }
  }
}

}  // namespace berth::cli
