// Any sequence of calls of the C ABI: handles that are null, ended or valid, structs of any size, arrays of any
// content.
#include <berth.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/bytes.hpp"

namespace {

using berth::fuzz::Bytes;

constexpr char kSnapshot[] =
    R"({"schema": "berth.snapshot.v1", "now_s": 100, "gpu_types": [{"id": "A"}], "domains": [{"id": "r", "level": "rack"}],)"
    R"( "nodes": [{"id": "a", "gpu_type": "A", "gpus": 4, "domains": {"switch": "r"}}, {"id": "b", "gpu_type": "A", "gpus": 4}],)"
    R"( "queues": [{"id": "e", "quotas": [{"gpu_type": "*", "limit": 6}]}],)"
    R"( "jobs": [{"id": "c", "submit_s": 0, "gpus": 2, "queue": "e"}, {"id": "d", "submit_s": 1, "gpus": 8},)"
    R"( {"id": "f", "submit_s": 0, "gpus": 4, "queue": "e", "state": "running",)"
    R"( "allocation": {"shape": "4", "entries": [{"node": "b", "gpus": [0, 1, 2, 3]}]}}]})";

/// What makes the state illegal after the fact: limits and nodes are lost under the running job.
constexpr const char* kLosses[] = {
    R"({"op": "put_queue", "queue": {"id": "e", "quotas": [{"gpu_type": "*", "limit": 2}]}})",
    R"({"op": "put_queue", "queue": {"id": "e", "quotas": [{"gpu_type": "A", "limit": 0}]}})",
    R"({"op": "set_gpu_state", "node": "b", "index": 3, "state": "failed"})",
    R"({"op": "set_gpu_state", "node": "b", "index": 0, "state": "releasing", "free_at_s": 200})",
    R"({"op": "set_node_state", "node": "b", "state": "failed"})",
    R"({"op": "set_node_state", "node": "b", "state": "drain"})",
    R"({"op": "put_reservation", "reservation": {"id": "after", "nodes": ["b"], "from_s": 100, "to_s": 900}})",
};

// The statuses that a call may return; never an internal error.
berth_status answered(berth_status status) {
  switch (status) {
    case BERTH_OK:
    case BERTH_INVALID_ARGUMENT:
    case BERTH_INVALID_HANDLE:
    case BERTH_INPUT_ERROR:
    case BERTH_STALE_PLAN:
      return status;
    default:
      berth::fuzz::broken(std::string(berth_status_name(status)) + ": " + berth_last_error());
  }
}

/// Columns filled from the input, at least as long as any count that is passed with them.
class Arrays {
 public:
  static constexpr std::size_t kRows = 6;
  explicit Arrays(Bytes& in) {
    for (auto& x : words) x = in.one_in(3) ? in.word() : static_cast<std::uint64_t>(in.below(8));
    for (auto& x : ints) x = in.one_in(4) ? static_cast<std::int32_t>(in.word()) : in.within(-1, 9);
    for (auto& x : longs) x = in.one_in(4) ? static_cast<std::int64_t>(in.word()) : in.below(300) * 1'000'000;
    for (auto& x : flags) x = in.byte();
    for (std::size_t i = 0; i <= kRows; ++i) begin[i] = static_cast<std::uint64_t>(in.below(17));
    if (!in.one_in(4)) {
      for (std::size_t i = 1; i <= kRows; ++i) begin[i] = begin[i] < begin[i - 1] ? begin[i - 1] : begin[i];
    }
  }
  std::array<std::uint64_t, kRows + 1> words{};
  std::array<std::int32_t, kRows> ints{};
  std::array<std::int64_t, kRows> longs{};
  std::array<std::uint8_t, kRows> flags{};
  std::array<std::uint64_t, kRows + 1> begin{};
};

class Caller {
 public:
  explicit Caller(Bytes& in) : in_(in) {}
  ~Caller() {
    for (berth_state*& h : states_) berth_state_destroy(&h, nullptr);
    for (berth_engine*& h : engines_) berth_engine_destroy(&h, nullptr);
    for (berth_plan*& h : plans_) berth_plan_destroy(&h, nullptr);
    for (berth_policy_state*& h : memories_) berth_policy_state_destroy(&h, nullptr);
  }

