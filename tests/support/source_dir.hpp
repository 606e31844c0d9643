#pragma once

#include <string>

namespace berth::test {

/// The folder of the project that the tests were built from. In a function, so that the compiler cache has their objects for every folder.
const std::string& source_dir();

}  // namespace berth::test
