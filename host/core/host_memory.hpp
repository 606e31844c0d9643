#pragma once

#include <cstddef>
#include <string>

namespace berth::core {

/// Half of the machine's memory, or of what the process's control group may have where that is less.
std::size_t half_of_memory();

/// The same of such a machine. @param group  what the file memory.max of the control group says; empty: there is none.
std::size_t half_of_memory(std::size_t machine, const std::string& group);

}  // namespace berth::core