  void call() {
    static constexpr char kTexts[] = "abcdefghA148rack";
    switch (in_.below(23)) {
      case 0:
        return make(states_,
                    [&](berth_state** out) { return berth_state_from_json(kSnapshot, sizeof kSnapshot - 1, nullptr, out, error()); });
      case 1:
        return make(engines_, [&](berth_engine** out) { return berth_engine_create(out, error()); });
      case 2:
        return make(plans_, [&](berth_plan** out) { return berth_plan_create(out, error()); });
      case 3:
        return make(memories_, [&](berth_policy_state** out) { return berth_policy_state_create(out, error()); });
      case 4:
        return end(states_, berth_state_destroy);
      case 5:
        return end(engines_, berth_engine_destroy);
      case 6:
        return end(plans_, berth_plan_destroy);
      case 7:
        return end(memories_, berth_policy_state_destroy);
      case 8:
      case 9:
        return decide();
      case 10: {
        answered(berth_commit(pick(states_), pick(plans_), nullptr, error()));
        return;
      }
      case 11:
        return read_columns();
      case 12: {
        char* bytes = nullptr;
        std::uint64_t begin[9];
        const auto count = static_cast<std::uint64_t>(in_.below(9));
        if (answered(berth_plan_texts(pick(plans_), pick(states_), in_.below(10), number(), count, &bytes, begin, error())) == BERTH_OK) {
          berth_free(bytes);
        }
        return;
      }
      case 13:
      case 14:
        return apply(kTexts);
      case 15:
        return make(states_, [&](berth_state** out) { return from_arrays(kTexts, out); });
      case 16: {
        char* json = nullptr;
        std::size_t size = 0;
        if (answered(berth_state_to_json(pick(states_), &json, &size, error())) != BERTH_OK) return;
        berth_state* again = nullptr;
        berth::fuzz::hold(berth_state_from_json(json, size, nullptr, &again, nullptr) == BERTH_OK, "a written state is not read");
        berth_free(json);
        berth_state_destroy(&again, nullptr);
        return;
      }
      case 17: {
        berth_state_info info{};
        info.struct_size = size_of(sizeof info);
        answered(berth_state_get_info(pick(states_), &info, error()));
        berth_engine_stats stats{};
        stats.struct_size = size_of(sizeof stats);
        answered(berth_engine_get_stats(pick(engines_), &stats, error()));
        return;
      }
      case 18:
        answered(berth_cancel(pick(engines_)));
        return;
      case 19:
      case 20: {
        const std::string losses =
            R"({"schema": "berth.deltas.v1", "deltas": [)" + std::string(kLosses[in_.below(static_cast<int>(std::size(kLosses)))]) + "]}";
        answered(berth_state_apply_json(pick(states_), losses.data(), losses.size(), nullptr, nullptr, error()));
        return;
      }
      case 21: {
        static constexpr const char* kForms[] = {R"("cancel": ["a"])", R"("drain": ["a"])", R"("add": ["2x8xA"])", R"("job": ["2x1h"])",
                                                 R"("policy": "srsf")"};
        const std::string edits = R"({"schema": "berth.edits.v1", "edits": [{"name": "e", )" +
                                  std::string(kForms[in_.below(static_cast<int>(std::size(kForms)))]) + "}]}";
        berth_request request{};
        request.struct_size = size_of(sizeof request);
        char* json = nullptr;
        if (answered(berth_state_what_if(pick(states_), nullptr, &request, edits.data(), edits.size(), nullptr, &json, nullptr, error())) ==
            BERTH_OK)
          berth_free(json);
        return;
      }
      default: {
        // A document made of the rest of the input.
        const std::string_view rest = in_.rest();
        answered(berth_state_apply_json(pick(states_), rest.data(), rest.size(), nullptr, nullptr, error()));
        return;
      }
    }
  }

