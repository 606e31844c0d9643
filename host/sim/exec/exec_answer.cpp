#include "host/sim/exec/exec_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/exec/exec_text.hpp"

namespace berth::sim {
namespace {

constexpr std::size_t kShownOfLine = 80;  // bytes of the line in a message

/// Takes the next word off a line; empty: there is none.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

std::int32_t whole_number(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

class AnswerReader {
 public:
  AnswerReader(const ClusterState& state, const ExecQuestion& question)
      : state_(state),
        s_(state),
        question_(question),
        seen_(s_.jobs().size(), 0),
        named_(s_.nodes().size(), 0),
        kept_(s_.nodes().size(), 0) {}

  void read(std::string_view line) {
    const std::string_view word = next_word(line);
    if (word == "run") {
      run(line);
    } else if (word == "reject") {
      reject(line);
    } else if (word == "wake") {
      wake(line);
    } else {
      throw InvalidArgument("is none of: run, reject, wake, done");
    }
  }
  ExecAnswer take() { return std::move(answer_); }

 private:
  std::int32_t job_named(std::string_view& line) {
    const std::string_view word = next_word(line);
    if (word.empty()) throw InvalidArgument("names no job");
    const std::string id = word_text(word);
    const std::int32_t job = state_.find_job(id);
    if (job < 0 || !question_.reported(job)) throw InvalidArgument(fmt::format("there is no job '{}' now", core::escape_control(id)));
    if (seen_[to_index(job)]++ != 0) throw InvalidArgument(fmt::format("job '{}' was named before", id));
    return job;
  }

  void run(std::string_view line) {
    core::RunLine asked;
    asked.job = job_named(line);
    const std::string& id = state_.job(asked.job)->id;
    std::string_view word = next_word(line);
    if (!word.empty() && word.find(':') == std::string_view::npos) {
      asked.gpus = whole_number(word);
      if (asked.gpus <= 0) throw InvalidArgument(fmt::format("'{}' is no number of GPUs", core::escape_control(word)));
      word = next_word(line);
    }
    std::int32_t gpus = 0;
    for (; !word.empty(); word = next_word(line)) {
      asked.places.push_back(place(word));
      gpus += std::popcount(asked.places.back().gpus);
    }
    if (!asked.places.empty()) {
      if (asked.gpus > 0 && asked.gpus != gpus) {
        throw InvalidArgument(fmt::format("asks for {} and names {}", core::counted(asked.gpus, "GPU"), gpus));
      }
      asked.gpus = gpus;
    }
    const std::int32_t type = asked.places.empty() ? -1 : s_.node().type[to_index(asked.places.front().node)];
    for (const core::NamedGpus& one : asked.places) {
      if (s_.node().type[to_index(one.node)] != type) throw InvalidArgument("names GPUs of several types");
    }
    if (!asked.places.empty() && core::flat_option(s_, asked.job, asked.gpus, type) < 0) {
      throw InvalidArgument(fmt::format("job '{}' cannot have {} of type {} (it may have {})", id, core::counted(asked.gpus, "GPU"),
                                        s_.gpu_types()[to_index(type)].id, choices(asked.job)));
    }
    if (asked.places.empty() && asked.gpus > 0 && !may_have(asked.job, asked.gpus)) {
      throw InvalidArgument(
          fmt::format("job '{}' cannot have {} (it may have {})", id, core::counted(asked.gpus, "GPU"), choices(asked.job)));
    }
    answer_.run.push_back(std::move(asked));
    if (answer_.run.back().places.empty()) keep(answer_.run.back());
  }

  core::NamedGpus place(std::string_view word) {
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) throw InvalidArgument(fmt::format("'{}' is no NODE:GPU,GPU", core::escape_control(word)));
    const std::string id = word_text(word.substr(0, colon));
    core::NamedGpus named{state_.find_node(id), 0};
    if (named.node < 0) throw InvalidArgument(fmt::format("there is no node '{}'", core::escape_control(id)));
    const std::uint64_t existing = s_.facts().node(named.node).existing;
    for (std::string_view left = word.substr(colon + 1);;) {
      const std::string_view index = left.substr(0, left.find(','));
      const std::int32_t g = whole_number(index);
      if (g < 0 || g >= kMaxGpusPerNode || (existing >> g & 1) == 0) {
        throw InvalidArgument(fmt::format("node '{}' has no GPU '{}'", id, core::escape_control(index)));
      }
      const std::uint64_t bit = std::uint64_t{1} << g;
      if (((named_[to_index(named.node)] | named.gpus) & bit) != 0) {
        throw InvalidArgument(fmt::format("GPU {} of node '{}' is taken: it was named before", g, id));
      }
      named.gpus |= bit;
      if (index.size() == left.size()) break;
      left.remove_prefix(index.size() + 1);
    }
    if (const std::uint64_t clash = kept_[to_index(named.node)] & named.gpus; clash != 0) {
      throw InvalidArgument(fmt::format("GPU {} of node '{}' is taken: job '{}', named before, runs there", std::countr_zero(clash), id,
                                        state_.job(keeper_of(named.node, clash))->id));
    }
    named_[to_index(named.node)] |= named.gpus;
    return named;
  }

  // A running job named without other GPUs keeps its own; later lines may not name them.
  void keep(const core::RunLine& line) {
    const kernel::ProblemView& p = s_.problem();
    if (s_.job().running[to_index(line.job)] == 0 || (line.gpus > 0 && line.gpus != s_.job().gpus[to_index(line.job)])) return;
    for (std::int32_t h = p.held_begin[line.job]; h < p.held_end[line.job]; ++h) {
      if ((named_[to_index(p.held[h].node)] & p.held[h].mask) != 0) return;  // an earlier line has named some of them
    }
    for (std::int32_t h = p.held_begin[line.job]; h < p.held_end[line.job]; ++h) kept_[to_index(p.held[h].node)] |= p.held[h].mask;
  }

  std::int32_t keeper_of(std::int32_t node, std::uint64_t gpus) const {
    const kernel::ProblemView& p = s_.problem();
    for (const core::RunLine& line : answer_.run) {
      for (std::int32_t h = p.held_begin[line.job]; h < p.held_end[line.job]; ++h) {
        if (p.held[h].node == node && (p.held[h].mask & gpus) != 0) return line.job;
      }
    }
    return answer_.run.front().job;
  }

  bool may_have(std::int32_t job, std::int32_t gpus) const {
    const kernel::ProblemView& p = s_.problem();
    return std::any_of(p.options + p.option_begin[job], p.options + p.option_end[job],
                       [&](const kernel::OptionRow& option) { return p.demands[option.demand].gpus == gpus; });
  }

  std::string choices(std::int32_t job) const {
    const kernel::ProblemView& p = s_.problem();
    std::vector<std::string> all;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const kernel::DemandRow& demand = p.demands[p.options[o].demand];
      all.push_back(fmt::format("{} {}", demand.gpus, s_.gpu_types()[to_index(demand.gpu_type)].id));
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  void reject(std::string_view line) {
    const std::int32_t job = job_named(line);
    if (s_.job().running[to_index(job)] != 0)
      throw InvalidArgument(fmt::format("job '{}' runs; only waiting jobs can be rejected", state_.job(job)->id));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    answer_.away.push_back({job, core::escape_control(line)});
  }

  void wake(std::string_view line) {
    const std::string_view word = next_word(line);
    const auto instant = core::parse_seconds(word);
    if (!instant) throw InvalidArgument(fmt::format("'{}' is no instant in seconds", core::escape_control(word)));
    if (!next_word(line).empty()) throw InvalidArgument("has more than an instant");
    if (*instant <= s_.now()) throw InvalidArgument(fmt::format("it is {} already", core::seconds_text(s_.now())));
    answer_.wake_us = std::min(answer_.wake_us, *instant);
  }

  const ClusterState& state_;
  StateView s_;
  const ExecQuestion& question_;
  ExecAnswer answer_;
  std::vector<std::uint8_t> seen_;    // [jobs of the state]
  std::vector<std::uint64_t> named_;  // [nodes] named by lines
  std::vector<std::uint64_t> kept_;   // [nodes] held by running jobs that were named without other GPUs
};

}  // namespace

ExecAnswer parse_exec_answer(std::string_view lines, const ClusterState& state, const ExecQuestion& question) {
  AnswerReader reader(state, question);
  for (std::int64_t number = 1; !lines.empty(); ++number) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() + 1);
    try {
      reader.read(line);
    } catch (const InvalidArgument& error) {
      const std::string_view shown = line.substr(0, kShownOfLine);
      throw InvalidArgument(fmt::format("line {} of its answer, '{}{}': {}", number, core::escape_control(shown),
                                        shown.size() < line.size() ? "..." : "", error.what()));
    }
  }
  return reader.take();
}

}  // namespace berth::sim
