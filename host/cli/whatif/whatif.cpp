#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/what_if.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/request.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/engine/short_edits.hpp"
#include "host/core/state/state_names.hpp"
#include "host/core/state/state_view.hpp"
#include "host/io/files/file_error.hpp"
#include "host/report/what_if_text.hpp"

namespace berth::cli {
namespace {

using core::ShortEdit;

struct WhatIfArguments {
  StateInput input;
  std::string policy;
  RequestOptions request;
  ShortEdit forms;
  std::string edits, show, make_room;
  bool json = false;
  std::size_t rows = 40;
};

struct FormOption {
  const char* name;
  std::vector<std::string> ShortEdit::*texts;
  const char* value;
  const char* help;
};

constexpr FormOption kForms[] = {
    {"--add", &ShortEdit::add, "NxGxTYPE", "Add N nodes of G GPUs, such as 4x8xH100, or 4x8xH100@rack:r9"},
    {"--drain", &ShortEdit::drain, "PLACE", "Drain a node, or a domain such as rack:r1"},
    {"--remove", &ShortEdit::remove, "PLACE", "Remove nodes; jobs there stop"},
    {"--quota", &ShortEdit::quota, "QUEUE=N", "Set a guarantee, or double it: x2; QUEUE.limit=N a limit; :TYPE"},
    {"--job", &ShortEdit::job, "GxTIME", "Submit a job of G GPUs, such as 16x1h@queue:H100"},
    {"--cancel", &ShortEdit::cancel, "JOB", "Withdraw a job"},
    {"--priority", &ShortEdit::priority, "JOB=N", "Set the priority of a job"},
};

bool has_forms(const ShortEdit& forms) {
  return !forms.policy.empty() ||
         std::any_of(std::begin(kForms), std::end(kForms), [&](const FormOption& one) { return !(forms.*one.texts).empty(); });
}

// "drain rack:r1, quota team=64".
std::string question_of(const ShortEdit& forms) {
  std::string text;
  const auto add = [&](std::string_view form, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", form, echoed(value));
  };
  for (const FormOption& one : kForms) {
    for (const std::string& value : forms.*one.texts) add(std::string_view(one.name).substr(2), value);
  }
  if (!forms.policy.empty()) add("policy", forms.policy);
  return text;
}

Edit edit_of(const ShortEdit& forms, const ClusterState& state) {
  Edit edit;
  edit.name = question_of(forms);
  try {
    core::expand_edit(state, forms, edit);
  } catch (const InvalidArgument& error) {
    const std::string_view problem = error.what();
    throw InvalidArgument(fmt::format("--{}{}", problem.substr(0, 7) == "policy:" ? "new-" : "", problem));
  }
  return edit;
}

/// With the domains that new nodes are in. Empty ones change no plan.
ClusterState with_new_domains(ClusterState state, const ShortEdit& forms) {
  std::vector<Domain> domains;
  try {
    core::new_domains(state, forms, domains);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("--{}", error.what()));
  }
  return domains.empty() ? std::move(state) : core::with_domains(state, domains);
}

std::vector<Edit> edits_of(const WhatIfArguments& options, ClusterState& state) {
  if (options.edits.empty()) return {edit_of(options.forms, state)};
  std::vector<Edit> edits = io::parse_edits(io::read_file(options.edits), state, io::input_name(options.edits));
  if (options.show.empty()) return edits;
  std::vector<std::string_view> names;
  names.reserve(edits.size());
  for (const Edit& edit : edits) names.push_back(edit.name);
  const auto shown = std::find(names.begin(), names.end(), options.show);
  if (shown == names.end())
    throw InvalidArgument(fmt::format("--show: no edit '{}' in {}{}", echoed(options.show), io::input_name(options.edits),
                                      core::did_you_mean(options.show, names)));
  return {std::move(edits[static_cast<std::size_t>(shown - names.begin())])};
}

int answer_room(const WhatIfArguments& options, ClusterState state, WhatIfRequest asked) {
  if (state.find_job(options.make_room) < 0) {
    std::vector<std::string_view> names;
    for (std::int32_t job = 0; job < state.job_index_end(); ++job) {
      if (state.job(job) != nullptr) names.push_back(state.job(job)->id);
    }
    throw InvalidArgument(
        fmt::format("--make-room: no job '{}'{}", echoed(options.make_room), core::did_you_mean(options.make_room, names)));
  }
  WhatIfEngine engine(std::move(state), std::move(asked));
  const RoomAnswer room = engine.make_room(options.make_room);
  print(options.json ? io::to_json(engine.base(), room) : report::make_room_text(core::StateNames(engine.state()), engine.base(), room));
  return kDone;
}

int run(const WhatIfArguments& options) {
  if (options.policy.empty()) throw InvalidArgument("--policy is required ('berth policies' lists them)");
  if (!options.show.empty() && options.edits.empty()) throw InvalidArgument("--show needs --edits");
  const bool asks_room = !options.make_room.empty();
  if (asks_room && (has_forms(options.forms) || !options.edits.empty()))
    throw InvalidArgument("--make-room is a question of its own: give no edits");
  if (has_forms(options.forms) && !options.edits.empty()) throw InvalidArgument("--edits: edits are in the file or on the command line");
  if (!asks_room && !has_forms(options.forms) && options.edits.empty())
    throw InvalidArgument("no question is given: --drain, --job or another edit, --edits FILE, or --make-room JOB");
  check_places(places_of(options.input, {{"--edits", options.edits}}), {});
  WhatIfRequest asked;
  asked.request = make_requests(options.request, {options.policy}).front();
  LoadedState loaded = load_state(options.input);
  if (asks_room) return answer_room(options, std::move(loaded.state), std::move(asked));
  loaded.state = with_new_domains(std::move(loaded.state), options.forms);
  const std::vector<Edit> edits = edits_of(options, loaded.state);
  const bool one = options.edits.empty() || !options.show.empty();
  WhatIfEngine engine(std::move(loaded.state), std::move(asked));
  const std::vector<EditOutcome> outcomes = engine.answer(edits);
  if (options.json) {
    print(io::to_json(engine.base(), outcomes));
  } else if (one) {
    print(report::what_if_text(core::StateNames(engine.state()), engine.base(), outcomes.front(), options.rows));
  } else {
    print(report::what_if_table(engine.base(), outcomes));
  }
  return kDone;
}

}  // namespace

