"""What we are measured against: `schedule_table` (times and peaks), `reference_check` (answers)."""
