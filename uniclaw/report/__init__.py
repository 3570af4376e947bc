"""A run as a document: tables with intervals, figures with their data, how it was made.

Reads result rows and stored settings; every number comes from `uniclaw.statistics`.
"""
