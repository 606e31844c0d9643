#pragma once

#include <vector>

#include "host/cli/base/places.hpp"
#include "host/results/results_file.hpp"

namespace berth::cli {

/// Size and SHA-256 of those inputs that are regular files. Standard input and folders have none.
/// @throws EnvironmentError when one cannot be read.
std::vector<results::InputFile> input_files(const std::vector<Place>& inputs);

}  // namespace berth::cli
