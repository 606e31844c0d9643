/* The header is C99, may be included twice, and needs no other include before it. */
#include <berth.h>

#include "check.h"

static int tells_versions(void) {
  CHECK(berth_abi_version() == (uint32_t)BERTH_ABI_MAJOR * 65536u + BERTH_ABI_MINOR);
  CHECK(strchr(berth_version(), '.') != NULL);
  CONTAINS(berth_build_info(), "\"backends\":[\"reference\",\"cpu\"");
  CONTAINS(berth_build_info(), berth_version());
  return 0;
}

static int names_every_status(void) {
  static const berth_status all[] = {BERTH_OK,
                                     BERTH_INVALID_ARGUMENT,
                                     BERTH_INVALID_HANDLE,
                                     BERTH_INPUT_ERROR,
                                     BERTH_STALE_PLAN,
                                     BERTH_BUSY,
                                     BERTH_CALLBACK_FAILED,
                                     BERTH_ENVIRONMENT_ERROR,
                                     BERTH_OUT_OF_MEMORY,
                                     BERTH_STATE_LOST,
                                     BERTH_INTERNAL_ERROR};
  size_t i;
  for (i = 0; i < sizeof all / sizeof *all; ++i) CONTAINS(berth_status_name(all[i]), "BERTH_");
  CHECK(strcmp(berth_status_name(-1000), "unknown status") == 0);
  return 0;
}

static int lists_policies(void) {
  char* json = NULL;
  size_t size = 0;
  OK(berth_policies(&json, &size, NULL));
  CHECK(strlen(json) == size);
  CONTAINS(json, "\"srsf\"");
  berth_free(json);
  berth_free(NULL);
  return 0;
}

int main(void) {
  UNUSED_CHECKS();
  return tells_versions() + names_every_status() + lists_policies();
}
