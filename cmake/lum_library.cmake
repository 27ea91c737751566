# SPDX-License-Identifier: MIT OR Apache-2.0
# lum_library(NAME folder/name SOURCES .. HEADERS .. DEPS .. LIBS .. TESTS ..)
#   makes the static library luminal_<name> (alias luminal::<name>) from one folder, and one test program
#   <name>_test from TESTS. NAME may hold a slash (backends/cpu): it becomes an underscore.
#   DEPS are names of other luminal libraries, LIBS are any other link targets.
#   TEST_DEPS, TEST_LIBS: for the tests alone.
function(lum_flags target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers
                         -ffp-contract=off)  # fma only where it is written: the exact mode depends on it
  if(LUMINAL_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(LUMINAL_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${LUMINAL_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${LUMINAL_SANITIZE})
  endif()
endfunction()

function(lum_library)
  cmake_parse_arguments(L "" "NAME" "SOURCES;HEADERS;DEPS;LIBS;TESTS;TEST_DEPS;TEST_LIBS" ${ARGN})
  string(REPLACE "/" "_" name ${L_NAME})
  set(target luminal_${name})
  if(L_SOURCES)
    add_library(${target} STATIC ${L_SOURCES})
    lum_flags(${target})
    list(TRANSFORM L_DEPS PREPEND luminal_ OUTPUT_VARIABLE deps)
    target_link_libraries(${target} PUBLIC ${deps} PRIVATE ${L_LIBS})
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
                   FILES ${L_HEADERS})
  else()
    message(FATAL_ERROR "lum_library ${L_NAME}: no SOURCES")
  endif()
  add_library(luminal::${name} ALIAS ${target})
  if(LUMINAL_BUILD_TESTS AND L_TESTS)
    lum_test(NAME ${name}_test SOURCES ${L_TESTS} DEPS ${name} ${L_TEST_DEPS} LIBS ${L_TEST_LIBS})
  endif()
endfunction()

# lum_test(NAME x_test SOURCES .. DEPS .. LIBS .. LABELS slow): one GoogleTest program, run from the top folder.
function(lum_test)
  cmake_parse_arguments(T "" "NAME" "SOURCES;DEPS;LIBS;LABELS" ${ARGN})
  add_executable(${T_NAME} ${T_SOURCES})
  lum_flags(${T_NAME})
  list(TRANSFORM T_DEPS PREPEND luminal_ OUTPUT_VARIABLE deps)
  target_link_libraries(${T_NAME} PRIVATE ${deps} ${T_LIBS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${T_NAME} COMMAND ${T_NAME} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(T_LABELS)
    set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}")
  endif()
endfunction()
