# The web page: TypeScript in web/ becomes a few files, packed with gzip, which the program holds
# in itself (src/web). The packages it is built from are fetched once, by npm.
set(web_sources ${PROJECT_SOURCE_DIR}/web)
set(web_packages ${web_sources}/node_modules)
set(web_output ${CMAKE_BINARY_DIR}/web)
set(web_purpose build)
if(BERTH_TESTS)
  set(web_purpose tests)  # brings the type checker, the browser's driver and the accessibility rules
endif()

add_custom_command(OUTPUT ${web_packages}/.for-${web_purpose}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/web-packages ${web_sources} ${web_purpose}
  DEPENDS ${web_sources}/package.json ${web_sources}/package-lock.json
  COMMENT "Fetching the web page's packages" VERBATIM)

# The types of the interface, beside the sources, where the type checker and editors find them.
set(web_types ${web_sources}/generated/openapi.ts)
set(web_interface ${PROJECT_SOURCE_DIR}/docs/openapi.yaml)
add_custom_command(OUTPUT ${web_types}
  COMMAND node ${web_sources}/types_from_openapi.mjs ${web_interface} ${web_types}
  DEPENDS ${web_packages}/.for-${web_purpose} ${web_sources}/types_from_openapi.mjs ${web_interface}
  COMMENT "Making the web page's types of the interface" VERBATIM)

file(GLOB_RECURSE web_scripts CONFIGURE_DEPENDS ${web_sources}/src/*)
foreach(name index.html app.js app.css favicon.svg)
  list(APPEND web_files ${web_output}/${name}.gz)
endforeach()
add_custom_command(OUTPUT ${web_files}
  COMMAND node ${web_sources}/build.mjs ${web_output}
  DEPENDS ${web_packages}/.for-${web_purpose} ${web_sources}/build.mjs ${web_sources}/index.html
    ${web_sources}/favicon.svg ${web_scripts} ${web_types}
  COMMENT "Building the web page" VERBATIM)

berth_library(web base)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/web/page.cc PROPERTIES
  OBJECT_DEPENDS "${web_files}" COMPILE_DEFINITIONS BERTH_WEB_FOLDER="${web_output}")
set_target_properties(web PROPERTIES CXX_COMPILER_LAUNCHER "")
