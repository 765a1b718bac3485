"""What a user would take instead of this library, each working on the same `Graph` values."""
