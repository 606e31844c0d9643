#include "host/core/check/check_snapshot.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <unordered_set>

#include "host/core/base/id_table.hpp"
#include "host/core/model/level_order.hpp"

namespace berth::core {
namespace {

template <class Row>
IdTable index_rows(const std::vector<Row>& rows, std::string_view list, const InputLocation& where) {
  IdTable ids(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int32_t earlier = ids.add(rows[i].id);
    if (earlier == IdTable::kAbsent) continue;
    InputLocation(where, list, static_cast<std::int64_t>(i))
        .fail_at("id", fmt::format("'{}' is the id of /{}/{} too", rows[i].id, list, earlier));
  }
  return ids;
}

class SnapshotReferences final : public References {
 public:
  SnapshotReferences(const Snapshot& snapshot, const InputLocation& where)
      : snapshot_(snapshot),
        types_(index_rows(snapshot.gpu_types, "gpu_types", where)),
        queues_(index_rows(snapshot.queues, "queues", where)),
        nodes_(index_rows(snapshot.nodes, "nodes", where)) {
    for (const Domain& d : snapshot.domains) paths_[static_cast<std::size_t>(d.topology)].insert(domain_path(d));
    levels_ = order_levels(snapshot.domains, where);
  }

  const GpuType* gpu_type(std::string_view id) const override { return find(snapshot_.gpu_types, types_, id); }
  const Node* node(std::string_view id) const override { return find(snapshot_.nodes, nodes_, id); }
  bool has_queue(std::string_view id) const override { return queues_.find(id) != IdTable::kAbsent; }
  std::string near_gpu_type(std::string_view id) const override { return near_id(id, snapshot_.gpu_types); }
  std::string near_queue(std::string_view id) const override { return near_id(id, snapshot_.queues); }
  bool has_domain(TopologyKind topology, std::string_view path) const override {
    return paths_[static_cast<std::size_t>(topology)].count(std::string(path)) != 0;
  }
  bool has_level(TopologyKind topology, std::string_view level) const override {
    for (const std::string& one : levels_[static_cast<std::size_t>(topology)]) {
      if (one == level) return true;
    }
    return false;
  }

 private:
  template <class Row>
  static const Row* find(const std::vector<Row>& rows, const IdTable& ids, std::string_view id) {
    const std::int32_t row = ids.find(id);
    return row == IdTable::kAbsent ? nullptr : &rows[static_cast<std::size_t>(row)];
  }

  const Snapshot& snapshot_;
  IdTable types_, queues_, nodes_;
  std::array<std::unordered_set<std::string>, kTopologyKinds> paths_;
  LevelOrder levels_;
};

void check_count(std::size_t n, std::int64_t most, const InputLocation& where, std::string_view list) {
  if (n > static_cast<std::size_t>(most)) where.fail_at(list, fmt::format("{} rows are more than {}", n, most));
}

template <class Row, class Check>
void check_rows(const std::vector<Row>& rows, std::string_view list, const InputLocation& where, Check&& check) {
  for (std::size_t i = 0; i < rows.size(); ++i) check(rows[i], InputLocation(where, list, static_cast<std::int64_t>(i)));
}

void check_all(const Snapshot& s, const InputLocation& root) {
  check_text(s.name, root, "name");
  check_text(s.origin_iso, root, "origin");
  check_time(s.now_us, root, "now_s");
  check_range(s.revision, 1, kMaxRevision, root, "revision");
  check_extensions(s.x, root);
  check_count(s.nodes.size(), kMaxNodes, root, "nodes");
  check_count(s.domains.size(), kMaxNodes, root, "domains");
  check_count(s.jobs.size(), kMaxJobs, root, "jobs");
  check_rows(s.gpu_types, "gpu_types", root, check_gpu_type);
  check_rows(s.domains, "domains", root, check_domain);
  check_domains(s.domains, root);
  const SnapshotReferences refs(s, root);
  check_rows(s.nodes, "nodes", root, [&](const Node& n, const InputLocation& at) { check_node(n, refs, at); });
  check_rows(s.queues, "queues", root, [&](const Queue& q, const InputLocation& at) { check_queue(q, refs, at); });
  check_queue_tree(s.queues, root);
  check_rows(s.reservations, "reservations", root, [&](const Reservation& r, const InputLocation& at) { check_reservation(r, refs, at); });
  index_rows(s.reservations, "reservations", root);
  index_rows(s.jobs, "jobs", root);
  GpuLedger ledger(s);
  for (std::size_t i = 0; i < s.jobs.size(); ++i) {
    const InputLocation at(root, "jobs", static_cast<std::int64_t>(i));
    check_job(s.jobs[i], refs, at);
    ledger.add(i, refs, at);
  }
  check_rows(s.history, "history", root, check_finished);
}

}  // namespace
}  // namespace berth::core

namespace berth {

void check_snapshot(const Snapshot& s, const std::string& name) { core::check_all(s, core::InputLocation(name)); }

}  // namespace berth
