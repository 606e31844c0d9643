#include "tests/support/source_dir.hpp"

namespace berth::test {

const std::string& source_dir() {
  static const std::string folder = BERTH_SOURCE_DIR;
  return folder;
}

}  // namespace berth::test