 private:
  // Mostly the right size; otherwise a smaller one, beyond which nothing may be written.
  std::uint32_t size_of(std::size_t right) {
    if (!in_.one_in(6)) return static_cast<std::uint32_t>(right);
    return static_cast<std::uint32_t>(in_.below(static_cast<std::int32_t>(right)));
  }
  berth_error* error() {
    error_.struct_size = size_of(sizeof error_);
    return in_.one_in(3) ? nullptr : &error_;
  }
  std::uint64_t number() { return in_.one_in(4) ? in_.word() : static_cast<std::uint64_t>(in_.below(5)); }
  template <class H>
  H* pick(std::vector<H*>& handles) {
    return handles.empty() || in_.one_in(8) ? nullptr : in_.of(handles);
  }
  template <class H, class Make>
  void make(std::vector<H*>& handles, const Make& create) {
    H* made = nullptr;
    if (answered(create(&made)) == BERTH_OK) handles.push_back(made);
  }
  // The handle stays in the list after its end, as a caller may keep a copy.
  template <class H>
  void end(std::vector<H*>& handles, berth_status (*destroy)(H**, berth_error*)) {
    H* copy = pick(handles);
    answered(destroy(&copy, error()));
  }

  void decide() {
    static const char* const kPolicies[] = {"fifo", "srsf", "las", "edf", "priority", "unknown", nullptr};
    berth_request request{};
    request.struct_size = size_of(sizeof request);
    request.policy = kPolicies[in_.below(7)];
    request.backend = in_.one_in(5) ? in_.within(-1, 5) : BERTH_BACKEND_CPU;
    request.threads = in_.within(-1, 2);
    request.max_iterations = in_.below(3);
    request.seed = in_.byte();
    berth_plan* plan = pick(plans_);
    berth_state* state = pick(states_);
    if (answered(berth_decide(pick(engines_), state, pick(memories_), &request, plan, error())) != BERTH_OK) return;
    std::uint64_t violations = 1;
    answered(berth_plan_validate(plan, state, &violations, nullptr, nullptr));
    berth::fuzz::hold(violations == 0, "an invalid plan");
  }

  void read_columns() {
    std::array<std::int32_t, 8> ints{};
    std::array<std::int64_t, 8> longs{};
    std::array<std::uint64_t, 8> words{};
    berth_decisions columns{};
    columns.struct_size = size_of(sizeof columns);
    columns.action = ints.data();
    columns.asked = longs.data();
    columns.entry_begin = words.data();
    const std::uint64_t count = in_.one_in(4) ? in_.word() | 1u << 20 : static_cast<std::uint64_t>(in_.below(9));
    answered(berth_plan_decisions(pick(plans_), number(), count, &columns, error()));
    berth_plan_entries entries{};
    entries.struct_size = size_of(sizeof entries);
    entries.gpus = words.data();
    answered(berth_plan_get_entries(pick(plans_), number(), count, &entries, error()));
    answered(berth_plan_reservations_dropped(pick(plans_), number(), count, ints.data(), error()));
    berth_plan_info info{};
    info.struct_size = size_of(sizeof info);
    answered(berth_plan_get_info(pick(plans_), &info, error()));
  }

  berth_texts texts(const Arrays& arrays, const char* bytes) {
    berth_texts texts{};
    if (in_.one_in(5)) return texts;
    texts.bytes = bytes;
    texts.begin = arrays.begin.data();
    return texts;
  }
  template <class T>
  const T* maybe(const T* column) {
    return in_.one_in(4) ? nullptr : column;
  }
  std::uint64_t rows() {
    return in_.one_in(10) ? in_.word() | std::uint64_t{1} << 40 : static_cast<std::uint64_t>(in_.below(Arrays::kRows + 1));
  }

