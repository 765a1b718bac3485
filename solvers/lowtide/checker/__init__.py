"""The independent checker: plain Python, with its own model of memory and nothing of the solver's.

Imports `lowtide.wire`, `lowtide.certificate`, `lowtide.recomputation.certificate`,
`lowtide.answers` and `lowtide.canonical`, nothing else of the library.
"""

from lowtide.checker.check import check
from lowtide.checker.plan_check import PlanVerdict, check_plan

__all__ = ["PlanVerdict", "check", "check_plan"]
