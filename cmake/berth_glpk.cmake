# BERTH_GLPK_INCLUDE and BERTH_GLPK_LIBRARY, for tests and benchmarks that compare with a solver; BERTH_GLPK: whether both were found.
find_path(BERTH_GLPK_INCLUDE glpk.h)
find_library(BERTH_GLPK_LIBRARY glpk)
set(BERTH_GLPK OFF)
if(BERTH_GLPK_INCLUDE AND BERTH_GLPK_LIBRARY)
  set(BERTH_GLPK ON)
endif()
