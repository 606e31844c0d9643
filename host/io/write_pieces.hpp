#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace berth::io {

using WritePiece = std::function<void(std::string_view)>;

/// As write_file with a whole content, which `produce` writes piece by piece. What it throws leaves the old file.
void write_file(const std::string& path, const std::function<void(const WritePiece&)>& produce);

}  // namespace berth::io
