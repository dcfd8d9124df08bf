"""`overclock export`: an accepted translation as a pip-installable package with its tests and its report."""
