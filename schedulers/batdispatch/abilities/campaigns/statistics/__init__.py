"""The one home of intervals, tests and means: comparisons, `expe/` and `benchmarks/` compute none.

A file holds one method. Each imports numpy, scipy and its neighbours, and nothing else of this package: a figure of a
run is computed in `metrics`, and what it means for a dispatcher is said in `page`. Read `estimate` first.

| question | method | used by |
|---|---|---|
| How far are two dispatchers apart, how sure is that, is it chance? | `mean_effect` | `replicates`, `expe/` |
| How well is a mean known for which there is no pair? | `bootstrap`: BCa | `expe/`, `benchmarks/` |
| The same, as in a page that was first made with percentiles | `bootstrap`: percentile | `expe/malleability` |
| The same for values that are nearly normal, as means over seeds are | `student` | `expe/common`, `benchmarks/` |
| From when on is something called different? | `significance` | all of these |
| What is the mean of ratios? | `geometric` | `replicates`, `expe/` |
| Do two orders agree? | `correlation` | `fidelity` |
| Which values are equal but for rounding? | `rounding` | `replicates` |
"""
