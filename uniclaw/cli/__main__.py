"""`python -m uniclaw.cli`."""

from uniclaw.cli import main

main()
