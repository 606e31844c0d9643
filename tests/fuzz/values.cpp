// Words of the command line: instants, durations, fractions, parameters of policies.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/policy_api/policy.hpp"
#include "tests/fuzz/bytes.hpp"

namespace {

template <class Read>
void attempt(const Read& read) {
  try {
    read();
  } catch (const berth::InvalidArgument&) {
  } catch (const berth::InputError&) {
  } catch (const berth::EnvironmentError&) {  // no file has that name
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string text(reinterpret_cast<const char*>(data), size);
  attempt([&] { cli::parse_duration(text); });
  attempt([&] { cli::parse_part("--part", text); });
  attempt([&] { core::parse_instant(text, "2020-03-18T04:01:39"); });
  if (const auto us = core::parse_seconds(text))
    fuzz::hold(core::parse_seconds(core::format_seconds(*us)) == us, "seconds changed on their way");
  if (const auto us = core::parse_civil(text); us && *us >= -62'167'219'200 * kSecond && *us < 253'402'300'800 * kSecond) {
    fuzz::hold(core::parse_civil(core::format_civil(*us)) == us, "an instant changed on its way");
  }
  core::civil_after(text, 1'000'000);
  attempt([&] {
    const auto pair = cli::parse_key_value(text);
    for (const PolicyInfo& info : policies()) {
      attempt([&] { core::pass_rules(core::find_policy(info.name), {pair}); });
      attempt([&] { core::ChosenPolicy().choose(info.name, {pair}); });
    }
  });
  return 0;
}
