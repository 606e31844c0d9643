#include <span>
#include <string>
#include <vector>

#include "berth/io.hpp"
#include "host/core/choice/plan_terms.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::io {

namespace {

template <class Info>
void add_rules(JsonWriter& out, const char* name, std::span<const Info> infos) {
  out.lines(name, infos, [&](const Info& info) {
    out.object([&] {
      out.text("name", info.name);
      out.text("rule", info.rule);
      out.text("source", info.source);
    });
  });
}

}  // namespace

std::string to_json(const std::vector<PolicyInfo>& policies) {
  JsonWriter out;
  out.object([&] {
    out.lines("policies", policies, [&](const PolicyInfo& info) {
      out.object([&] {
        out.text("name", info.name);
        out.text("rule", info.rule);
        out.text("source", info.source);
        out.text("discipline", info.discipline);
        out.key("preemptive");
        out.raw(info.preemptive ? "true" : "false");
        out.list(
            "params", info.params,
            [&](const PolicyParam& param) {
              out.object([&] {
                out.text("name", param.name);
                out.text("default", param.default_value);
                out.text("help", param.help);
              });
            },
            true);
      });
    });
    add_rules(out, "objectives", core::objectives());
    add_rules(out, "terms", core::plan_terms());
  });
  return out.finish();
}

}  // namespace berth::io
