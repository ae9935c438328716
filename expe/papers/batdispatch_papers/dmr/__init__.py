"""DMR (Iserte et al., 2018): malleable applications that arrive at random."""
