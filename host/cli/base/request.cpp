#include "host/cli/base/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/fit/predictor_json.hpp"

namespace berth::cli {
namespace {

using Param = std::pair<std::string, std::string>;

constexpr std::string_view kModel = "model";

bool knows(const PolicyInfo& info, const std::string& param) {
  return std::any_of(info.params.begin(), info.params.end(), [&](const PolicyParam& known) { return known.name == param; });
}

[[noreturn]] void refuse_param(const std::vector<PolicyInfo>& infos, const std::string& param) {
  std::vector<std::string_view> known;
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : infos) {
    names.push_back(info.name);
    for (const PolicyParam& one : info.params) known.push_back(one.name);
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw InvalidArgument(fmt::format("--param: policy '{}' has no parameter '{}' (known: {}){}", fmt::join(names, "', '"), echoed(param),
                                    fmt::join(known, ", "), core::did_you_mean(param, known)));
}

Request request_of(const RequestOptions& options, const PolicyInfo& info) {
  Request request;
  request.policy = info.name;
  request.backend = core::from_name<Backend>(options.backend).value();  // the parser accepts no other value
  if (!options.device.empty() && request.backend != Backend::kCuda)
    throw InvalidArgument(fmt::format("--device: the backend {} uses no GPU; add --backend cuda", options.backend));
  request.device = options.device;
  request.threads = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  request.seed = options.seed;
  request.max_iterations = options.max_iterations;
  if (!options.budget.empty()) {
    request.budget_us = parse_duration(options.budget);
    if (request.budget_us == 0) throw InvalidArgument("--budget: no time is left to decide; leave it out for no limit");
  }
  return request;
}

bool has(const core::Params& params, const std::string& name) {
  return std::any_of(params.begin(), params.end(), [&](const auto& one) { return one.first == name; });
}

// "model=@FILE" stands for the numbers in the file, so that a plan records all its inputs.
Param with_file_read(Param param) {
  if (param.first != kModel || param.second.substr(0, 1) != "@") return param;
  const std::string path = param.second.substr(1);
  if (path.empty() || path == "-")
    throw InvalidArgument(fmt::format("--param {}={}: expected a file behind '@'", param.first, echoed(param.second)));
  return {param.first, policy::to_text(fit::parse_predictor(io::read_file(path), path).model)};
}

// A parameter of the policy, or of one of several.
Param parse_param(const std::vector<PolicyInfo>& infos, std::string_view text) {
  Param param = parse_key_value(text);
  const auto has_it = [&](const PolicyInfo& info) { return knows(info, param.first); };
  if (std::none_of(infos.begin(), infos.end(), has_it)) refuse_param(infos, param.first);
  return with_file_read(std::move(param));
}

// Position where a parameter of a policy ends. The file of a model begins with an '@', too.
std::size_t end_of_param(const std::string& text, std::size_t begin) {
  const std::string file = std::string(kModel) + "=@";
  const std::size_t from = text.compare(begin, file.size(), file) == 0 ? begin + file.size() : begin;
  return std::min(text.find('@', from), text.size());
}

struct ComparedPolicy {
  PolicyInfo info;
  core::Params own;
};

// What a name or a value looks like where parameters were separated by something else than '@'.
std::string separator_hint(const std::string& text) {
  if (text.find('@') != std::string::npos) return "; here a policy's parameters follow as --param NAME=VALUE";
  return text.find_first_of(",;&:= ") == std::string::npos
             ? ""
             : "; parameters of a policy are separated by '@', as in fifo@discipline=easy@packing=count";
}

// Values are checked before anything runs. Policies that the engine does not know are checked by those that know them.
void check_params(const Request& request, const std::string& given) {
  const std::vector<PolicyInfo> known = policies();
  if (std::none_of(known.begin(), known.end(), [&](const PolicyInfo& info) { return info.name == request.policy; })) return;
  try {
    core::ChosenPolicy().choose(request.policy, request.params);
  } catch (const InvalidArgument& error) {
    const std::size_t own = given.find('@');
    const std::size_t value = own == given.npos ? given.npos : given.find('=', own);
    throw InvalidArgument(error.what() + (value == given.npos ? std::string() : separator_hint(given.substr(value + 1))));
  }
}

// "fifo", or with parameters of its own "fifo@discipline=easy@packing=count".
ComparedPolicy parse_contender(const std::string& text, const std::vector<PolicyInfo>& more) {
  std::size_t end = std::min(text.find('@'), text.size());
  ComparedPolicy contender{find_policy_info(text.substr(0, end), more), {}};
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = end_of_param(text, begin);
    contender.own.push_back(parse_param({contender.info}, std::string_view(text).substr(begin, end - begin)));
  }
  return contender;
}

}  // namespace

PolicyInfo find_policy_info(const std::string& name, const std::vector<PolicyInfo>& more) {
  std::vector<PolicyInfo> infos = policies();
  infos.insert(infos.end(), more.begin(), more.end());
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : infos) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw InvalidArgument(fmt::format("unknown policy '{}' (known: {}){}{}", echoed(name), fmt::join(names, ", "),
                                    core::did_you_mean(name, names), separator_hint(name)));
}

Request make_request(const RequestOptions& options, const std::string& policy) {
  const PolicyInfo info = find_policy_info(policy);
  Request request = request_of(options, info);
  for (const std::string& text : options.params) request.params.push_back(parse_param({info}, text));
  check_params(request, policy);
  return request;
}

std::vector<Request> make_requests(const RequestOptions& options, const std::vector<std::string_view>& names,
                                   const std::vector<PolicyInfo>& more) {
  std::vector<ComparedPolicy> contenders;
  std::vector<PolicyInfo> infos;
  std::vector<Request> requests;
  for (const std::string_view name : names) {
    contenders.push_back(parse_contender(std::string(name), more));
    infos.push_back(contenders.back().info);
    requests.push_back(request_of(options, infos.back()));
  }
  for (const std::string& text : options.params) {
    const Param param = parse_param(infos, text);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (knows(infos[i], param.first) && !has(contenders[i].own, param.first)) requests[i].params.push_back(param);
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    requests[i].params.insert(requests[i].params.end(), contenders[i].own.begin(), contenders[i].own.end());
    check_params(requests[i], std::string(names[i]));
  }
  return requests;
}

}  // namespace berth::cli
