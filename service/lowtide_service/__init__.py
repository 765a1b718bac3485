"""The HTTP service: schedules, evaluates and verifies graphs in worker processes and keeps every certificate."""
