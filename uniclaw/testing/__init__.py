"""Public test tools: a scripted model server and conformance suites for the ports.

Each lives in its own module; nothing is imported here.
"""
