#include "berth/placement.hpp"

#include <utility>

#include "berth/error.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/engine/scoring.hpp"
#include "host/core/engine/what_if.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth {

class PlacementImpl {
 public:
  Backend wanted = Backend::kAuto;
  int threads = 1;
  core::Backends backends;
  std::string backend, note;
  core::Scoring scoring;
  core::WhatIf what_if;
};

Placement::Placement(Backend backend, int threads, const std::string& device) : impl_(std::make_unique<PlacementImpl>()) {
  core::check_threads(threads);
  impl_->wanted = backend;
  impl_->threads = threads;
  impl_->backends.use_device(device);
}
Placement::~Placement() = default;
Placement::Placement(Placement&&) noexcept = default;
Placement& Placement::operator=(Placement&&) noexcept = default;

void Placement::score(const ClusterState& state, const ScoreRequest& request, Candidates& out) {
  PlacementImpl& m = *impl_;
  const kernel::ScoreQuery asked = m.scoring.compile(state.impl(), request);
  m.backend = m.backends.run(m.wanted, m.threads, m.note, [&](core::PlacementBackend& backend) { m.scoring.run(backend, asked); });
  m.scoring.read(state.impl(), asked, out);
}

Candidates Placement::score(const ClusterState& state, const ScoreRequest& request) {
  Candidates out;
  score(state, request, out);
  return out;
}

void Placement::place(const ClusterState& state, std::span<const Scenario> scenarios, std::vector<ScenarioOutcome>& out) {
  PlacementImpl& m = *impl_;
  m.backend = m.what_if.place(state.impl(), scenarios, m.backends, m.wanted, m.threads, m.note, out);
}

std::vector<ScenarioOutcome> Placement::place(const ClusterState& state, std::span<const Scenario> scenarios) {
  std::vector<ScenarioOutcome> out;
  place(state, scenarios, out);
  return out;
}

const std::string& Placement::backend() const { return impl_->backend; }
const std::string& Placement::backend_note() const { return impl_->note; }
const std::string& Placement::device() const { return impl_->backends.device(); }

}  // namespace berth
