#pragma once

#include "host/results/database.hpp"

namespace berth::results {

/// Reports why the last call on a database that is only read failed.
[[noreturn]] void fail_to_read(const std::string& path, sqlite3* handle);

}  // namespace berth::results
