#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "tests/cuda_on_threads/runtime.hpp"

/// Names of kernels, from the symbol table of this library: kernels are in unnamed namespaces, which dladdr does not see.
namespace berth::cuda_on_threads {
namespace {

std::map<std::uintptr_t, std::string> read_symbols() {
  std::map<std::uintptr_t, std::string> symbols;
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&read_symbols), &info) == 0) return symbols;
  std::ifstream file(info.dli_fname, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() < sizeof(ElfW(Ehdr))) return symbols;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(bytes.data());
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(bytes.data() + header->e_shoff);
  for (int s = 0; s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    const char* names = bytes.data() + sections[sections[s].sh_link].sh_offset;
    const auto* first = reinterpret_cast<const ElfW(Sym)*>(bytes.data() + sections[s].sh_offset);
    for (std::size_t i = 0; i < sections[s].sh_size / sizeof(ElfW(Sym)); ++i) {
      if (ELF64_ST_TYPE(first[i].st_info) != STT_FUNC) continue;
      symbols[reinterpret_cast<std::uintptr_t>(info.dli_fbase) + first[i].st_value] = names + first[i].st_name;
    }
  }
  return symbols;
}

/// "berth::cuda::(anonymous namespace)::place_kernel(...)" -> "place_kernel".
std::string short_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? text.get() : mangled;
  const std::string unnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(unnamed); at != std::string::npos; at = name.find(unnamed)) name.erase(at, unnamed.size());
  const std::size_t kernel = name.find("_kernel");
  if (kernel == std::string::npos) return name;
  const std::size_t first = name.rfind(':', kernel);
  const std::size_t last = name.find('(', kernel);
  name = name.substr(first == std::string::npos ? 0 : first + 1, last - (first == std::string::npos ? 0 : first + 1));
  return name;
}

}  // namespace

std::string name_of(const void* function) {
  static const std::map<std::uintptr_t, std::string> symbols = read_symbols();
  const auto found = symbols.find(reinterpret_cast<std::uintptr_t>(function));
  return found == symbols.end() ? "a kernel" : short_name(found->second);
}

}  // namespace berth::cuda_on_threads
