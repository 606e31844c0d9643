#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// Maximum number of names that one import creates from hostlists, because a short text can represent very many.
inline constexpr std::int64_t kMostHostNames = 20'000'000;

/// Expands a Slurm hostlist expression, for example "n[1-4,07-09],gpu1,r[1-2]c[0-3]".
/// Numbers are padded to the width of the lower bound; the last of several brackets varies fastest.
/// @param left  In and out: names that may still be created. An expression with more is rejected before any is created.
/// @param out   Names are appended.
/// @returns the problem, or empty.
std::string expand_hostlist(std::string_view text, std::int64_t& left, std::vector<std::string>& out);

/// An expression for the names, ordered by text and number: "n[1-4,07-09],x". Only a number at the end of a
/// name becomes a range.
/// @throws InvalidArgument for a name that an expression cannot hold.
std::string compact_hostlist(const std::vector<std::string>& names);
/// Whether the name can be part of an expression and of a line of topology.conf.
bool is_host_name(std::string_view name);

}  // namespace berth::io
