"""One honest candidate, as files: read as text, and run like any other candidate."""
