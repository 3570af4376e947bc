"""UniClaw: evaluate AI agents in live environments, over several turns, behind a firewall."""

__version__ = "0.1.0"
