"""Plays planned episodes: assembles their seats, runs them within limits, writes the store."""
