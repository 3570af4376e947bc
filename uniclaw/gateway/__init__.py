"""The only door from a container to a model.

`gateway.Gateway` opens a door per episode: a unix socket (and a token for the loopback port)
that speaks OpenAI chat completions and responses and Anthropic messages, adds the provider's
key, counts, stops at the budgets, and records. Must not know the hidden side: the firewall's
look at a request is a function it is given.
"""
