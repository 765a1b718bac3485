"""What to compute twice when no order fits (design, section 5)."""
