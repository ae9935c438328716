"""Speculative scheduling (Gainaru et al., 2019): jobs whose run time is a random variable."""
