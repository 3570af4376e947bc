"""Curation of suites: which tasks are good, and which few stand for all.

Pure functions over result rows, as in `uniclaw.statistics`. Nothing here reads a suite or
changes one: an answer names tasks, and a filter file is text for someone to write.
"""
