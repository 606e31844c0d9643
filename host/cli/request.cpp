#include "host/cli/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <thread>

#include "berth/error.hpp"
#include "host/cli/values.hpp"
#include "host/core/names.hpp"
#include "host/core/suggest.hpp"

namespace berth::cli {
namespace {

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
  throw InvalidArgument(fmt::format("--param: policy '{}' has no parameter '{}' (known: {}){}", fmt::join(names, "', '"), param,
                                    fmt::join(known, ", "), core::did_you_mean(param, known)));
}

Request request_of(const RequestOptions& options, const PolicyInfo& info) {
  Request request;
  request.policy = info.name;
  request.backend = core::from_name<Backend>(options.backend).value();  // the parser accepts no other
  request.threads = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  request.seed = options.seed;
  request.work_limit = options.work;
  if (!options.budget.empty()) {
    request.budget_us = parse_duration(options.budget);
    if (request.budget_us == 0) throw InvalidArgument("--budget: no time is left to decide; leave it out for no limit");
  }
  return request;
}

using Params = std::vector<std::pair<std::string, std::string>>;

bool has(const Params& params, const std::string& name) {
  return std::any_of(params.begin(), params.end(), [&](const auto& one) { return one.first == name; });
}

struct Contender {
  PolicyInfo info;
  Params own;
};

// "fifo", or with parameters of its own "fifo@discipline=easy@packing=count".
Contender parse_contender(const std::string& text) {
  std::size_t end = std::min(text.find('@'), text.size());
  Contender contender{find_policy_info(text.substr(0, end)), {}};
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = std::min(text.find('@', begin), text.size());
    contender.own.push_back(parse_key_value(text.substr(begin, end - begin)));
    if (!knows(contender.info, contender.own.back().first)) refuse_param({contender.info}, contender.own.back().first);
  }
  return contender;
}

}  // namespace

PolicyInfo find_policy_info(const std::string& name) {
  const std::vector<PolicyInfo> infos = policies();
  std::vector<std::string_view> names;
  for (const PolicyInfo& info : infos) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw InvalidArgument(fmt::format("unknown policy '{}' (known: {}){}", name, fmt::join(names, ", "), core::did_you_mean(name, names)));
}

Request make_request(const RequestOptions& options, const std::string& policy) {
  const PolicyInfo info = find_policy_info(policy);
  Request request = request_of(options, info);
  for (const std::string& text : options.params) {
    request.params.push_back(parse_key_value(text));
    if (!knows(info, request.params.back().first)) refuse_param({info}, request.params.back().first);
  }
  return request;
}

std::vector<Request> make_requests(const RequestOptions& options, const std::vector<std::string_view>& names) {
  std::vector<Contender> contenders;
  std::vector<PolicyInfo> infos;
  std::vector<Request> requests;
  for (const std::string_view name : names) {
    contenders.push_back(parse_contender(std::string(name)));
    infos.push_back(contenders.back().info);
    requests.push_back(request_of(options, infos.back()));
  }
  for (const std::string& text : options.params) {
    const auto param = parse_key_value(text);
    bool known = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!knows(infos[i], param.first)) continue;
      known = true;
      if (!has(contenders[i].own, param.first)) requests[i].params.push_back(param);
    }
    if (!known) refuse_param(infos, param.first);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    requests[i].params.insert(requests[i].params.end(), contenders[i].own.begin(), contenders[i].own.end());
  }
  return requests;
}

}  // namespace berth::cli
