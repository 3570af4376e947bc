"""The viewer: server-rendered pages over stored runs, and the same pages as plain files.

`access` reads files that nobody vouches for, `rows` asks the run's SQLite, `episode` loads one
episode, `lens` says what of it a role may see, `pages_*` render, `app` serves, `export` writes
files. Everything an agent wrote is text here: escaped, cut, or served in a sandbox.
"""
