#include "host/io/files/yaml_text.hpp"

#include <fmt/format.h>
#include <yaml.h>

#include <cctype>
#include <vector>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

// A number as JSON writes it: such a plain scalar keeps its type.
bool is_json_number(std::string_view text) {
  const auto digits = [&] {
    const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(n);
    return n;
  };
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  if (!text.empty() && text.front() == '0') {
    text.remove_prefix(1);
  } else if (digits() == 0) {
    return false;
  }
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

std::string_view word_of(std::string_view plain) {
  if (plain.empty() || plain == "~" || plain == "null" || plain == "Null" || plain == "NULL") return "null";
  if (plain == "true" || plain == "True" || plain == "TRUE") return "true";
  if (plain == "false" || plain == "False" || plain == "FALSE") return "false";
  return is_json_number(plain) ? plain : std::string_view();
}

class YamlEvents {
 public:
  YamlEvents(std::string_view yaml, const std::string& name, int first_line) : name_(name), first_line_(first_line) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(yaml.data()), yaml.size());
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;
  ~YamlEvents() {
    drop();
    yaml_parser_delete(&parser_);
  }

  const yaml_event_t& next() {
    drop();
    if (yaml_parser_parse(&parser_, &event_) == 0) fail_syntax();
    filled_ = true;
    return event_;
  }
  int line() const { return line_of(event_.start_mark); }
  [[noreturn]] void fail(int line, const std::string& problem) const {
    throw InputError(core::escape_control(name_), "", line, core::escape_control(problem));
  }

 private:
  int line_of(const yaml_mark_t& mark) const { return first_line_ + static_cast<int>(mark.line); }
  void drop() {
    if (filled_) yaml_event_delete(&event_);
    filled_ = false;
  }
  [[noreturn]] void fail_syntax() const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    const char* const problem = parser_.problem == nullptr ? "not readable" : parser_.problem;
    fail(line_of(parser_.error == YAML_READER_ERROR ? parser_.mark : parser_.problem_mark), fmt::format("no YAML: {}", problem));
  }

  const std::string& name_;
  int first_line_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool filled_ = false;
};

// Writes JSON event by event. A frame is an open collection.
class JsonOfYaml {
 public:
  JsonOfYaml(std::string_view yaml, const std::string& name, int first_line) : events_(yaml, name, first_line) {}

  std::string text() {
    for (;;) {
      const yaml_event_t& event = events_.next();
      switch (event.type) {
        case YAML_STREAM_END_EVENT:
          return std::move(out_);
        case YAML_SCALAR_EVENT:
          scalar(event);
          break;
        case YAML_SEQUENCE_START_EVENT:
          open('[', event.data.sequence_start.anchor != nullptr);
          break;
        case YAML_MAPPING_START_EVENT:
          open('{', event.data.mapping_start.anchor != nullptr);
          break;
        case YAML_SEQUENCE_END_EVENT:
          close(']');
          break;
        case YAML_MAPPING_END_EVENT:
          close('}');
          break;
        case YAML_ALIAS_EVENT:
          events_.fail(events_.line(), "an alias: write the value out");
          break;
        case YAML_DOCUMENT_END_EVENT:
          out_ += '\n', ++line_;
          break;
        default:
          break;
      }
    }
  }

 private:
  struct YamlFrame {
    bool mapping = false;
    std::size_t parts = 0;  // keys and values of a mapping, elements of a list
  };

  // Moves to the line of the event, and writes what stands between it and the value before.
  void begin_value(bool anchor) {
    if (anchor) events_.fail(events_.line(), "an anchor: write the value out where it is used");
    for (; line_ < events_.line(); ++line_) out_ += '\n';
    if (open_.empty()) return;
    YamlFrame& frame = open_.back();
    if (frame.mapping && frame.parts % 2 == 1) {
      out_ += ':';
    } else if (frame.parts > 0) {
      out_ += ',';
    }
    ++frame.parts;
  }
  bool key_follows() const { return !open_.empty() && open_.back().mapping && open_.back().parts % 2 == 0; }

  void open(char bracket, bool anchor) {
    if (key_follows()) events_.fail(events_.line(), "a key that is no text");
    begin_value(anchor);
    out_ += bracket;
    if (open_.size() == static_cast<std::size_t>(JsonCursor::kMaxDepth)) {
      events_.fail(events_.line(), fmt::format("more than {} lists and objects inside one another", JsonCursor::kMaxDepth));
    }
    open_.push_back({bracket == '{'});
  }
  void close(char bracket) {
    open_.pop_back();
    out_ += bracket;
  }
  void scalar(const yaml_event_t& event) {
    const std::string_view value(reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length);
    const bool key = key_follows();
    begin_value(event.data.scalar.anchor != nullptr);
    const bool plain = event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event.data.scalar.tag == nullptr;
    const std::string_view word = key || !plain ? std::string_view() : word_of(value);
    word.empty() ? append_quoted(out_, value) : static_cast<void>(out_ += word);
  }

  YamlEvents events_;
  std::vector<YamlFrame> open_;
  std::string out_;
  int line_ = 1;
};

}  // namespace

std::string json_of_yaml(std::string_view yaml, const std::string& name, int first_line) {
  return JsonOfYaml(yaml, name, first_line).text();
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '{' || text[first] == '[');
}

}  // namespace berth::io
