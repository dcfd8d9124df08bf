"""A run on disk: `runs/<id>/` with its journal, frozen candidates, status and report.

Everything that is shown about a run is computed from its journal.
"""
