#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "berth/error.hpp"
#include "berth/units.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/files/read_whole.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/traces/gavel.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kSpreadOut = "_unconsolidated";

/// Parses "('ResNet-18 (batch size 16)', 2)": a Python tuple as text.
GavelThroughputs::Key tuple_key(const JsonCursor& in, std::string_view text) {
  const std::size_t comma = text.rfind("', ");
  const bool framed = text.size() > 2 && text.substr(0, 2) == "('" && text.back() == ')' && comma != text.npos && comma > 2;
  const std::string_view count = framed ? text.substr(comma + 3, text.size() - comma - 4) : std::string_view();
  const auto gpus = core::parse_whole(count, kMaxGpusPerJob);
  if (!gpus || count.front() == '0') {
    in.fail(fmt::format("expected a key \"('MODEL', GPUS)\", found '{}'", text.substr(0, 60)));
  }
  return {std::string(text.substr(2, comma - 2)), static_cast<std::int32_t>(*gpus)};
}

/// "k80_unconsolidated" -> ("K80", true).
std::pair<std::string, bool> gpu_key(const JsonCursor& in, std::string_view text) {
  const bool spread_out = text.size() > kSpreadOut.size() && text.substr(text.size() - kSpreadOut.size()) == kSpreadOut;
  if (spread_out) text.remove_suffix(kSpreadOut.size());
  std::string type;
  for (const char c : text) {
    const bool letter = c >= 'a' && c <= 'z';
    if (!letter && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-') in.fail(fmt::format("'{}' is no GPU type", text));
    type += letter ? static_cast<char>(c - 'a' + 'A') : c;
  }
  if (type.empty()) in.fail("an empty GPU type");
  return {type, spread_out};
}

std::int64_t steps_per_s(JsonCursor& in) {
  const auto rate = parse_measured(in.raw(), 6);
  if (!rate) in.fail(fmt::format("expected steps per second, not negative, found {}", in.shown()));
  return *rate;
}

/// [own, other's] steps per second on one GPU.
std::int64_t read_pair(JsonCursor& in) {
  std::int64_t mine = 0, values = 0;
  in.array([&] {
    const std::int64_t rate = steps_per_s(in);
    if (values++ == 0) mine = rate;
  });
  if (values != 2) in.fail(fmt::format("expected two rates, found {}", values));
  return mine;
}

void read_model(JsonCursor& in, GavelThroughputs& out, const std::string& type, bool spread_out, const GavelThroughputs::Key& key) {
  bool alone = false;
  in.object([&](std::string_view other) {
    if (other == "null") {
      if (alone) in.fail("duplicate field 'null'");
      alone = true;
      GavelRate& rate = out.alone[type][key];
      (spread_out ? rate.spread_out : rate.together) = steps_per_s(in);
      return;
    }
    const GavelThroughputs::Key paired = tuple_key(in, other);
    const std::int64_t rate = read_pair(in);
    if (type == kGavelReference && !spread_out && key.second == 1 && paired.second == 1) out.paired[{key.first, paired.first}] = rate;
  });
  if (!alone) in.fail(fmt::format("no rate of '{}' alone: the field \"null\" is missing", key.first));
}

}  // namespace

GavelThroughputs read_gavel_throughputs(GzipInput& input) {
  const std::string json = read_whole(input);
  const std::string& name = input.name();
  GavelThroughputs out;
  out.file = name;
  JsonCursor in(json, name);
  std::set<std::pair<std::string, bool>> types;
  in.object([&](std::string_view gpu) {
    const auto type = gpu_key(in, gpu);
    if (!types.insert(type).second) in.fail(fmt::format("duplicate GPU type '{}'", gpu));
    std::set<GavelThroughputs::Key> models;
    in.object([&](std::string_view text) {
      const GavelThroughputs::Key key = tuple_key(in, text);
      if (!models.insert(key).second) in.fail(fmt::format("duplicate model '{}'", text));
      read_model(in, out, type.first, type.second, key);
    });
  });
  in.finish();
  if (out.alone.count(std::string(kGavelReference)) == 0)
    throw InputError(name, "", 1, "no throughputs of 'v100', on which run times are stated");
  return out;
}

Profile gavel_profile(const GavelThroughputs& throughputs, const std::string& model) {
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.model = model;
  profile.unit = "steps";
  const auto add = [&](const std::string& type) {
    const auto& models = throughputs.alone.at(type);
    for (auto at = models.lower_bound({model, 0}); at != models.end() && at->first.first == model; ++at) {
      const auto& [together, spread_out] = at->second;
      if (together == 0) continue;  // not runnable
      const bool both = at->first.second > 1 && spread_out > 0;
      profile.points.push_back({type, at->first.second, 0, both ? "node" : "", together});
      if (both) profile.points.push_back({type, at->first.second, 0, "", spread_out});
    }
  };
  const std::string reference(kGavelReference);
  add(reference);
  for (const auto& [type, models] : throughputs.alone) {
    if (type != reference) add(type);
  }
  const auto& measured = throughputs.alone.at(reference);
  const auto alone = measured.find({model, 1});
  if (alone == measured.end() || alone->second.together == 0) return profile;
  for (auto at = throughputs.paired.lower_bound({model, ""}); at != throughputs.paired.end() && at->first.first == model; ++at) {
    profile.colocation.emplace_back(at->first.second,
                                    std::min<std::int64_t>(core::mul_div(at->second, kWholeGpu, alone->second.together), kWholeGpu));
  }
  return profile;
}

}  // namespace berth::io
