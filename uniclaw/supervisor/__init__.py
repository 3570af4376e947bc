"""The supervisor: checks frozen evidence against a rubric and says the verdict.

`supervise.Supervisor` is the door. Nothing here runs code of the agent's on the host.
"""
