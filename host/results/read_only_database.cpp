#include "host/results/read_only_database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>

#include "berth/error.hpp"

namespace berth::results {
namespace {

constexpr int kMostReadWaitMs = 10'000;

// A name of a file as a URI that says that the file does not change.
std::string unchanging(const std::string& plain) {
  std::string uri = "file:";
  for (const char c : plain) {
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-';
    uri += safe ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri + "?immutable=1";
}

bool has_bytes(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

}  // namespace

Database::Database(const std::string& path, ReadOnly) : path_(path), only_reads_(true) {
  const std::string plain = path.substr(0, 1) == "/" ? path : "./" + path;
  std::error_code ignored;
  const std::filesystem::file_type type = std::filesystem::status(plain, ignored).type();
  if (type == std::filesystem::file_type::not_found)
    throw EnvironmentError(fmt::format("cannot open '{}': No such file or directory", path));
  if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::none)
    throw InputError(path, "", 0, "is no regular file");
  int code = sqlite3_open_v2(plain.c_str(), &handle_, SQLITE_OPEN_READONLY, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(handle_, kMostReadWaitMs);
    // A file in WAL mode needs others next to it. In a folder that takes none it is read as it is, if its log is empty.
    code = sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
    const bool needs_files = code == SQLITE_CANTOPEN || code == SQLITE_READONLY;
    if (needs_files && !has_bytes(plain + "-wal")) {
      sqlite3_close(handle_);
      code = sqlite3_open_v2(unchanging(plain).c_str(), &handle_, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    } else if (needs_files) {
      sqlite3_close(handle_);
      throw EnvironmentError(fmt::format(
          "cannot read '{}': its log, '{}-wal', can be read only in a folder that may be written; copy both there", path, path));
    } else {
      code = SQLITE_OK;  // the first query reports it
    }
  }
  if (code == SQLITE_OK) return;
  const std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
  sqlite3_close(handle_);
  throw EnvironmentError(fmt::format("cannot open '{}': {}", path, why));
}

void fail_to_read(const std::string& path, sqlite3* handle) {
  const int code = sqlite3_errcode(handle);
  const std::string why = sqlite3_errmsg(handle);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    throw EnvironmentError(fmt::format("cannot read '{}': another program has locked it; try again when that has ended", path));
  }
  // The queries are right: where one does not fit, tables or columns are missing.
  if (code == SQLITE_ERROR) throw InputError(path, "", 0, fmt::format("has not the tables of results: {}", why));
  throw EnvironmentError(fmt::format("cannot read '{}': {}", path, why));
}

}  // namespace berth::results
