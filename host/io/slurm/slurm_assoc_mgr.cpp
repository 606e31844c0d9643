// The output of 'scontrol show assoc_mgr': records of KEY=VALUE, on one line or several.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host/core/base/split.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/slurm/slurm_accounts.hpp"

namespace berth::io {
namespace {

class AssocMgrReader {
 public:
  AssocMgrReader(const std::string& file, SlurmAccounts& out) : file_(file), out_(out) {}

  void read(std::string_view line, int number) {
    line_ = number;
    const auto ends = [&](std::string_view title) { return line.substr(0, title.size()) == title; };
    if (ends("Association Records")) return enter(Part::kAssociations);
    if (ends("QOS Records")) return enter(Part::kQos);
    if (ends("User Records") || ends("No ")) return enter(Part::kOther);
    if (part_ == Part::kOther) return;
    for (const std::string_view item : core::split(line, ' ')) {
      const std::size_t equals = item.find('=');
      if (equals == item.npos) continue;
      if (part_ == Part::kAssociations)
        association(item.substr(0, equals), item.substr(equals + 1));
      else
        qos(item.substr(0, equals), item.substr(equals + 1));
    }
  }

 private:
  enum class Part : std::uint8_t { kOther, kAssociations, kQos };

  void enter(Part part) {
    part_ = part;
    out_.has_associations = out_.has_associations || part == Part::kAssociations;
    out_.has_parents = out_.has_parents || part == Part::kAssociations;
    out_.has_qos = out_.has_qos || part == Part::kQos;
    associations_ = qos_ = 0;
  }

  // "root(1)": a name and its number.
  std::string numbered_name(std::string_view text) const { return account_name(text.substr(0, text.rfind('(')), file_, line_); }
  SlurmGpuLimits gpus(std::string_view text) const {
    SlurmGpuLimits limits;
    const std::string problem = parse_gpu_limits(text, limits);
    if (!problem.empty()) fail_accounts(file_, line_, problem);
    return limits;
  }
  std::int64_t minutes(std::string_view text) const {
    if (text.empty() || text == "N") return 0;
    const auto value = core::parse_whole(text.substr(0, text.find('(')), INT32_MAX);
    if (!value) fail_accounts(file_, line_, fmt::format("'{}' is no number of minutes", cut_utf8(text, 60)));
    return *value * 60;
  }

  // "N(3)": no limit, and 3 are used.
  static bool counts_jobs(std::string_view key, std::string_view value) {
    const bool known = std::find(std::begin(kJobCountLimits), std::end(kJobCountLimits), key) != std::end(kJobCountLimits);
    return known && !value.empty() && value.front() != 'N';
  }

  void association(std::string_view key, std::string_view value) {
    if (key == "ClusterName") {
      SlurmAssociation& one = out_.associations.emplace_back();
      ++associations_;
      one.file = file_;
      one.line = line_;
      if (!out_.cluster.empty() && value != out_.cluster)
        fail_accounts(file_, line_, fmt::format("associations of a second cluster, '{}'", cut_utf8(value, 60)));
      out_.cluster = account_name(value, file_, line_);
      return;
    }
    if (associations_ == 0) return;
    SlurmAssociation& one = out_.associations.back();
    if (key == "Account") one.account = account_name(value, file_, line_);
    if (key == "UserName") one.user = numbered_name(value);
    if (key == "Partition") one.partition = account_name(value, file_, line_);
    if (key == "ParentAccount") one.parent = numbered_name(value);
    if (key == "SharesRaw/Norm/Level/Factor") {
      const std::string_view number = value.substr(0, value.find('/'));
      const auto shares = core::parse_whole(number, UINT32_MAX);
      if (!shares) fail_accounts(file_, line_, fmt::format("'{}' is no number of shares", cut_utf8(number, 60)));
      one.shares = *shares > INT32_MAX ? kSharesOfParent : *shares;
    }
    if (key == "GrpTRES") one.limits = gpus(value);
    if (key == "GrpTRESMins" || key == "GrpTRESRunMins") one.limits_minutes = one.limits_minutes || !gpus(value).empty();
    if (key == "MaxTRESPJ" || key == "MaxTRESPN" || key == "MaxTRESMinsPJ") one.limits_job = one.limits_job || !gpus(value).empty();
    if (key == "MaxWallPJ") one.longest_s = minutes(value);
    one.limits_jobs = one.limits_jobs || counts_jobs(key, value);
  }

  void qos(std::string_view key, std::string_view value) {
    if (key == "QOS") {
      SlurmQos& one = out_.qos.emplace_back();
      ++qos_;
      one.file = file_;
      one.line = line_;
      one.name = numbered_name(value);
      return;
    }
    if (qos_ == 0) return;
    SlurmQos& one = out_.qos.back();
    if (key == "PreemptMode") one.preempt_mode = account_name(value, file_, line_);
    if (key == "GrpTRES") one.limits = gpus(value);
    if (key == "GrpTRESMins" || key == "GrpTRESRunMins") one.limits_minutes = one.limits_minutes || !gpus(value).empty();
    // The same for each user and account.
    if (key == "MaxTRESPU") one.of_user.merge(gpus(value));
    if (key == "MaxTRESPA") one.of_account.merge(gpus(value));
    if (key == "MaxTRESPJ" || key == "MaxTRESPN" || key == "MaxTRESMinsPJ") one.limits_job = one.limits_job || !gpus(value).empty();
    if (key == "MinTRESPJ") one.least = !gpus(value).empty();
    if (key == "MaxWallPJ") one.longest_s = minutes(value);
    one.limits_jobs = one.limits_jobs || counts_jobs(key, value);
  }

  const std::string& file_;
  SlurmAccounts& out_;
  Part part_ = Part::kOther;
  int line_ = 0;
  std::size_t associations_ = 0, qos_ = 0;  // in this part
};

}  // namespace

std::size_t read_assoc_mgr(std::string_view text, const std::string& file, int line, SlurmAccounts& out) {
  AssocMgrReader reader(file, out);
  std::size_t read = 0;
  while (read < text.size()) {
    const std::string_view rest = text.substr(read);
    std::string_view row = rest.substr(0, rest.find('\n'));
    // The next document begins at the start of a line.
    const bool next = !row.empty() && (row.front() == '{' || row.substr(0, 4) == "now=" || row.substr(0, 10) == "SwitchName" ||
                                       row.substr(0, 9) == "BlockName" || (read > 0 && looks_like_slurm_accounts(row)));
    if (next) break;
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    reader.read(row, line);
    read += std::min(rest.find('\n'), rest.size() - 1) + 1;
    ++line;
  }
  for (const SlurmAssociation& one : out.associations) {
    if (one.account.empty()) fail_accounts(one.file, one.line, "an association without an account");
  }
  for (const SlurmQos& one : out.qos) {
    if (one.name.empty()) fail_accounts(one.file, one.line, "a QOS without a name");
  }
  return read;
}

}  // namespace berth::io
