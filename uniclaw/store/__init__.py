"""The run store: rows in SQLite, one directory per episode, exchanges by content."""
