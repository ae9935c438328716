"""The one home of intervals, tests and means: comparisons, the leaderboard, `expe/` and `benchmarks/` compute none.

A file holds one method. Each imports numpy, scipy and its neighbours, and nothing else of this package: a figure of a
run is computed in `metrics`, and what it means for a dispatcher is said in `report.replicates`. Read `estimate` first.

| question | method | used by |
|---|---|---|
| How well is a mean over replicates known? | `bootstrap`: BCa | `replicates`, the leaderboard, most of `expe/` |
| The same, as in a page that was first made with percentiles | `bootstrap`: percentile | `expe/malleability` |
| The same for values that are nearly normal, as means over seeds are | `student` | `expe/common`, `benchmarks/` |
| The same for values in order of time that resemble their neighbours | `dependence`, `student` | `replicates` |
| The same over the jobs of one log | `batches`, `dependence` | the report |
| Does one of a pair win more often than by chance? | `signed_rank`, `significance` | `replicates` |
| The same, asked of many pairs | `holm` | `replicates` |
| Do ranks of many differ, and which of them? | `friedman`, `nemenyi` | `replicates`, the leaderboard |
| What is the mean of ratios? | `geometric` | `replicates`, `expe/` |
| Do two orders agree? | `correlation` | `fidelity` |
| Which values are equal but for rounding? | `rounding` | `replicates` |

Several files follow J. Demsar: "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7 (2006).
"""
