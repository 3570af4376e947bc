"""Between the three APIs: each is read into, and written from, the values of `talk`.

Pure functions and small state machines over JSON; no sockets, no clock. Must not know who
asks, what it costs, or where the upstream is.
"""
