"""The library as a Conan 2 package.

    conan create src/packaging/conan
"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

PROJECT = os.path.join("..", "..", "..")


class Jitdump(ConanFile):
    name = "jitdump"
    description = "Makes the code that a JIT generates visible in perf and samply"
    license = "MIT"
    topics = ("profiling", "perf", "samply", "jit")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    languages = ("C",)

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, PROJECT, "include", "jitdump.h"))
        self.version = ".".join(
            re.findall(r"#define JITDUMP_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self):
        folder = os.path.join(self.recipe_folder, PROJECT)
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "src/*"):
            copy(self, pattern, folder, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "TOOL"):
            toolchain.cache_variables[f"JITDUMP_BUILD_{part}"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        # The build makes both.
        lib = os.path.join(self.package_folder, "lib")
        for file in os.listdir(lib):
            if os.path.isfile(os.path.join(lib, file)) and (".so" in file) != bool(self.options.shared):
                os.remove(os.path.join(lib, file))
        for folder in ("cmake", "pkgconfig"):  # Conan makes its own
            rmdir(self, os.path.join(lib, folder))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "jitdump")
        self.cpp_info.set_property(
            "cmake_target_name", "jitdump::jitdump" if self.options.shared else "jitdump::jitdump_static")
        self.cpp_info.set_property("pkg_config_name", "jitdump")
        self.cpp_info.libs = ["jitdump"]
        self.cpp_info.system_libs = ["pthread"]
