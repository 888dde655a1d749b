# Precompiled headers, each made once and shared by all targets that name it. A target's own compile
# definitions would keep it from sharing: give them to the source file that needs them.
function(berth_precompiled target headers)
  if(NOT BERTH_PRECOMPILED)
    return()
  endif()
  set(owner precompiled_${headers})
  if(NOT TARGET ${owner})
    message(FATAL_ERROR "there is no set of headers named ${headers}")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

function(berth_precompiled_headers name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINKS;DEFINITIONS")
  if(NOT BERTH_PRECOMPILED)
    return()
  endif()
  set(owner precompiled_${name})
  add_library(${owner} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cc)
  target_link_libraries(${owner} PRIVATE ${arg_LINKS})
  target_compile_definitions(${owner} PRIVATE ${arg_DEFINITIONS})
  target_precompile_headers(${owner} PRIVATE ${arg_HEADERS})
endfunction()

# Small files that include the same headers are compiled some at a time, so that the headers and
# their templates are paid for once. Names in unnamed namespaces must differ within a folder.
function(berth_compiled_together target)
  if(BERTH_FILES_PER_UNIT GREATER 1)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${BERTH_FILES_PER_UNIT})
  endif()
endfunction()

set(common_headers ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
berth_precompiled_headers(plain HEADERS ${common_headers} LINKS berth_fmt)
berth_precompiled_headers(json HEADERS ${common_headers} <nlohmann/json.hpp>
  LINKS berth_fmt nlohmann_json::nlohmann_json)
