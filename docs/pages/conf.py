# SPDX-License-Identifier: Apache-2.0
# Sphinx's configuration; build.py sets PPRF_XML to the folder with Doxygen's results.
import logging
import os
import pathlib
import re
import sys
import unittest.mock

import cffi
import pygments.lexers.special

ROOT = pathlib.Path(__file__).resolve().parents[2]
# the package is imported as it is; its C libraries are not needed for the documentation
cffi.FFI.dlopen = unittest.mock.MagicMock()
native = unittest.mock.MagicMock()
native.ffi.NULL = native.lib.pprf_suite_name.return_value
sys.modules["pprf._native"] = native
sys.path.insert(0, str(ROOT / "bindings" / "python"))

project = "libpprf"
author = copyright = "the libpprf maintainers"
version = release = re.search(r'#define PPRF_VERSION "(.*)"', (ROOT / "include/pprf.h").read_text()).group(1)
extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
root_doc = "README"
# in C a structure and a function may have the same name, as these do, but Sphinx does not know that
logging.getLogger("sphinx.sphinx.domains.c").addFilter(
    lambda record: not re.search(r"'\.\. c:struct:: pprf_(tickets_(stats|server)|vault_(cell|info))'",
                                 record.getMessage()))
language = "en"

breathe_projects = {"libpprf": os.environ["PPRF_XML"]}
breathe_default_project = "libpprf"
breathe_domain_by_extension = {"h": "c"}
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"no-value": True}  # values would come from the missing library

html_theme = "furo"
html_title = f"libpprf {version}"
html_css_files = ["pages.css"]
html_static_path = ["pages.css"]
html_show_sourcelink = html_copy_source = False


def setup(app):
    app.add_lexer("haproxy", pygments.lexers.special.TextLexer)  # GitHub has one, Pygments has none
