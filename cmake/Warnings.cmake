# Flags for our own code; link `warnings` PRIVATE to every target.
add_library(warnings INTERFACE)
target_compile_definitions(warnings INTERFACE _GNU_SOURCE SALVO_VERSION="${PROJECT_VERSION}")
target_include_directories(warnings INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(warnings INTERFACE
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wvla -Wundef -Wwrite-strings -Wpointer-arith -Wformat=2 -Wimplicit-fallthrough
  -Wno-missing-field-initializers
  $<$<C_COMPILER_ID:GNU>:-Wduplicated-cond;-Wlogical-op>
  $<$<BOOL:${SALVO_WERROR}>:-Werror>)
