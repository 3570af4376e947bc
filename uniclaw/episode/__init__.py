"""One episode: the state machine that wires executor, supervisor, firewall and user simulator."""
