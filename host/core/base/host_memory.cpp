#include "host/core/base/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace berth::core {

// "max", as any other text, is no limit.
std::size_t half_of_memory(std::size_t machine, const std::string& group) {
  std::size_t limit = 0;
  const bool limited = std::from_chars(group.data(), group.data() + group.size(), limit).ec == std::errc();
  return (limited ? std::min(machine, limit) : machine) / 2;
}

std::size_t half_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  const std::size_t machine = pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
  std::string group;
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::getline(file, group);
  return half_of_memory(machine, group);
}

}  // namespace berth::core
