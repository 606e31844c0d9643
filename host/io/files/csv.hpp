#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/units.hpp"

namespace berth::io {

struct CsvDialect {
  char separator = ',';
  bool quotes = true;  ///< false: a quote is an ordinary character
};

class GzipInput;

/// Reads a CSV file record by record, plain or gzip ("-": standard input), in constant memory.
///
/// RFC 4180 with a header: fields may be quoted, quotes inside are doubled, quoted fields may hold commas and line
/// ends. Lines end in LF or CRLF; the last one need not. A UTF-8 byte-order mark is skipped; empty lines are allowed at
/// the end only. Names in the header are stripped of blanks and must be unique.
///
/// Everything else is an InputError "file:line: column 'name' (number): problem": a record with another number of
/// fields than the header, a quote in the wrong place, a lone CR, a NUL byte, text that is not UTF-8, a record over 1
/// MiB, a damaged gzip stream.
class CsvReader {
 public:
  /// Opens the file and reads the header. @throws EnvironmentError when it cannot be opened.
  explicit CsvReader(const std::string& path, CsvDialect dialect = {});
  explicit CsvReader(std::unique_ptr<GzipInput> input, CsvDialect dialect = {});
  ~CsvReader();
  CsvReader(CsvReader&&) noexcept;
  CsvReader& operator=(CsvReader&&) noexcept;

  const std::vector<std::string>& header() const { return header_; }
  /// Index of the column of that name, or -1.
  int find(std::string_view name) const;
  /// The same, but a missing column is an InputError that lists the header.
  int column(std::string_view name) const;
  /// The header for error messages.
  std::string header_text() const;

  /// Moves to the next record. @returns false at the end of the file.
  bool next();

  const std::string& file() const { return file_; }
  int line() const { return record_line_; }  ///< 1-based line on which the current record begins.

  /// The field's text, unquoted.
  std::string_view text(int column) const;
  /// A whole number in [low, high]; "8.0" counts as 8. Blanks around it are ignored.
  std::int64_t integer(int column, std::int64_t low, std::int64_t high) const;
  /// Decimal seconds, see core::parse_seconds; `seconds` rejects negative ones.
  TimeUs seconds(int column) const;
  TimeUs signed_seconds(int column) const;
  /// A measured quantity, not negative, in units of 10^-places, rounded down; see parse_measured.
  std::int64_t measured(int column, int places) const;
  /// A wall-clock time, see core::parse_civil.
  TimeUs civil(int column) const;

  /// Rejects the field: "expected WHAT, found 'value'".
  [[noreturn]] void refuse(int column, std::string_view expected) const;

 private:
  struct Stream;
  bool read_record();
  bool scan_record();
  void end_field();
  [[noreturn]] void broken(const std::string& problem) const;

  std::string file_;
  std::unique_ptr<Stream> stream_;
  CsvDialect dialect_;
  std::vector<std::string> header_;
  std::string record_;                  ///< all fields, concatenated
  std::vector<std::size_t> field_end_;  ///< [fields] offsets in `record_`
  int line_ = 1;                        ///< of the next byte
  int record_line_ = 0;
};

}  // namespace berth::io
