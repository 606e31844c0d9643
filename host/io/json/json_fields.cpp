#include "host/io/json/json_fields.hpp"

#include "host/io/json/json_text.hpp"

namespace berth::io {

void fail_unknown(const JsonCursor& in, std::string_view key, std::span<const std::string_view> known, bool takes_x) {
  std::string problem = fmt::format("unknown field '{}'{}", cut_utf8(key, 60), core::did_you_mean(key, known));
  if (key.substr(0, 2) == "x_" && !takes_x) problem += " (extensions 'x_...' are kept on the objects of the top-level lists only)";
  in.fail(problem);
}

void read_extension(JsonCursor& in, std::string_view key, DistinctKeys& keys, Extensions& x) {
  if (!keys.add(key)) in.fail(fmt::format("duplicate field '{}'", cut_utf8(key, 60)));
  x.emplace_back(std::string(key), std::string());
  x.back().second = in.raw();
}

}  // namespace berth::io
