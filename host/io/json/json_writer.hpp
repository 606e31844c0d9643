#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "berth/cluster.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {

/// Appends JSON to a string, including commas. Lists of rows have one row per line, so that line numbers in errors are useful.
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
  /// A list of `rows` under `key`, with write(row) for each; omitted when it is empty, unless `always`.
  template <class Rows, class Write>
  void list(std::string_view name, const Rows& rows, Write&& write, bool always = false) {
    if (std::empty(rows) && !always) return;
    key(name);
    array([&] {
      for (const auto& row : rows) write(row);
    });
  }
  /// The same with one line per row.
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
    assert(!after_key());
    comma();
    append_quoted(out_, name);
    out_ += ':';
    fresh_ = true;
  }
  /// A key without characters that need an escape, such as the name of a field.
  void plain_key(std::string_view name) {
    comma();
    out_ += '"';
    out_ += name;
    out_ += "\":";
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

  // Fields; those with `absent` are omitted when they have that value.
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
  /// @throws InvalidArgument when a value is not JSON.
  void extensions(const Extensions& x);

  void new_line() {
    comma();
    out_ += '\n';
    fresh_ = true;
  }
  /// Bytes of the text so far.
  std::size_t size() const { return out_.size(); }
  /// Returns and removes the text so far; later output continues it. @throws as finish.
  std::string take();
  /// The text, with a final newline. @throws InvalidArgument when a string in it is not UTF-8.
  std::string finish();

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  /// A key lacks its value.
  bool after_key() const { return fresh_ && !out_.empty() && out_.back() == ':'; }
  void open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    assert(!after_key());
    out_ += bracket;
    fresh_ = false;
  }

  std::string out_;
  bool fresh_ = true;  // the next value needs no comma before it
};

}  // namespace berth::io
