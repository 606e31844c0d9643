#include "host/io/files/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMostRecord = std::size_t{1} << 20;
constexpr int kEnd = -1;

std::string_view strip(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// A value in an error message: short, and without control characters.
std::string shown(std::string_view value) {
  std::string text(value.substr(0, 60));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return value.size() > 60 ? text + "..." : text;
}

}  // namespace

/// Reads byte by byte.
struct CsvReader::Stream {
  std::unique_ptr<GzipInput> input;
  std::array<char, 1 << 16> buffer{};
  std::size_t at = 0, size = 0;

  explicit Stream(std::unique_ptr<GzipInput> bytes) : input(std::move(bytes)) {}

  /// The next byte, or kEnd. @throws InputError for a damaged stream.
  int peek() {
    if (at == size) {
      at = 0;
      size = input->read(buffer.data(), buffer.size());
      if (size == 0) return kEnd;
    }
    return static_cast<unsigned char>(buffer[at]);
  }
  int take() {
    const int c = peek();
    if (c != kEnd) ++at;
    return c;
  }
};

CsvReader::CsvReader(const std::string& path, CsvDialect dialect) : CsvReader(std::make_unique<GzipInput>(path), dialect) {}

CsvReader::CsvReader(std::unique_ptr<GzipInput> input, CsvDialect dialect)
    : file_(input->name()), stream_(std::make_unique<Stream>(std::move(input))), dialect_(dialect) {
  if (stream_->peek() == 0xef) {
    for (const int expected : {0xef, 0xbb, 0xbf}) {
      if (stream_->take() != expected) broken("the file is not text: it starts with a broken byte-order mark");
    }
  }
  if (stream_->peek() == kEnd) broken("the file is empty; expected a header");
  if (stream_->peek() == '{') broken("this is JSON; expected a table with a header");
  if (!read_record()) broken("expected a header");
  header_.reserve(field_end_.size());
  for (std::size_t i = 0; i < field_end_.size(); ++i) {
    const std::string name(strip(text(static_cast<int>(i))));
    if (find(name) >= 0) broken(fmt::format("the header names column '{}' twice", shown(name)));
    header_.push_back(name);
  }
}

CsvReader::~CsvReader() = default;
CsvReader::CsvReader(CsvReader&&) noexcept = default;
CsvReader& CsvReader::operator=(CsvReader&&) noexcept = default;

int CsvReader::find(std::string_view name) const {
  const auto at = std::find(header_.begin(), header_.end(), name);
  return at == header_.end() ? -1 : static_cast<int>(at - header_.begin());
}

int CsvReader::column(std::string_view name) const {
  const int found = find(name);
  if (found >= 0) return found;
  throw InputError(file_, "", 1, fmt::format("no column '{}' in the header '{}'", name, header_text()));
}

std::string CsvReader::header_text() const {
  std::string all;
  for (const std::string& one : header_) all += (all.empty() ? std::string() : std::string(1, dialect_.separator)) + one;
  return shown(all);
}

bool CsvReader::next() {
  if (!read_record()) return false;
  if (field_end_.size() != header_.size())
    broken(fmt::format("{}, and the header has {}", core::counted(static_cast<std::int64_t>(field_end_.size()), "field"), header_.size()));
  return true;
}

void CsvReader::end_field() { field_end_.push_back(record_.size()); }

bool CsvReader::read_record() {
  if (!scan_record()) return false;
  if (first_invalid_utf8(record_) != record_.data() + record_.size()) broken("the text is not UTF-8");
  return true;
}