  berth_entries entries(const Arrays& a, const char* bytes) {
    berth_entries e{};
    e.struct_size = size_of(sizeof e);
    e.n = rows();
    e.node = texts(a, bytes);
    e.gpus = maybe(a.words.data());
    e.group = texts(a, bytes);
    e.member = maybe(a.ints.data());
    e.share_ppm = in_.one_in(4) ? a.ints.data() : nullptr;
    return e;
  }
  berth_jobs jobs(const Arrays& a, const Arrays& b, const char* bytes, const berth_entries* e) {
    berth_jobs j{};
    j.struct_size = size_of(sizeof j);
    j.n = rows();
    j.id = texts(a, bytes);
    j.queue = in_.one_in(4) ? texts(b, bytes) : berth_texts{};
    j.submit_us = maybe(a.longs.data());
    j.priority = maybe(b.ints.data());
    j.kind = in_.one_in(4) ? a.ints.data() : nullptr;
    j.estimate_us = maybe(b.longs.data());
    j.deadline_us = in_.one_in(3) ? a.longs.data() : nullptr;
    j.shape_begin = in_.one_in(2) ? a.words.data() : nullptr;
    j.n_shapes = rows();
    j.shape_gpus = maybe(a.ints.data());
    j.shape_gpus_per_member = in_.one_in(3) ? b.ints.data() : nullptr;
    j.shape_require_level = in_.one_in(3) ? texts(b, bytes) : berth_texts{};
    j.running_shape = in_.one_in(2) ? b.ints.data() : nullptr;
    j.entry_begin = maybe(b.words.data());
    j.entries = maybe(e);
    j.run_us = in_.one_in(3) ? b.longs.data() : nullptr;
    return j;
  }

  void apply(const char* bytes) {
    const Arrays a(in_), b(in_);
    const berth_entries e = entries(a, bytes);
    const berth_jobs j = jobs(a, b, bytes, &e);
    berth_deltas d{};
    d.struct_size = size_of(sizeof d);
    d.n = rows();
    d.kind = maybe(a.ints.data());
    d.id = texts(b, bytes);
    d.text = texts(a, bytes);
    d.time_us = maybe(a.longs.data());
    d.value = maybe(b.ints.data());
    d.index = maybe(b.ints.data());
    d.row = maybe(a.words.data());
    d.jobs = maybe(&j);
    d.entry_begin = maybe(b.words.data());
    d.entries = maybe(&e);
    d.n_progress = rows();
    if (d.n_progress <= Arrays::kRows) d.work_done = maybe(a.longs.data());
    answered(berth_state_apply(pick(states_), &d, nullptr, error()));
  }

  berth_status from_arrays(const char* bytes, berth_state** out) {
    const Arrays a(in_), b(in_);
    const berth_entries e = entries(b, bytes);
    const berth_jobs j = jobs(b, a, bytes, &e);
    berth_cluster c{};
    c.struct_size = size_of(sizeof c);
    c.now_us = a.longs[0];
    c.n_gpu_types = rows();
    c.gpu_type = texts(a, bytes);
    c.n_domains = rows();
    c.domain = texts(a, bytes);
    c.domain_level = texts(b, bytes);
    c.domain_parent = maybe(b.ints.data());
    c.n_nodes = rows();
    c.node = texts(a, bytes);
    c.node_gpu_type = maybe(a.ints.data());
    c.node_gpus = maybe(b.ints.data());
    c.node_domain[0] = in_.one_in(2) ? a.ints.data() : nullptr;
    c.node_state = in_.one_in(3) ? b.ints.data() : nullptr;
    c.n_queues = in_.one_in(3) ? rows() : 0;
    c.queue = texts(a, bytes);
    c.queue_parent = in_.one_in(3) ? b.ints.data() : nullptr;
    c.queue_guarantee = in_.one_in(3) ? a.longs.data() : nullptr;
    c.queue_lending = in_.one_in(3) ? b.longs.data() : nullptr;
    c.jobs = maybe(&j);
    return berth_state_from_arrays(&c, out, error());
  }

  Bytes& in_;
  berth_error error_{};
  std::vector<berth_state*> states_;
  std::vector<berth_engine*> engines_;
  std::vector<berth_plan*> plans_;
  std::vector<berth_policy_state*> memories_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes in(data, size);
  Caller caller(in);
  for (int i = 0; i < 60 && !in.empty(); ++i) caller.call();
  return 0;
}
