#include "host/io/fields/shape_fields.hpp"

namespace berth::io {
namespace {

constexpr std::uint64_t kHasId = 1, kHasGpus = 4;
static_assert(kShapeFields[0].name == "id" && kShapeFields[2].name == "gpus");

// The sum over the groups, for a shape that does not state it.
std::int32_t gpus_of_groups(const JsonCursor& in, const char* at, const Shape& shape) {
  std::int64_t sum = 0;
  for (const Group& g : shape.groups) sum += std::int64_t{g.members_want} * g.gpus_per_member;
  if (sum > kMaxGpusPerJob) in.fail_at(at, fmt::format("the groups add up to {} GPUs; at most {} are allowed", sum, kMaxGpusPerJob));
  return static_cast<std::int32_t>(sum);
}

}  // namespace

void Shapes::read(JsonCursor& in, std::vector<Shape>& out) {
  in.array([&] {
    const char* at = in.next_mark();
    Shape& shape = out.emplace_back();
    const std::uint64_t seen = read_object(in, shape, kShapeFields);
    if ((seen & kHasId) == 0) shape.id = std::to_string(out.size() - 1);
    if ((seen & kHasGpus) == 0) {
      if (shape.groups.empty()) in.fail_at(at, "the field 'gpus' is missing");
      shape.gpus = gpus_of_groups(in, at, shape);
    }
  });
}

}  // namespace berth::io