void add_whatif(Commands& commands) {
  auto options = std::make_shared<WhatIfArguments>();
  CLI::App& app = commands.add("whatif", "Show what edits of the cluster or its jobs would change",
                               "berth whatif --snapshot cluster.json --policy fifo --drain rack:r1\n"
                               "  berth whatif --snapshot cluster.json --policy fifo --job 16x1h@team\n"
                               "  berth whatif --snapshot cluster.json --policy fifo --new-policy srsf\n"
                               "  berth whatif --snapshot cluster.json --policy fifo --edits edits.json",
                               options, &run);
  add_state_options(app, options->input);
  app.add_option("--policy", options->policy, "Decide by this policy ('berth policies' lists them)")->type_name("NAME[@PARAM=VALUE...]");
  app.add_option("--param", options->request.params, "Set a parameter of the policy (see 'berth policies NAME'); repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  for (const FormOption& form : kForms) {
    app.add_option(form.name, options->forms.*form.texts, std::string(form.help) + "; repeatable")
        ->allow_extra_args(false)
        ->type_name(form.value);
  }
  app.add_option("--new-policy", options->forms.policy, "Decide by another policy")->type_name("NAME[@PARAM=VALUE...]");
  app.add_option("--edits", options->edits, "Answer each edit of FILE alone")->type_name("FILE");
  app.add_option("--show", options->show, "With --edits, show the edit of this name in full")->type_name("NAME");
  app.add_option("--make-room", options->make_room, "Find jobs to move, not to stop, so that this job starts")->type_name("JOB");
  add_json_flag(app, options->json, "Print JSON");
  app.add_option("--rows", options->rows, "List at most N jobs and N reasons; 0 lists all")
      ->check(whole_number<std::size_t>())
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace berth::cli
