"""Long campaigns: commands of their own, of which the tests run a bounded sample."""
