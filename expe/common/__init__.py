"""What all folders of `expe/` share: they run campaigns, hold claims against what came out, and fill pages."""
