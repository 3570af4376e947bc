"""The hidden side: rubrics, references and verdicts.

Only `suites`, `supervisor`, `firewall`, `episode` and what stands above may import it.
"""
