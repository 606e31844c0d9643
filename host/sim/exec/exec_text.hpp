#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The words of the protocol between a simulation and an external policy (docs/policy-exec.md).
namespace berth::sim {

/// A text as one field: bytes that would end it, ',' and '%' as "%2C"; "-" for none, and "%2D" for the text "-".
void append_word(std::string& line, std::string_view text);
/// The text of a field. A '%' without two hexadecimal digits after it stands for itself.
std::string word_text(std::string_view word);

/// "node7:0,1,2".
void append_place(std::string& line, std::string_view node, std::uint64_t gpus);

}  // namespace berth::sim