bool CsvReader::scan_record() {
  record_.clear();
  field_end_.clear();
  record_line_ = line_;
  enum { kStart, kPlain, kQuoted, kClosed } state = kStart;
  int c = stream_->take();
  if (c == kEnd) return false;
  for (;; c = stream_->take()) {
    // Empty fields take memory, too.
    if (record_.size() + field_end_.size() > kMostRecord) broken("a record of more than 1 MiB");
    if (c == 0) broken("a NUL byte: the file is not text");
    if (state == kQuoted) {
      if (c == kEnd) broken("a quoted field is not closed");
      if (c == '"') {
        state = kClosed;
      } else {
        if (c == '\n') ++line_;
        record_.push_back(static_cast<char>(c));
      }
      continue;
    }
    if (c == '"' && dialect_.quotes) {
      if (state == kPlain) broken(fmt::format("a quote inside the unquoted field {}", field_end_.size() + 1));
      if (state == kClosed) record_.push_back('"');  // doubled
      state = kQuoted;
      continue;
    }
    if (c == '\r') {
      if (stream_->peek() != '\n') broken("a carriage return without a line feed");
      continue;
    }
    if (c == '\n' || c == kEnd || c == dialect_.separator) {
      end_field();
      if (c == dialect_.separator) {
        state = kStart;
        continue;
      }
      const bool empty = record_.empty() && field_end_.size() == 1 && state == kStart;
      if (c == '\n') ++line_;
      if (!empty) return true;
      // Empty lines are allowed at the end only.
      while (stream_->peek() == '\n' || stream_->peek() == '\r') stream_->take();
      if (stream_->peek() != kEnd) broken("an empty line before the end");
      return false;
    }
    if (state == kClosed) broken(fmt::format("text after the closing quote of field {}", field_end_.size() + 1));
    state = kPlain;
    record_.push_back(static_cast<char>(c));
  }
}

std::string_view CsvReader::text(int column) const {
  const auto i = static_cast<std::size_t>(column);
  const std::size_t first = i == 0 ? 0 : field_end_.at(i - 1);
  return std::string_view(record_).substr(first, field_end_.at(i) - first);
}

std::int64_t CsvReader::integer(int column, std::int64_t low, std::int64_t high) const {
  std::string_view digits = strip(text(column));
  const std::size_t point = digits.find('.');
  if (point != std::string_view::npos && point + 1 < digits.size() && digits.find_first_not_of('0', point + 1) == std::string_view::npos) {
    digits = digits.substr(0, point);  // "8.0", as data frames write whole numbers
  }
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  std::int64_t value = 0;
  bool good = !digits.empty() && digits.size() <= 18;
  for (const char c : digits) {
    good = good && c >= '0' && c <= '9';
    if (good) value = value * 10 + (c - '0');
  }
  if (negative) value = -value;
  if (!good || value < low || value > high) refuse(column, fmt::format("a whole number from {} to {}", low, high));
  return value;
}

TimeUs CsvReader::seconds(int column) const {
  const auto value = core::parse_seconds(strip(text(column)));
  if (!value || *value < 0) refuse(column, "seconds: a decimal, not negative, with at most 6 digits after the point");
  return *value;
}

TimeUs CsvReader::signed_seconds(int column) const {
  const auto value = core::parse_seconds(strip(text(column)));
  if (!value) refuse(column, "seconds: a decimal with at most 6 digits after the point");
  return *value;
}

std::int64_t CsvReader::measured(int column, int places) const {
  const auto value = parse_measured(strip(text(column)), places);
  if (!value) refuse(column, "a measured quantity: a decimal, not negative");
  return *value;
}

TimeUs CsvReader::civil(int column) const {
  const auto value = core::parse_civil(strip(text(column)));
  if (!value) refuse(column, core::is_missing_day(strip(text(column))) ? "a day that its month has" : "a local time 'YYYY-MM-DD HH:MM:SS'");
  return *value;
}

void CsvReader::refuse(int column, std::string_view expected) const {
  throw InputError(file_, fmt::format("column '{}' ({})", header_.at(static_cast<std::size_t>(column)), column + 1), record_line_,
                   fmt::format("expected {}, found '{}'", expected, shown(text(column))));
}

void CsvReader::broken(const std::string& problem) const { throw InputError(file_, "", record_line_ > 0 ? record_line_ : 1, problem); }

}  // namespace berth::io
