#include "berth/io.hpp"
#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"

using berth::c::guarded;
using berth::c::required;
using berth::c::Use;

berth_status berth_policy_state_create(berth_policy_state** out, berth_error* error) {
  return guarded(error, [&] { berth::c::give(out, [] { return new berth_policy_state(); }); });
}

berth_status berth_policy_state_from_json(const char* json, size_t size, const char* name, berth_policy_state** out, berth_error* error) {
  return guarded(error, [&] {
    berth::c::give(out, [&] {
      return new berth_policy_state(
          berth::c::Memory{berth::io::parse_policy_state(berth::c::document(json, size, "json"), name == nullptr ? "state" : name)});
    });
  });
}

berth_status berth_policy_state_to_json(berth_policy_state* policy_state, char** json, size_t* size, berth_error* error) {
  return guarded(error, [&] {
    Use m(policy_state, "policy_state");
    required(json, "json");
    berth::c::give_text(berth::io::to_json(m->state), json, size);
  });
}

berth_status berth_policy_state_destroy(berth_policy_state** policy_state, berth_error* error) {
  return guarded(error, [&] { berth::c::destroy(policy_state, "policy_state"); });
}
