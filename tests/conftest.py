"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples everywhere and no timing: a test passes or fails because of the code alone.
settings.register_profile("lowtide", deadline=None, derandomize=True, database=None)
settings.load_profile("lowtide")
