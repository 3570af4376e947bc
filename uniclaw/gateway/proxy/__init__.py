"""The recording proxy: the way out of a task that asks for a network.

It knows which hosts a task may reach, carries HTTP and HTTPS and nothing else, and keeps what
went through, so that changing content is judged against what the agent saw.
"""
