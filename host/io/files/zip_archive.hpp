#pragma once

#include <string>
#include <string_view>

namespace berth::io {

/// Whether the bytes begin as a zip archive does.
bool is_zip(std::string_view bytes);

/// The content of the one file in a zip archive whose name ends in `tail`, its checksum verified.
///
/// Stored and deflated files, without encryption. Nothing above `most` bytes is unpacked, and memory grows with what the file holds.
/// @param name  Of the archive, for errors.
/// @throws InputError for another kind of archive, a damaged one, one without such a file or with several.
std::string unzip_one(std::string_view archive, std::string_view tail, const std::string& name, std::size_t most);

}  // namespace berth::io
