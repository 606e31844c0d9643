#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The words of the protocol between a simulation and a policy in another language (docs/policy-exec.md).
namespace berth::sim {

/// A text as one field: bytes that would end it, ',' and '%' as "%2C"; "-" for none, and "%2D" for a text that is "-".
void append_word(std::string& line, std::string_view text);
/// The text of a field; nothing is wrong with a '%' that two hexadecimal digits do not follow: it stands for itself.
std::string word_text(std::string_view word);

/// "node7:0,1,2".
void append_place(std::string& line, std::string_view node, std::uint64_t gpus);

}  // namespace berth::sim
