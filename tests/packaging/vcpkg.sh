#!/bin/sh
# Usage: vcpkg.sh SOURCE FOLDER
# A dry run of the vcpkg port, since vcpkg itself is in no distribution: CMake carries the port out, with
# what it calls of vcpkg made as simply as their documentation says. So this finds mistakes in the
# port's own lines, and does not show that vcpkg takes it.
set -eu
source=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
python3 - "$source" <<'end'
import json, re, sys
port = json.load(open(f"{sys.argv[1]}/src/packaging/vcpkg/vcpkg.json", encoding="utf-8"))
header = open(f"{sys.argv[1]}/include/jitdump.h", encoding="utf-8").read()
version = ".".join(re.findall(r"#define JITDUMP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
if port["version"] != version:
    sys.exit(f"the port is of version {port['version']}, the header of {version}")
end
cat >"$folder/dry_run.cmake" <<'end'
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}: ${result}")
  endif()
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${FOLDER}/build ${arg_OPTIONS}
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib)
endfunction()
function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build ${FOLDER}/build --target install)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(MAKE_DIRECTORY ${CURRENT_PACKAGES_DIR}/share)
  file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/jitdump)
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY ${arg_FILE_LIST} DESTINATION ${CURRENT_PACKAGES_DIR}/share/jitdump)
endfunction()
include(${PORT})
end
cmake -DFOLDER="$folder" -DCURRENT_PACKAGES_DIR="$folder/packages" -DVCPKG_LIBRARY_LINKAGE=static \
    -DPORT="$source/src/packaging/vcpkg/portfile.cmake" -P "$folder/dry_run.cmake"
cd "$folder/packages"
ls include/jitdump.h include/jitdump.hpp lib/libjitdump.a lib/pkgconfig/jitdump.pc share/jitdump/jitdumpConfig.cmake \
    share/jitdump/LICENSE
if ls lib/libjitdump.so* 2>/dev/null; then
    exit 1
fi
