#include <cstddef>
#include <string>
#include <string_view>

#include "berth/io.hpp"
#include "host/core/state/state_names.hpp"
#include "host/report/explain.hpp"
#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"

using berth::c::guarded;
using berth::c::required;
using berth::c::Use;

namespace berth::c {
namespace {

std::string_view shape_id(const ClusterState& state, const Decision& d) {
  const Job* job = state.job(d.job);
  const auto shape = static_cast<std::size_t>(d.shape);
  return d.shape < 0 || job == nullptr || shape >= job->shapes.size() ? std::string_view() : std::string_view(job->shapes[shape].id);
}

void append(const ClusterState& state, const Plan& plan, std::int32_t what, std::size_t row, std::string& text) {
  if (what == BERTH_TEXT_NODE) {
    text += state.node(plan.entries[row].node).id;
    return;
  }
  if (what == BERTH_TEXT_DROPPED) {
    text += state.job(plan.reservations_dropped[row])->id;
    return;
  }
  const Decision& d = plan.decisions[row];
  switch (what) {
    case BERTH_TEXT_JOB:
      text += state.job(d.job)->id;
      break;
    case BERTH_TEXT_SHAPE:
      text += shape_id(state, d);
      break;
    case BERTH_TEXT_REASON:
      if (d.reason.code != ReasonCode::kNone) text += render_reason(state, d.reason, d.job);
      break;
    case BERTH_TEXT_WOULD_START_IF:
      if (d.reason.code != ReasonCode::kNone) text += render_would_start_if(state, d.reason, d.job);
      break;
    case BERTH_TEXT_WHERE:
      if (d.reason.code != ReasonCode::kNone) text += render_where(state, d.reason);
      break;
    case BERTH_TEXT_QUEUE:
      if (d.reason.queue >= 0) text += core::StateNames(state).queue(d.reason.queue);
      break;
    default:
      text += report::explain_job(core::StateNames(state), plan, d.job);
      break;
  }
}

}  // namespace
}  // namespace berth::c

berth_status berth_plan_texts(berth_plan* plan, berth_state* state, int32_t what, uint64_t first, uint64_t count, char** bytes,
                              uint64_t* begin, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    Use p(plan, "plan");
    const berth::Plan& from = berth::c::of_state(*p, *s);
    if (what < BERTH_TEXT_JOB || what > BERTH_TEXT_DROPPED)
      throw berth::InvalidArgument("what is " + std::to_string(what) + ": no such text");
    const std::size_t n = what == BERTH_TEXT_NODE      ? from.entries.size()
                          : what == BERTH_TEXT_DROPPED ? from.reservations_dropped.size()
                                                       : from.decisions.size();
    const std::size_t row = berth::c::checked_rows(first, count, n);
    required(bytes, "bytes");
    required(begin, "begin");
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      begin[i] = text.size();
      berth::c::append(s->whole(), from, what, row + i, text);
    }
    begin[count] = text.size();
    berth::c::give_text(text, bytes, nullptr);
  });
}

berth_status berth_plan_to_json(berth_plan* plan, berth_state* state, int32_t with_timing, char** json, size_t* size, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    Use p(plan, "plan");
    required(json, "json");
    berth::c::give_text(berth::io::to_json(berth::c::of_state(*p, *s), s->whole(), with_timing != 0), json, size);
  });
}

berth_status berth_plan_from_json(const char* json, size_t size, const char* name, berth_state* state, berth_plan* plan,
                                  berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    Use p(plan, "plan");
    p->plan = berth::io::parse_plan(berth::c::document(json, size, "json"), s->whole(), name == nullptr ? "plan" : name);
    p->of = s->identity;
    p->read = true;
  });
}

berth_status berth_plan_validate(berth_plan* plan, berth_state* state, uint64_t* violations, char** text, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    Use p(plan, "plan");
    required(violations, "violations");
    const std::vector<std::string> found = berth::validate_plan(s->whole(), berth::c::of_state(*p, *s));
    std::string lines;
    for (const std::string& one : found) lines += one + "\n";
    if (text != nullptr) berth::c::give_text(lines, text, nullptr);
    *violations = found.size();
  });
}
