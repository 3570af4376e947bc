"""Loaders of task suites: one module per format."""
