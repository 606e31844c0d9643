#include "berth/state.hpp"

#include <utility>

#include "host/core/state/state_impl.hpp"

namespace berth {

ClusterState::ClusterState() : ClusterState(Snapshot{}) {}
ClusterState::ClusterState(Snapshot snapshot, const std::string& name) : impl_(std::make_unique<StateImpl>()) {
  impl_->start(std::move(snapshot), name);
}
ClusterState::~ClusterState() = default;
ClusterState::ClusterState(ClusterState&&) noexcept = default;
ClusterState& ClusterState::operator=(ClusterState&&) noexcept = default;

std::uint64_t ClusterState::apply(std::span<const Delta> deltas) { return impl_->apply(deltas); }
Snapshot ClusterState::snapshot() const { return impl_->snapshot(); }
std::uint64_t ClusterState::revision() const { return impl_->revision; }
TimeUs ClusterState::now() const { return impl_->now; }

std::int32_t ClusterState::node_count() const { return static_cast<std::int32_t>(impl_->nodes.size()); }
const Node& ClusterState::node(std::int32_t rank) const { return impl_->nodes.at(static_cast<std::size_t>(rank)); }
std::int32_t ClusterState::find_node(std::string_view id) const {
  const auto found = impl_->node_rank.find(std::string(id));
  return found == impl_->node_rank.end() ? -1 : found->second;
}

std::int32_t ClusterState::job_index_end() const { return static_cast<std::int32_t>(impl_->jobs.size()); }
std::int32_t ClusterState::job_count() const { return static_cast<std::int32_t>(impl_->job_order.size()); }
const Job* ClusterState::job(std::int32_t job_index) const { return impl_->jobs.at(static_cast<std::size_t>(job_index)).job.get(); }
std::int32_t ClusterState::find_job(std::string_view id) const {
  const auto found = impl_->index_of_job.find(std::string(id));
  return found == impl_->index_of_job.end() ? -1 : found->second;
}
std::int32_t ClusterState::job_rank(std::int32_t job_index) const { return impl_->job_rank().at(static_cast<std::size_t>(job_index)); }

}  // namespace berth
