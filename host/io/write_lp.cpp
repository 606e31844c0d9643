#include "host/io/write_lp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/at.hpp"
#include "host/core/visible.hpp"
#include "host/io/json_text.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kLpPiece = std::size_t{1} << 16;
constexpr std::size_t kCommentBytes = 240;

// Collects lines, hands them on when they are many.
class LpLines {
 public:
  explicit LpLines(const WritePiece& write) : write_(write) {}

  void line(std::string_view text) {
    lines_ += text;
    lines_ += '\n';
    if (lines_.size() >= kLpPiece) flush();
  }
  // Names are as long as they like, and a line is not: the comment goes on in the next one.
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

// In quotes; without control characters, at which readers stop even in comments.
std::string lp_name(std::string_view id) {
  std::string quoted;
  append_quoted(quoted, id);
  return core::visible(quoted);
}

void head(const core::ChoiceProgramme& p, LpLines& out) {
  out.comment(fmt::format("What policy {} chooses among, by the objective {}: a variable is 1 when the job takes the shape.", p.policy,
                          p.objective));
  for (std::size_t j = 0; j < p.job_id.size(); ++j) {
    const std::string job = lp_name(p.job_id[j]);
    for (std::int32_t k = p.option_begin[j]; k < p.option_begin[j + 1]; ++k) {
      out.comment(fmt::format("x{}_{}: job {}, shape {}, {} x {}", j, k - p.option_begin[j], job, lp_name(p.shape_id[at(k)]), p.gpus[at(k)],
                              lp_name(p.type_id[at(p.type[at(k)])])));
    }
  }
}

// The format has no sum and no constraint without a variable: `none` is 0 and stands where there is nothing else.
void nothing_to_choose(LpLines& out) {
  for (const char* text : {"Maximize", " value: 0 none", "Subject To", " nothing: none <= 0"}) out.line(text);
}

void choice_of_shapes(const core::ChoiceProgramme& p, LpLines& out) {
  struct Term {
    std::int32_t type, job, option, gpus;
  };
  std::vector<Term> terms;
  out.line("Maximize");
  out.line(" value:");
  for (std::size_t j = 0; j < p.job_id.size(); ++j) {
    for (std::int32_t k = p.option_begin[j]; k < p.option_begin[j + 1]; ++k) {
      const std::int64_t value = p.value[at(k)];
      terms.push_back({p.type[at(k)], static_cast<std::int32_t>(j), k - p.option_begin[j], p.gpus[at(k)]});
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
    out.comment(fmt::format("GPUs of type {}.", lp_name(p.type_id[at(type)])));
    out.line(fmt::format(" type{}:", type));
    for (; last < terms.size() && terms[last].type == type; ++last) {
      out.line(fmt::format(" + {} x{}_{}", terms[last].gpus, terms[last].job, terms[last].option));
    }
    out.line(fmt::format(" <= {}", p.capacity[at(type)]));
  }
  out.line("Binary");
  for (std::size_t j = 0; j < p.job_id.size(); ++j) {
    for (std::int32_t k = p.option_begin[j]; k < p.option_begin[j + 1]; ++k) out.line(fmt::format(" x{}_{}", j, k - p.option_begin[j]));
  }
}

}  // namespace

void write_lp(const core::ChoiceProgramme& p, const WritePiece& write) {
  LpLines out(write);
  head(p, out);
  p.value.empty() ? nothing_to_choose(out) : choice_of_shapes(p, out);
  out.line("End");
  out.flush();
}

}  // namespace berth::io
