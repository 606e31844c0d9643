#pragma once

#include <string>
#include <string_view>

namespace berth::io {

/// The same content as JSON, one document after another. Every value is on the line that it has in the YAML, so that the
/// readers of JSON name the right line in errors.
///
/// Plain `null`, `true`, `false` and numbers in JSON's grammar are of that type. All other scalars are strings.
/// Anchors, aliases and keys that are not scalars are rejected.
/// @param first_line  Line of the file on which the text begins.
/// @throws InputError naming file and line.
std::string json_of_yaml(std::string_view yaml, const std::string& name, int first_line = 1);

/// A JSON text begins with a bracket; anything else is taken for YAML.
bool looks_like_json(std::string_view text);

}  // namespace berth::io
