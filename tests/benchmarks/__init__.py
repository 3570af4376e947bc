"""Benchmarks: each prints ratios against a floor measured in the same run, then a line of JSON."""
