#pragma once

#include <string>

namespace berth::io {

/// Whether the file's first character, plain or packed, begins a JSON object. Standard input cannot be looked at twice: it does not.
bool begins_json(const std::string& path);

}  // namespace berth::io
