"""Statistics over result rows: pure functions from rows and options to frozen records.

Nothing here reads a store, a file of a run or a clock; a caller passes `EpisodeRow`s or a
frame of them (`rows.as_rows`). Each command of the CLI is one function: `stats.stats`,
`compare.compare`, `variance.variance`, `power.power`, `agreement.agreement`; curation of
suites stands in `uniclaw.curation`. What cannot be estimated is None with a reason.

Importing this package is cheap; its modules import numpy, scipy, pandas and statsmodels
(the `statistics` extra) and must not be imported before a command needs them.
"""
