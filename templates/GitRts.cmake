# Targets that run the tests which a change can affect. Behind enable_testing() or include(CTest) in the CMakeLists.txt at the top:
#
#   include(GitRts.cmake)
#
# Where .gitignore names '*.cmake': git add -f GitRts.cmake
#
#   cmake --build build --target check-affected   builds a copy with counters, runs and records: 'git rts run'
#   cmake --build build --target ctest-affected   runs the affected tests of this build, which must be up to date, by CTest
#
# cmake -DGIT_RTS_BASE=origin/main sets what to compare with; by default, where the branch left its upstream.

if(CMAKE_SCRIPT_MODE_FILE)
  # As 'cmake -P', for ctest-affected: the numbers of the selected tests, then CTest. A selection that fails ends it.
  set(list "${BUILD}/git-rts-selected")
  execute_process(
    COMMAND "${GIT_RTS}" select ${BASE} --format ctest --test-dir "${BUILD}"
    WORKING_DIRECTORY "${SOURCE}"
    OUTPUT_FILE "${list}"
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "git rts could not select tests")
  endif()
  execute_process(
    COMMAND "${CMAKE_CTEST_COMMAND}" -I "${list}" --output-on-failure
    WORKING_DIRECTORY "${BUILD}"
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "tests failed")
  endif()
  return()
endif()

find_program(GIT_RTS git-rts DOC "git rts, which selects tests")
set(GIT_RTS_BASE "" CACHE STRING "What git rts compares with; empty for where the branch left its upstream")

add_custom_target(check-affected
  COMMAND "${GIT_RTS}" run ${GIT_RTS_BASE}
  WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
  USES_TERMINAL VERBATIM)
add_custom_target(ctest-affected
  COMMAND "${CMAKE_COMMAND}"
    "-DGIT_RTS=${GIT_RTS}"
    "-DBASE=${GIT_RTS_BASE}"
    "-DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}"
    "-DBUILD=${CMAKE_BINARY_DIR}"
    -P "${CMAKE_CURRENT_LIST_FILE}"
  USES_TERMINAL VERBATIM)
