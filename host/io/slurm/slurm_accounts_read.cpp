// Tables of sacctmgr: a line of column names, then one line a row, with '|' between. Columns come in any order.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <span>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/name_problem.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/slurm/slurm_accounts.hpp"

namespace berth::io {
namespace {

std::string_view line_at(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// Names of columns begin with a capital; names in the database are lower case.
bool is_account_header(std::string_view line) {
  const std::vector<std::string_view> cells = core::split(line, '|');
  if (cells.size() < 2) return false;
  const auto has = [&](std::string_view name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); };
  const bool names = std::all_of(cells.begin(), cells.end(), [](std::string_view cell) {
    return cell.empty() || std::isupper(static_cast<unsigned char>(cell.front())) != 0;
  });
  return names && (has("Account") || has("Name"));
}

class AccountTable {
 public:
  AccountTable(std::string_view header, const std::string& file) : file_(file) {
    for (const std::string_view cell : core::split(header, '|')) columns_.emplace_back(cell);
  }

  bool is_of_associations() const { return has("Account"); }
  bool has(std::string_view column) const { return std::find(columns_.begin(), columns_.end(), column) != columns_.end(); }

  void read(std::string_view line, int number) {
    cells_ = core::split(line, '|');
    line_ = number;
    if (cells_.size() != columns_.size())
      fail_accounts(file_, line_, fmt::format("a row of {} columns below a header of {}: use sacctmgr -P", cells_.size(), columns_.size()));
  }

  /// Of columns that several versions call differently the first that is there; empty without any.
  std::string_view at(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto found = std::find(columns_.begin(), columns_.end(), name);
      if (found != columns_.end()) return cells_[static_cast<std::size_t>(found - columns_.begin())];
    }
    return {};
  }

  /// Whether one of these columns has a value.
  bool has_any(std::span<const std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return !at({name}).empty(); });
  }

  SlurmGpuLimits gpus(std::initializer_list<std::string_view> names) const {
    SlurmGpuLimits out;
    const std::string problem = parse_gpu_limits(at(names), out);
    if (!problem.empty()) fail_accounts(file_, line_, problem);
    return out;
  }

  std::int64_t duration(std::initializer_list<std::string_view> names) const {
    const std::string_view text = at(names);
    const std::int64_t seconds = text == "-1" ? 0 : parse_slurm_duration(text);
    if (seconds < 0) fail_accounts(file_, line_, fmt::format("'{}' is no duration such as 1-00:00:00", cut_utf8(text, 60)));
    return seconds;
  }

 private:
  const std::string& file_;
  std::vector<std::string> columns_;
  std::vector<std::string_view> cells_;
  int line_ = 0;
};

std::int64_t shares_of(std::string_view text, const std::string& file, int line) {
  if (text.empty()) return 1;
  if (text == "parent") return kSharesOfParent;
  const auto shares = core::parse_whole(text, INT32_MAX);
  if (!shares) fail_accounts(file, line, fmt::format("'{}' is no number of shares", cut_utf8(text, 60)));
  return *shares;
}

// With 'tree', names of accounts stand below their parent's, one blank further in.
class IndentedTree {
 public:
  std::string parent_of(std::string_view indented, const std::string& account) {
    const std::size_t depth = indented.find_first_not_of(' ');
    if (depth == 0 || depth == indented.npos) {
      above_ = {account};
      return {};
    }
    above_.resize(std::min(above_.size(), depth));
    std::string parent = above_.empty() ? std::string() : above_.back();
    above_.resize(depth, parent);
    above_.push_back(account);
    return parent;
  }

 private:
  std::vector<std::string> above_;  // by depth
};

void add_association(const AccountTable& table, const std::string& file, int line, IndentedTree& tree, SlurmAccounts& out) {
  const std::string_view cluster = table.at({"Cluster"});
  if (!cluster.empty() && !out.cluster.empty() && cluster != out.cluster)
    fail_accounts(file, line,
                  fmt::format("associations of the clusters '{}' and '{}': use sacctmgr show assoc cluster=NAME", cut_utf8(out.cluster, 60),
                              cut_utf8(cluster, 60)));
  if (!cluster.empty()) out.cluster = account_name(cluster, file, line);
  const std::string_view indented = table.at({"Account"});
  SlurmAssociation one;
  one.file = file;
  one.line = line;
  one.account = account_name(indented, file, line);
  if (one.account.empty()) fail_accounts(file, line, "an association without an account");
  one.user = account_name(table.at({"User"}), file, line);
  one.partition = account_name(table.at({"Partition"}), file, line);
  if (table.has("ParentName") || table.has("Par Name")) {
    one.parent = account_name(table.at({"ParentName", "Par Name"}), file, line);
    out.has_parents = true;
  } else if (one.user.empty()) {
    one.parent = tree.parent_of(indented, one.account);
    out.has_parents = out.has_parents || !one.parent.empty();
  }
  one.shares = shares_of(table.at({"Share", "Fairshare"}), file, line);
  one.limits = table.gpus({"GrpTRES"});
  one.longest_s = table.duration({"MaxWall", "MaxWallDurationPerJob"});
  one.limits_minutes = !table.gpus({"GrpTRESMins"}).empty() || !table.gpus({"GrpTRESRunMins"}).empty();
  one.limits_job = !table.gpus({"MaxTRES"}).empty() || !table.gpus({"MaxTRESPerNode"}).empty() || !table.gpus({"MaxTRESMins"}).empty();
  one.limits_jobs = table.has_any(kJobCountLimits);
  out.associations.push_back(std::move(one));
}

