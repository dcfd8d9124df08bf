"""Sphinx configuration of the documentation."""

project = "Overclock"
author = "The Overclock developers"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Overclock"
exclude_patterns = ["_build", "case_studies/*/project"]  # what a run was made from are no pages
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # pages link to files of the repository, which are outside the documentation
