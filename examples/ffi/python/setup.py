"""Builds the library into the wheel, so that it needs none that is installed:

    pip wheel examples/ffi/python

It compiles the project's sources, and so works only within the project.
"""

import pathlib
import subprocess
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

PROJECT = pathlib.Path(__file__).resolve().parents[3]


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        library = pathlib.Path(self.build_lib) / "jitdump" / "libjitdump.so"
        subprocess.run(
            [*sysconfig.get_config_var("CC").split(), "-std=c11", "-O2", "-fPIC", "-shared", "-pthread",
             "-fvisibility=hidden", f"-I{PROJECT / 'include'}", str(PROJECT / "src" / "jitdump.c"),
             f"-Wl,--version-script={PROJECT / 'src' / 'packaging' / 'jitdump.map'}",
             "-Wl,-z,relro,-z,now", "-o", str(library)], check=True)


class PlatformWheel(bdist_wheel):
    """For any Python, as ctypes loads the library, but for this platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
