"""Level 2: scripted scenarios that cross modules, and metamorphic checks of the performance side."""
