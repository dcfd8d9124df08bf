"""Are these two the same? References and performance implementations as Subjects, tied into Twins by Contracts."""