void add_qos(const AccountTable& table, const std::string& file, int line, SlurmAccounts& out) {
  SlurmQos one;
  one.file = file;
  one.line = line;
  one.name = account_name(table.at({"Name"}), file, line);
  if (one.name.empty()) fail_accounts(file, line, "a QOS without a name");
  for (const std::string_view name : core::split(table.at({"Preempt"}), ',')) {
    if (!name.empty()) one.preempts.push_back(account_name(name, file, line));
  }
  one.preempt_mode = account_name(table.at({"PreemptMode"}), file, line);
  one.usage_factor = account_name(table.at({"UsageFactor"}), file, line);
  one.grace_s = table.duration({"GraceTime"});
  one.exempt_s = table.duration({"PreemptExemptTime"});
  one.longest_s = table.duration({"MaxWall", "MaxWallDurationPerJob"});
  one.limits = table.gpus({"GrpTRES"});
  one.limits_minutes = !table.gpus({"GrpTRESMins"}).empty() || !table.gpus({"GrpTRESRunMins"}).empty();
  one.of_user = table.gpus({"MaxTRESPU", "MaxTRESPerUser"});
  one.of_account = table.gpus({"MaxTRESPA", "MaxTRESPerAccount"});
  one.limits_job =
      !table.gpus({"MaxTRES", "MaxTRESPerJob"}).empty() || !table.gpus({"MaxTRESPerNode"}).empty() || !table.gpus({"MaxTRESMins"}).empty();
  one.least = !table.gpus({"MinTRES", "MinTRESPerJob"}).empty();
  one.limits_jobs = table.has_any(kJobCountLimits);
  out.qos.push_back(std::move(one));
}

std::size_t read_table(std::string_view text, const std::string& file, int line, SlurmAccounts& out) {
  std::optional<AccountTable> table;
  IndentedTree tree;
  std::size_t read = 0;
  while (read < text.size()) {
    const std::string_view rest = text.substr(read), row = line_at(rest);
    if (row.find('|') == row.npos || row.front() == '{') break;  // the next document
    if (is_account_header(row)) {
      table.emplace(row, file);
      tree = {};
      (table->is_of_associations() ? out.has_associations : out.has_qos) = true;
    } else {
      table->read(row, line);
      if (table->is_of_associations())
        add_association(*table, file, line, tree, out);
      else
        add_qos(*table, file, line, out);
    }
    read += std::min(rest.find('\n'), rest.size() - 1) + 1;
    ++line;
  }
  return read;
}

}  // namespace

void fail_accounts(const std::string& file, int line, const std::string& problem) {
  throw InputError(core::escape_control(file), "", line, core::escape_control(problem));
}

std::string account_name(std::string_view text, const std::string& file, int line) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  const std::string problem = name_problem(text);
  if (!problem.empty()) fail_accounts(file, line, problem);
  return std::string(text);
}

std::string parse_gpu_limits(std::string_view text, SlurmGpuLimits& out) {
  constexpr std::string_view kGpus = "gres/gpu";
  for (const std::string_view item : core::split(text, ',')) {
    if (item.substr(0, kGpus.size()) != kGpus) continue;
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    std::string_view value = equals == item.npos ? std::string_view() : item.substr(equals + 1);
    value = value.substr(0, value.find('('));  // "8(4)": 4 are used
    std::string_view type = name.substr(kGpus.size());
    if (!type.empty() && type.front() != ':') continue;  // another resource, such as gres/gpumem
    if (!type.empty()) type.remove_prefix(1);
    if (value == "N" || value == "-1") continue;
    const auto limit = core::parse_whole(value, kMaxBytes);
    const bool good = limit && (name.size() == kGpus.size() || !type.empty()) && name_problem(type).empty() && type != "*";
    if (!good) return fmt::format("'{}' is no limit of GPUs such as gres/gpu:h100=8", cut_utf8(item, 60));
    if (!out.emplace(std::string(type), *limit).second) return fmt::format("'{}' is there twice", cut_utf8(name, 60));
  }
  return {};
}

std::int64_t parse_slurm_duration(std::string_view text) {
  if (text.empty() || text == "UNLIMITED") return 0;
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != text.npos) {
    days = core::parse_whole(text.substr(0, dash), kMost / 86'400).value_or(-1);
    text = text.substr(dash + 1);
    if (days < 0) return -1;
  }
  std::vector<std::int64_t> parts;
  for (const std::string_view part : core::split(text, ':')) {
    const auto value = core::parse_whole(part, kMost / 3600);
    if (!value) return -1;
    parts.push_back(*value);
  }
  if (parts.size() > 3) return -1;
  if (dash != std::string_view::npos) {  // days-hours[:minutes[:seconds]]
    parts.resize(3, 0);
  } else if (parts.size() == 1) {  // minutes
    parts = {0, parts[0], 0};
  } else if (parts.size() == 2) {
    parts.insert(parts.begin(), 0);
  }
  return days * 86'400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
}

bool looks_like_slurm_accounts(std::string_view text) {
  const std::string_view line = line_at(text);
  return line.substr(0, kAssocMgrTitle.size()) == kAssocMgrTitle || is_account_header(line);
}

std::size_t read_slurm_accounts(const JsonCursor& in, int line, SlurmAccounts& out) {
  const bool table = is_account_header(line_at(in.rest()));
  return table ? read_table(in.rest(), in.name(), line, out) : read_assoc_mgr(in.rest(), in.name(), line, out);
}

}  // namespace berth::io
