#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/engine.hpp"
#include "host/cli/simulate/simulated_iterations.hpp"
#include "host/cli/simulate/simulated_jobs.hpp"
#include "host/cli/simulate/simulated_run.hpp"
#include "host/cli/simulate/simulated_world.hpp"
#include "host/sim/generate/changed_trace.hpp"

/// The keys of a sweep's spec that say what a run is. Most are options of `berth simulate`.
namespace berth::cli {

/// Key -> text. Texts of several files or words are joined by line ends. Keys of policy parameters begin with kParamKey.
using RunTexts = std::map<std::string, std::string, std::less<>>;
inline constexpr std::string_view kParamKey = "params.";

/// What a text of a key may be.
enum class KeyKind : std::uint8_t { kText, kFlag, kCount, kFiles, kWords };

struct RunKey {
  std::string_view name;
  KeyKind kind = KeyKind::kText;
  std::string_view usual = {};   ///< the value that is meant where the key is missing
  std::string_view one_of = {};  ///< names separated by blanks; empty: any text
  bool may_be_name = false;      ///< of kFiles: a text that names no file is a name
  bool decides = false;          ///< concerns how jobs are scheduled, not what happens to them
  bool one_value = false;        ///< a list is one value
};
std::span<const RunKey> run_keys();
const RunKey* run_key(std::string_view name);

/// A run but for its seed.
struct RunDraft {
  JobOptions jobs;
  std::string cluster, policy;  ///< the policy with the parameters of its own
  SimulatedWorld world;
  RunOptions run;
  IterationOptions iterations;
  sim::TraceChanges trace_changes;
  sim::NodeChanges cluster_changes;
  std::int64_t load_gpus = 0;  ///< that the load refers to; 0: those of the cluster
  std::string warm_up;
  std::vector<std::string> keep;
  Request request;

  bool keeps(std::string_view what) const;
};

/// The words or files of a text.
std::vector<std::string> parts_of_text(std::string_view text);

/// @param folder  of the spec: names of files are relative to it
/// @throws InvalidArgument naming what is wrong.
RunDraft draft_of(const RunTexts& texts, const std::string& folder);

/// Jobs that do not count: the first part of them, or those that are submitted within a time from the first submission on.
struct WarmUp {
  std::int64_t jobs_ppm = 0;
  TimeUs time_us = 0;
};
/// "20%" or "12h"; empty: all jobs count. @throws InvalidArgument naming the text.
WarmUp warm_up_of(std::string_view text);

/// The file as it is opened. "-" is no file here.
std::string file_from(const std::string& folder, const std::string& file);

/// What a run is, one "name=value" a line, sorted: its key is the hash of that and of the seed. Files count by what is in them.
class RunIdentity {
 public:
  explicit RunIdentity(std::string folder) : folder_(std::move(folder)) {}

  /// @throws EnvironmentError naming a file that cannot be read.
  std::string of(const RunTexts& texts, const RunDraft& draft);
  /// Only what happens to jobs, not how they are scheduled.
  std::string of_inputs(const RunTexts& texts);
  /// The same as a JSON object, with the names of files, for people.
  static std::string json(const RunTexts& texts, std::int64_t seed);

 private:
  std::vector<std::string> lines_of(const RunTexts& texts, bool inputs_only);
  std::string hash_of(const std::string& file);

  std::string folder_;
  std::map<std::string, std::string> hashes_;  // by file
};

}  // namespace berth::cli
