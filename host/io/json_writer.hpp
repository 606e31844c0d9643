#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster.hpp"
#include "host/io/json_text.hpp"

namespace berth::io {

/// Appends JSON to a string, commas included. Lists of rows put each row on a line, so that line numbers in errors mean something.
class JsonWriter {
 public:
  /// Calls body() between braces, or brackets.
  template <class Body>
  void object(Body&& body) {
    open('{');
    body();
    close('}');
  }
  template <class Body>
  void array(Body&& body) {
    open('[');
    body();
    close(']');
  }
  /// A list of `rows` under `key`, write(row) for each; nothing when it is empty and not `always`.
  template <class Rows, class Write>
  void list(std::string_view name, const Rows& rows, Write&& write, bool always = false) {
    if (rows.empty() && !always) return;
    key(name);
    array([&] {
      for (const auto& row : rows) write(row);
    });
  }
  /// The same with a line for each row.
  template <class Rows, class Write>
  void lines(std::string_view name, const Rows& rows, Write&& write, bool always = false) {
    list(
        name, rows,
        [&](const auto& row) {
          new_line();
          write(row);
        },
        always);
  }

  void key(std::string_view name) {
    comma();
    append_quoted(out_, name);
    out_ += ':';
    fresh_ = true;
  }
  void string(std::string_view text) {
    comma();
    append_quoted(out_, text);
  }
  void decimal(std::int64_t value, int places) {
    comma();
    append_decimal(out_, value, places);
  }
  void integer(std::int64_t value) { decimal(value, 0); }
  void raw(std::string_view json) {
    comma();
    out_ += json;
  }

  // Fields; those with `absent` are not written when they have that value.
  void text(std::string_view name, std::string_view value) { key(name), string(value); }
  void text_unless(std::string_view name, std::string_view value, std::string_view absent) {
    if (value != absent) text(name, value);
  }
  void number(std::string_view name, std::int64_t value, int places = 0) { key(name), decimal(value, places); }
  void number_unless(std::string_view name, std::int64_t value, std::int64_t absent, int places = 0) {
    if (value != absent) number(name, value, places);
  }
  void flag_unless(std::string_view name, bool value, bool absent) {
    if (value != absent) key(name), raw(value ? "true" : "false");
  }
  void strings(std::string_view name, const std::vector<std::string>& values) {
    list(name, values, [this](const std::string& one) { string(one); });
  }
  /// @throws InvalidArgument when a value is no JSON.
  void extensions(const Extensions& x);

  void new_line() {
    comma();
    out_ += '\n';
    fresh_ = true;
  }
  /// Bytes of the text so far.
  std::size_t size() const { return out_.size(); }
  /// Hands over the text so far; what follows continues it. @throws as finish.
  std::string take();
  /// The text, with a line's end. @throws InvalidArgument when some string in it is not UTF-8.
  std::string finish();

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    fresh_ = false;
  }

  std::string out_;
  bool fresh_ = true;  // nothing stands before the next value that asks for a comma
};

}  // namespace berth::io
