#include "host/io/zip_archive.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "berth/error.hpp"
#include "host/core/visible.hpp"
#include "host/io/json_text.hpp"

namespace berth::io {
namespace {

// PKWARE's APPNOTE.TXT: a list of all files stands at the end, behind it a record that says where the list begins.
constexpr std::string_view kLocalFile{"PK\x03\x04", 4}, kListEntry{"PK\x01\x02", 4}, kListEnd{"PK\x05\x06", 4};
constexpr std::size_t kLocalBytes = 30, kListedBytes = 46, kEndBytes = 22, kMostComment = 65'535;
constexpr std::size_t kMostDeflated = 1'032;  // bytes from one, zlib's own limit
constexpr unsigned kEncrypted = 1, kStored = 0, kDeflated = 8;

struct Listed {
  std::string_view name;
  unsigned flags = 0, method = 0;
  std::uint32_t crc = 0;
  std::size_t packed = 0, size = 0, at = 0;
};

class Archive {
 public:
  Archive(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void broken(const std::string& problem) const { throw InputError(name_, "", 0, "zip archive: " + problem); }

  template <class OnFile>
  void each(OnFile&& on_file) const {
    const std::size_t end = find_end();
    const std::size_t files = u16(end + 10), list = u32(end + 16);
    if (u16(end + 4) != 0 || u16(end + 8) != files) broken("it has several parts");
    if (files == 0xffff || list == 0xffffffff) broken("larger than 4 GiB (zip64), which is not read");
    std::size_t at = list;
    for (std::size_t i = 0; i < files; ++i) {
      if (piece(at, kListedBytes).substr(0, 4) != kListEntry) broken("its list of files is damaged");
      const std::size_t name = u16(at + 28);
      on_file(Listed{piece(at + kListedBytes, name), u16(at + 8), u16(at + 10), u32(at + 16), u32(at + 20), u32(at + 24), u32(at + 42)});
      at += kListedBytes + name + u16(at + 30) + u16(at + 32);
    }
  }

  std::string unpack(const Listed& file, std::size_t most) const {
    if ((file.flags & kEncrypted) != 0) broken("it is encrypted");
    if (file.size > most) broken(fmt::format("a file of {} bytes is larger than {}", file.size, most));
    if (piece(file.at, kLocalBytes).substr(0, 4) != kLocalFile) broken("a file does not stand where the list says");
    const std::string_view packed = piece(file.at + kLocalBytes + u16(file.at + 26) + u16(file.at + 28), file.packed);
    std::string content;
    if (file.method == kStored) {
      content = packed;
    } else if (file.method == kDeflated) {
      content = inflated(packed, file.size);
    } else {
      broken(fmt::format("packed by method {}; 0 (stored) and 8 (deflated) are read", file.method));
    }
    if (content.size() != file.size) broken("a file is not as long as the list says");
    if (crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())) != file.crc) {
      broken("the checksum of a file is wrong: the archive is damaged");
    }
    return content;
  }

 private:
  std::string_view piece(std::size_t at, std::size_t bytes) const {
    if (at > bytes_.size() || bytes > bytes_.size() - at) broken("it is cut off or damaged");
    return bytes_.substr(at, bytes);
  }
  unsigned byte(std::size_t at) const { return static_cast<unsigned char>(piece(at, 1)[0]); }
  unsigned u16(std::size_t at) const { return byte(at) | byte(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) const { return u16(at) | static_cast<std::uint32_t>(u16(at + 2)) << 16; }

  /// The record at the end, before a comment of at most 64 KiB.
  std::size_t find_end() const {
    if (bytes_.size() < kEndBytes) broken("it is cut off");
    const std::size_t last = bytes_.size() - kEndBytes;
    for (std::size_t back = 0; back <= std::min(last, kMostComment); ++back) {
      if (bytes_.substr(last - back, 4) == kListEnd && u16(last - back + 20) == back) return last - back;
    }
    broken("it is cut off: its list of files is missing");
  }

  /// Unpacks no more than `size` bytes, whatever the stream holds.
  std::string inflated(std::string_view packed, std::size_t size) const {
    if (size / kMostDeflated > packed.size()) broken("a file cannot be as long as the list says");
    std::string out(size, '\0');
    z_stream z{};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw EnvironmentError("zlib cannot be initialised");
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    z.avail_in = static_cast<uInt>(packed.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&z, Z_FINISH);
    const std::size_t written = z.total_out;
    inflateEnd(&z);
    if (status != Z_STREAM_END) broken("a file cannot be unpacked: the archive is damaged, or the file longer than the list says");
    out.resize(written);
    return out;
  }

  std::string_view bytes_;
  const std::string& name_;
};

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.substr(0, 4) == kLocalFile || bytes.substr(0, 4) == kListEnd; }

std::string unzip_one(std::string_view archive, std::string_view tail, const std::string& name, std::size_t most) {
  const Archive zip(archive, name);
  std::optional<Listed> found;
  zip.each([&](const Listed& file) {
    if (file.name.size() < tail.size() || file.name.substr(file.name.size() - tail.size()) != tail) return;
    if (found) zip.broken(fmt::format("it holds several files '...{}', '{}' is one", tail, core::visible(cut_utf8(file.name, 60))));
    found = file;
  });
  if (!found) zip.broken(fmt::format("it holds no file '...{}'", tail));
  return zip.unpack(*found, most);
}

}  // namespace berth::io
