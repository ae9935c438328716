"""Complete dispatchers and parts that the manual shows, named by module: ``batdispatch.examples.strided:Strided``."""
