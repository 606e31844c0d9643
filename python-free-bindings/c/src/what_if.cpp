#include "berth/what_if.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "berth/io.hpp"
#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"
#include "python-free-bindings/c/src/structs.hpp"

using berth::c::guarded;
using berth::c::required;
using berth::c::Use;

namespace berth::c {
namespace {

WhatIfEngine what_if_engine(ClusterState copy, berth_policy_state* policy_state, const berth_request* request) {
  WhatIfRequest asked;
  read_request(request, asked.request);
  asked.request.changes_only = false;
  if (policy_state != nullptr) asked.policy_state = (*Use<berth_policy_state>(policy_state, "policy_state")).state;
  return WhatIfEngine(std::move(copy), std::move(asked));
}

}  // namespace
}  // namespace berth::c

berth_status berth_state_what_if(berth_state* state, berth_policy_state* policy_state, const berth_request* request, const char* edits,
                                 size_t size, const char* name, char** answers, size_t* answers_size, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    required(answers, "answers");
    berth::ClusterState copy(s->whole().snapshot());
    const std::vector<berth::Edit> all =
        berth::io::parse_edits(berth::c::document(edits, size, "edits"), copy, name == nullptr ? "edits" : name);
    berth::WhatIfEngine engine = berth::c::what_if_engine(std::move(copy), policy_state, request);
    berth::c::give_text(berth::io::to_json(engine.base(), engine.answer(all)), answers, answers_size);
  });
}

berth_status berth_state_make_room(berth_state* state, berth_policy_state* policy_state, const berth_request* request, const char* job,
                                   char** answer, size_t* answer_size, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    required(answer, "answer");
    const char* id = &required(job, "job");
    berth::WhatIfEngine engine = berth::c::what_if_engine(berth::ClusterState(s->whole().snapshot()), policy_state, request);
    berth::c::give_text(berth::io::to_json(engine.base(), engine.make_room(id)), answer, answer_size);
  });
}
