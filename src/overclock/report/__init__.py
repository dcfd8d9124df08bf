"""What a person reads at the end: one self-contained HTML page, the same in Markdown, and the raw numbers as JSON."""
