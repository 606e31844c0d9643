#pragma once

#include <string>

#include "tests/cuda_on_threads/control.hpp"

/// The plugin next to this program, as its tests set and read it. It is the one that the loader of libberth finds.
namespace berth::cuda_on_threads {

/// @throws std::runtime_error with the cause where it cannot be loaded.
const Control& stand_in();

/// From here on the runtime is as these settings say. Counts begin at 0.
void set(const Settings& settings);
Counts counts();
/// What is in use, as text; empty when nothing is.
std::string in_use();

}  // namespace berth::cuda_on_threads
