"""`python -m overclock` is the `overclock` program."""

import sys

from overclock.cli import main

if __name__ == "__main__":
    sys.exit(main())
