# shellcheck shell=bash
# Sourced by the scripts: the project's folder, the number of parallel compilers, a shared compiler cache.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# One compiler per core, but at most one per 1.5 GiB of memory, so that none is killed.
compilers() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1572864)}' /proc/meminfo 2>/dev/null || echo "$cores")
  ((memory < cores)) && cores=$memory
  ((cores < 1)) && cores=1
  echo "$cores"
}

# The same file in another checkout is the same object file; so is the same unity file of another build tree (only
# texts of assertions and of failed tests have __FILE__).
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1} CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-file_macro}
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(compilers)}

find_nvcc() { command -v nvcc || { [[ -x /usr/local/cuda/bin/nvcc ]] && echo /usr/local/cuda/bin/nvcc; }; }
