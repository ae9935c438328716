"""What dispatchers are assembled from; each part is usable with any dispatcher."""
