"""Where a refresh spends its requests: rates learned from visits, signals, and the index that weighs pages.

Times are hours, as floats, by whatever clock the caller has. `hazard` is for one page, `scoring` for all of them at
once; both say the same. The policy and its numbers: docs/decisions/0032-refresh-planner.md.
"""
