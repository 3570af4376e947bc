"""The information firewall: projection by policy, screening of messages, measurement of leaks.

Stands on the supervisor's side: it may read the hidden material, and nothing of what it
records about a draft is shown to a role.
"""
