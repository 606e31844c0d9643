#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace berth::io {

using WritePiece = std::function<void(std::string_view)>;

/// Like write_file, for content that `produce` writes in parts. An exception leaves the old file.
void write_file(const std::string& path, const std::function<void(const WritePiece&)>& produce);

}  // namespace berth::io
