#include "bench/plan_search/merge.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <string_view>

#include "host/io/json/json_cursor.hpp"

namespace berth::bench {
namespace {

struct Pieces {
  std::string context, contexts, rows, times, instances;
  std::set<std::string, std::less<>> names;  // of rows
};

void append(std::string& to, std::string_view text) {
  if (!to.empty()) to += ",\n  ";
  to += text;
}

std::string name_of(std::string_view row, const std::string& source) {
  io::JsonCursor in(row, source);
  std::string name;
  in.object([&](std::string_view key) { key == "name" ? void(name = std::string(in.string())) : void(in.raw()); });
  return name;
}

void add(Pieces& all, const std::string& text, const std::string& source) {
  io::JsonCursor in(text, source);
  bool times_read = false;
  std::string context, contexts;  // the latter for a result that was itself merged
  in.object([&](std::string_view key) {
    if (key == "context") {
      context = in.raw();
    } else if (key == "contexts") {
      in.array([&] { append(contexts, in.raw()); });
    } else if (key == "at_ms") {
      const std::string_view times = in.raw();
      if (all.times.empty()) all.times = times;
      if (all.times != times) in.fail("expected gaps at the times of the first result, " + all.times);
      times_read = true;
    } else if (key == "benchmarks") {
      in.array([&] {
        const std::string_view row = in.raw();
        const std::string name = name_of(row, source);
        if (!all.names.insert(name).second) in.fail("a result before has a row '" + name + "'");
        append(all.rows, row);
      });
    } else if (key == "instances") {
      in.array([&] { append(all.instances, in.raw()); });
    } else {
      in.raw();
    }
  });
  in.finish();
  if (all.context.empty()) all.context = context;
  append(all.contexts, contexts.empty() ? context : contexts);
  if (!times_read) in.fail("is no result of berth_bench_plan_search: no at_ms");
}

}  // namespace

std::string merged(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  Pieces all;
  for (std::size_t i = 0; i < texts.size(); ++i) add(all, texts[i], names[i]);
  std::string text = "{\n \"context\": " + all.context + ",\n \"benchmarks\": [\n  " + all.rows + "\n ],\n \"at_ms\": " + all.times;
  text += ",\n \"instances\": [\n  " + all.instances + "\n ]";
  if (texts.size() > 1) text += ",\n \"contexts\": [\n  " + all.contexts + "\n ]";
  return text + "\n}\n";
}

}  // namespace berth::bench
