# One line per test.
#
#   salvo_unit_test(path/test_x.c LIBS a b)     Criterion, label unit, named after its path
#   salvo_stress_test(test_x.c LIBS a b)        plain main, labels stress and tsan
#   salvo_fuzz_test(fuzz_x.c LIBS a b [CORPUS DIR]) libFuzzer, label fuzz; only in the preset fuzz
#   salvo_integration_test(name.sh [TIMEOUT s] [ASAN]) bash, label integration, exit 77 = skip;
#                                               ASAN: tools/check runs it with the asan build as well
string(FIND "${CMAKE_C_FLAGS}" "-fsanitize=" at)
if(at GREATER_EQUAL 0)
  set(SALVO_SANITIZED ON)
endif()
add_custom_target(stress_tests)
add_custom_target(fuzz_tests)

function(salvo_unit_test source)
  cmake_parse_arguments(T "" "" "LIBS" ${ARGN})
  string(REPLACE "/" "." name ${source})
  string(REGEX REPLACE "\\.c$" "" name ${name})
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${T_LIBS} warnings PkgConfig::CRITERION m)
  # The reference arguments of Criterion's macros trip -Wundef and friends in its own headers only.
  add_test(NAME unit.${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

function(salvo_stress_test source)
  cmake_parse_arguments(T "" "" "LIBS" ${ARGN})
  string(REGEX REPLACE "\\.c$" "" name ${source})
  add_executable(stress.${name} ${source})
  target_link_libraries(stress.${name} PRIVATE ${T_LIBS} warnings)
  add_dependencies(stress_tests stress.${name})
  add_test(NAME stress.${name} COMMAND stress.${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(stress.${name} PROPERTIES LABELS "stress;tsan" TIMEOUT 180 SKIP_RETURN_CODE 77)
endfunction()

function(salvo_fuzz_test source)
  if(NOT SALVO_FUZZ)
    return()
  endif()
  cmake_parse_arguments(T "" "CORPUS" "LIBS" ${ARGN})
  string(REGEX REPLACE "\\.c$" "" name ${source})
  add_executable(fuzz.${name} ${source})
  target_link_libraries(fuzz.${name} PRIVATE ${T_LIBS} warnings)
  target_link_options(fuzz.${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_tests fuzz.${name})
  add_test(NAME fuzz.${name} COMMAND fuzz.${name} -runs=1000000 -max_total_time=60 -rss_limit_mb=1024
           -timeout=10 -print_final_stats=1 ${T_CORPUS})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 240)
endfunction()

function(salvo_integration_test script)
  cmake_parse_arguments(T "ASAN" "TIMEOUT" "" ${ARGN})
  string(REGEX REPLACE "\\.sh$" "" name ${script})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  set(labels integration)
  if(T_ASAN)
    list(APPEND labels asan)
  endif()
  add_test(NAME integration.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/${script}
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(integration.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${T_TIMEOUT}
    SKIP_RETURN_CODE 77 RUN_SERIAL TRUE
    ENVIRONMENT "SALVO_BIN=$<TARGET_FILE:salvo>;SALVO_WORKER_BIN=$<TARGET_FILE:salvo-worker>;SALVO_SANITIZED=$<$<BOOL:${SALVO_SANITIZED}>:1>")
endfunction()
