#pragma once

#include <string>
#include <vector>

/// The files that one command reads and writes: whether they can go together.
namespace berth::cli {

/// A file and the option that names it; an empty path: the option was not given.
struct Place {
  std::string option;
  std::string path;
};

/// @throws InvalidArgument when two inputs are standard input, or when two outputs, or an output and an input, are one file: the one
/// would be mixed with the other or replace it. Devices such as /dev/null may be named again and again.
void check_places(const std::vector<Place>& inputs, const std::vector<Place>& outputs);

}  // namespace berth::cli
