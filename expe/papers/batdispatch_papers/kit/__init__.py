"""ForHLR II, the machine of KIT: its platform and its log."""
