#include "host/io/formats/write_lp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kLpPiece = std::size_t{1} << 16;
constexpr std::size_t kCommentBytes = 240;

// Collects lines and passes them on in large parts.
class LpLines {
 public:
  explicit LpLines(const WritePiece& write) : write_(write) {}

  void line(std::string_view text) {
    lines_ += text;
    lines_ += '\n';
    if (lines_.size() >= kLpPiece) flush();
  }
  // Names may be longer than a line: the comment continues on the next one.
  void comment(std::string_view rest) {
    while (!rest.empty()) {
      const std::size_t size = cut_utf8(rest, kCommentBytes).size();
      line(fmt::format("\\ {}", rest.substr(0, size)));
      rest.remove_prefix(size);
    }
  }
  void flush() {
    write_(lines_);
    lines_.clear();
  }

 private:
  const WritePiece& write_;
  std::string lines_;
};

// In quotes and without control characters, at which readers stop even in comments.
std::string lp_name(std::string_view id) {
  std::string quoted;
  append_quoted(quoted, id);
  return core::escape_control(quoted);
}

void head(const core::ShapeProgram& p, LpLines& out) {
  out.comment(fmt::format("What policy {} chooses among, by the objective {}: a variable is 1 when the job takes the shape.", p.policy,
                          p.objective));
  for (std::size_t j = 0; j < p.job_id.size(); ++j) {
    const std::string job = lp_name(p.job_id[j]);
    for (std::int32_t k = p.option_begin[j]; k < p.option_begin[j + 1]; ++k) {
      out.comment(fmt::format("x{}_{}: job {}, shape {}, {} x {}", j, k - p.option_begin[j], job, lp_name(p.shape_id[to_index(k)]),
                              p.gpus[to_index(k)], lp_name(p.type_id[to_index(p.type[to_index(k)])])));
    }
  }
}

// The format requires a variable in every sum and constraint: `none`, which is 0, fills empty ones.
void nothing_to_choose(LpLines& out) {
  for (const char* text : {"Maximize", " value: 0 none", "Subject To", " nothing: none <= 0"}) out.line(text);
}

void choice_of_shapes(const core::ShapeProgram& p, LpLines& out) {
  struct Term {
    std::int32_t type, job, option, gpus;
  };
  std::vector<Term> terms;
  out.line("Maximize");
  out.line(" value:");
  for (std::size_t j = 0; j < p.job_id.size(); ++j) {
    for (std::int32_t k = p.option_begin[j]; k < p.option_begin[j + 1]; ++k) {
      const std::int64_t value = p.value[to_index(k)];
      terms.push_back({p.type[to_index(k)], static_cast<std::int32_t>(j), k - p.option_begin[j], p.gpus[to_index(k)]});
      out.line(fmt::format(" {} {} x{}_{}", value < 0 ? '-' : '+', value < 0 ? -value : value, j, terms.back().option));
    }
  }
  out.line("Subject To");
  out.comment("At most one shape of a job.");
  for (std::size_t first = 0, last = 0; first < terms.size(); first = last) {
    out.line(fmt::format(" job{}:", terms[first].job));
    for (; last < terms.size() && terms[last].job == terms[first].job; ++last) {
      out.line(fmt::format(" + x{}_{}", terms[last].job, terms[last].option));
    }
    out.line(" <= 1");
  }
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.type < b.type; });
  for (std::size_t first = 0, last = 0; first < terms.size(); first = last) {
    const std::int32_t type = terms[first].type;
    out.comment(fmt::format("GPUs of type {}.", lp_name(p.type_id[to_index(type)])));
    out.line(fmt::format(" type{}:", type));
    for (; last < terms.size() && terms[last].type == type; ++last) {
      out.line(fmt::format(" + {} x{}_{}", terms[last].gpus, terms[last].job, terms[last].option));
    }
    out.line(fmt::format(" <= {}", p.capacity[to_index(type)]));
  }
  out.line("Binary");
  for (std::size_t j = 0; j < p.job_id.size(); ++j) {
    for (std::int32_t k = p.option_begin[j]; k < p.option_begin[j + 1]; ++k) out.line(fmt::format(" x{}_{}", j, k - p.option_begin[j]));
  }
}

}  // namespace

void write_lp(const core::ShapeProgram& p, const WritePiece& write) {
  LpLines out(write);
  head(p, out);
  p.value.empty() ? nothing_to_choose(out) : choice_of_shapes(p, out);
  out.line("End");
  out.flush();
}

}  // namespace berth::io
