#pragma once

#include <string>
#include <vector>

/// Checks whether the files that one command reads and writes conflict.
namespace berth::cli {

/// A file and the option that names it; an empty path: the option was not given.
struct Place {
  std::string option;
  std::string path;
};

/// @throws InvalidArgument when two inputs are standard input, or when an output is the same file as another output or
/// an input: one would overwrite or mix with the other. Devices such as /dev/null may repeat.
void check_places(const std::vector<Place>& inputs, const std::vector<Place>& outputs);

}  // namespace berth::cli
