"""Conan recipe: `conan create packaging/conan`. Cargo and, on Linux, binutils must be installed."""

import os
import re

from conan import ConanFile
from conan.tools.files import copy, load


class Ebbtide(ConanFile):
    name = "ebbtide"
    description = "Scoped arena memory for C and C++"
    license = "MIT OR Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    @property
    def _repository(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        manifest = load(self, os.path.join(self._repository, "Cargo.toml"))
        self.version = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE)[1]

    def export_sources(self):
        for pattern in ".cargo/*", "Cargo.*", "LICENSE-*", "CHANGELOG.md", "crates/*", "dev/*":
            copy(self, pattern, self._repository, self.export_sources_folder, excludes="*/target/*")

    def package(self):
        static = "" if self.options.shared else "--static"
        self.run('cargo xtask dist --strip %s "%s"' % (static, self.package_folder))
        licenses = os.path.join(self.package_folder, "licenses")
        copy(self, "LICENSE-*", self.source_folder, licenses)

    def package_info(self):
        # CMake uses the installed package itself, with its targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "ebbtide")]
        self.cpp_info.libs = ["ebbtide"]
        if not self.options.shared:
            if self.settings.os == "Windows":
                self.cpp_info.system_libs = ["ws2_32", "userenv", "ntdll", "bcrypt"]
            else:
                self.cpp_info.system_libs = ["pthread", "dl", "m"]
