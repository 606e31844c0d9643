#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::io {

/// Names that one import may make of hostlists: a short text can stand for very many.
inline constexpr std::int64_t kMostHostNames = 20'000'000;

/// Expands Slurm's hostlist expression, for example "n[1-4,07-09],gpu1,r[1-2]c[0-3]". Numbers are padded to the width of the lower bound;
/// of several brackets the last one runs fastest.
/// @param left  Names that may still be made; lowered by those that were. More are refused before any is made.
/// @param out   Names are appended.
/// @returns what is wrong, empty when nothing is.
std::string expand_hostlist(std::string_view text, std::int64_t& left, std::vector<std::string>& out);

}  // namespace berth::io
