#include "host/io/files/zip_archive.hpp"

#include <fmt/format.h>
#include <minizip/unzip.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

// PKWARE's APPNOTE.TXT.
constexpr std::string_view kLocalFile{"PK\x03\x04", 4}, kListEnd{"PK\x05\x06", 4};
constexpr std::size_t kEndBytes = 22;
constexpr unsigned kEncrypted = 1, kStored = 0, kDeflated = 8;
constexpr std::size_t kMostName = 65'535;

class Archive {
 public:
  Archive(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    zlib_filefunc64_def files;
    fill_fopen64_filefunc(&files);
    files.opaque = &bytes_;
    files.zopen64_file = [](void* opaque, const void*, int) -> void* {
      const auto& in_memory = *static_cast<const std::string_view*>(opaque);
      return fmemopen(const_cast<char*>(in_memory.data()), in_memory.size(), "r");
    };
    zip_ = unzOpen2_64(name.c_str(), &files);
    if (zip_ == nullptr) broken("it is empty, cut off or damaged: it has no list of files");
    if (!ends_with_list()) {
      unzClose(zip_);
      broken("it is cut off");
    }
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() { unzClose(zip_); }

  [[noreturn]] void broken(const std::string& problem) const { throw InputError(name_, "", 0, "zip archive: " + problem); }

  /// Makes the one file with that end of its name the current one.
  void select(std::string_view tail) {
    std::string found;
    unz64_file_pos at{};
    int status = unzGoToFirstFile(zip_);
    for (; status == UNZ_OK; status = unzGoToNextFile(zip_)) {
      const std::string file = current_name();
      if (!file.ends_with(tail)) continue;
      if (!found.empty())
        broken(fmt::format("it holds several files '...{}', '{}' is one", tail, core::escape_control(cut_utf8(file, 60))));
      found = file;
      unzGetFilePos64(zip_, &at);
    }
    if (status != UNZ_END_OF_LIST_OF_FILE) broken("its list of files is damaged");
    if (found.empty()) broken(fmt::format("it holds no file '...{}'", tail));
    if (unzGoToFilePos64(zip_, &at) != UNZ_OK) broken("its list of files is damaged");
  }

  /// The library unpacks no more than the size in the list, whatever the stream holds.
  std::string unpack(std::size_t most) {
    unz_file_info64 file;
    if (unzGetCurrentFileInfo64(zip_, &file, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK) broken("its list of files is damaged");
    if ((file.flag & kEncrypted) != 0) broken("it is encrypted");
    if (file.uncompressed_size > most) broken(fmt::format("a file of {} bytes is larger than {}", file.uncompressed_size, most));
    if (file.compression_method != kStored && file.compression_method != kDeflated) {
      broken(fmt::format("packed by method {}; 0 (stored) and 8 (deflated) are read", file.compression_method));
    }
    if (unzOpenCurrentFile(zip_) != UNZ_OK) broken("a file does not stand where the list says");
    std::string content;
    std::array<char, 65'536> part;
    int read = 0;
    while ((read = unzReadCurrentFile(zip_, part.data(), part.size())) > 0) content.append(part.data(), static_cast<std::size_t>(read));
    const int closed = unzCloseCurrentFile(zip_);
    if (read < 0) broken("a file cannot be unpacked: the archive is damaged");
    if (closed == UNZ_CRCERROR) broken("the checksum of a file is wrong: the archive is damaged, or the file longer than the list says");
    if (content.size() != file.uncompressed_size) broken("a file is not as long as the list says");
    return content;
  }

 private:
  /// The library takes zeros for bytes that are missing behind the list.
  bool ends_with_list() const {
    unz_global_info64 list{};
    unzGetGlobalInfo64(zip_, &list);
    const std::size_t end = kEndBytes + list.size_comment;
    return bytes_.size() >= end && bytes_.substr(bytes_.size() - end).starts_with(kListEnd);
  }

  std::string current_name() const {
    std::string name(kMostName, '\0');
    unz_file_info64 file;
    if (unzGetCurrentFileInfo64(zip_, &file, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK) {
      broken("its list of files is damaged");
    }
    name.resize(std::min<std::size_t>(file.size_filename, kMostName));
    return name;
  }

  std::string_view bytes_;
  const std::string& name_;
  unzFile zip_ = nullptr;
};

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.starts_with(kLocalFile) || bytes.starts_with(kListEnd); }

std::string unzip_one(std::string_view archive, std::string_view tail, const std::string& name, std::size_t most) {
  Archive zip(archive, name);
  zip.select(tail);
  return zip.unpack(most);
}

}  // namespace berth::io
