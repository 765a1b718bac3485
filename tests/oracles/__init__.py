"""What the tests believe instead of the library: random graphs and brute force."""
