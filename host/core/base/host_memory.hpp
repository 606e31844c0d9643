#pragma once

#include <cstddef>
#include <string>

namespace berth::core {

/// Half of the machine's memory, or of the limit of the process's control group where that is lower.
std::size_t half_of_memory();

/// The same for a given machine. @param group  content of memory.max of the control group; empty: there is none.
std::size_t half_of_memory(std::size_t machine, const std::string& group);

}  // namespace berth::core
