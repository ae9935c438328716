"""A standing leaderboard: every registered dispatcher on stated workloads, ranked for each of them.

`boards` says on what, and writes it down as a campaign's file; `abilities.campaigns` runs that; `standing` compares
what came of it by `abilities.campaigns.page`; `page` writes it as Markdown, and `cells` as a table with the digests of
each run.
"""
