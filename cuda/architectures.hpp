#pragma once

#include <string>
#include <string_view>

/// The architectures that a library was compiled for, as CMake lists them, separated by commas: "80-real,90a-real,120-virtual".
/// `real` is machine code, `virtual` is PTX, which a driver compiles; without either it is both.
namespace berth::cuda {

/// One entry of such a list.
struct Architecture {
  int capability = 0;  // 10 * major + minor
  char only = ' ';     // 'a': for that capability alone; 'f': for its major version
  bool real = false, virt = false;
};

inline Architecture read_architecture(std::string_view text) {
  Architecture one;
  std::size_t at = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) one.capability = 10 * one.capability + (text[at] - '0');
  if (at < text.size() && (text[at] == 'a' || text[at] == 'f')) one.only = text[at++];
  const std::string_view kind = text.substr(at);
  one.real = kind != "-virtual";
  one.virt = kind != "-real";
  return one;
}

/// Calls visit(Architecture) for each entry of a list.
template <class Visit>
void for_each_architecture(std::string_view list, const Visit& visit) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    visit(read_architecture(list.substr(0, comma)));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
}

/// Whether a device runs that code. Machine code runs on devices of the same major version with the same or a higher minor
/// version; PTX is compiled for every device that is not older.
inline bool runs_on(const Architecture& code, int capability) {
  const bool same_major = code.capability / 10 == capability / 10;
  if (code.only == 'a') return code.capability == capability;
  if (code.capability > capability) return false;
  return same_major || (code.virt && code.only == ' ');
}

inline bool has_code(std::string_view list, int capability) {
  bool any = false;
  for_each_architecture(list, [&](const Architecture& code) { any = any || runs_on(code, capability); });
  return any;
}

/// As text for users: "sm_80, sm_90a, compute_120".
inline std::string architecture_names(std::string_view list) {
  std::string names;
  for_each_architecture(list, [&](const Architecture& code) {
    const std::string number = std::to_string(code.capability) + (code.only == ' ' ? "" : std::string(1, code.only));
    if (code.real) names += (names.empty() ? "sm_" : ", sm_") + number;
    if (code.virt) names += (names.empty() ? "compute_" : ", compute_") + number;
  });
  return names;
}

}  // namespace berth::cuda
