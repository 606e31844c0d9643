#include "host/cli/simulate/simulated_inputs.hpp"

#include <filesystem>

#include "host/results/sha256.hpp"

namespace berth::cli {

std::vector<results::InputFile> input_files(const std::vector<Place>& inputs) {
  std::vector<results::InputFile> files;
  for (const Place& input : inputs) {
    std::error_code ignored;
    if (input.path.empty() || input.path == "-" || !std::filesystem::is_regular_file(input.path, ignored)) continue;
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(input.path, ignored));
    files.push_back({input.option, input.path, bytes, results::sha256_of_file(input.path)});
  }
  return files;
}

}  // namespace berth::cli
