"""The certificates, kept in SQLite."""
