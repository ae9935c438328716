"""What hosts of a run burnt, by its files, and the metrics of it."""
