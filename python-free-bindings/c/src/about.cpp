#include <berth.h>
#include <string>

#include "berth/build_id.hpp"
#include "berth/io.hpp"
#include "berth/version.hpp"
#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"

using berth::c::guarded;
using berth::c::required;

#define BERTH_QUOTED_(x) #x
#define BERTH_QUOTED(x) BERTH_QUOTED_(x)
#ifdef BERTH_WITH_CUDA
#define BERTH_BACKENDS "[\"reference\",\"cpu\",\"cuda\"]"
#else
#define BERTH_BACKENDS "[\"reference\",\"cpu\"]"
#endif

uint32_t berth_abi_version(void) { return BERTH_ABI_MAJOR * 65536u + BERTH_ABI_MINOR; }

const char* berth_version(void) { return BERTH_VERSION; }

const char* berth_build_info(void) {
  return "{\"version\":\"" BERTH_VERSION "\",\"abi\":\"" BERTH_QUOTED(BERTH_ABI_MAJOR) "." BERTH_QUOTED(
      BERTH_ABI_MINOR) "\",\"build\":\"" BERTH_BUILD_ID "\",\"backends\":" BERTH_BACKENDS ",\"compiler\":\"" __VERSION__ "\"}";
}

const char* berth_status_name(berth_status status) {
  switch (status) {
#define BERTH_NAME(name) \
  case name:             \
    return #name;
    BERTH_NAME(BERTH_OK)
    BERTH_NAME(BERTH_INVALID_ARGUMENT)
    BERTH_NAME(BERTH_INVALID_HANDLE)
    BERTH_NAME(BERTH_INPUT_ERROR)
    BERTH_NAME(BERTH_STALE_PLAN)
    BERTH_NAME(BERTH_BUSY)
    BERTH_NAME(BERTH_CALLBACK_FAILED)
    BERTH_NAME(BERTH_ENVIRONMENT_ERROR)
    BERTH_NAME(BERTH_OUT_OF_MEMORY)
    BERTH_NAME(BERTH_STATE_LOST)
    BERTH_NAME(BERTH_INTERNAL_ERROR)
#undef BERTH_NAME
    default:
      return "unknown status";
  }
}

berth_status berth_policies(char** json, size_t* size, berth_error* error) {
  return guarded(error, [&] { berth::c::give_text(berth::io::to_json(berth::policies()), &required(json, "json"), size); });
}
