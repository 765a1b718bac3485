"""What a worker process sends back: an answer's bytes, or the problem document and what to log."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from lowtide.wire_errors import GraphError

from lowtide_service import problems
from lowtide_service.problems import ProblemDocument, ServiceError
from lowtide_service.worker_setup import WorkerConfig

Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class Answer:
    """A success: the answer as JSON, and a line for the log when something was amiss."""

    body: bytes
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A failure: what the client is told, and what the server logs (workers cannot log)."""

    document: ProblemDocument
    traceback: str | None = None


def replying(
    job: Callable[Concatenate[WorkerConfig, Arguments], Outcome],
) -> Callable[Concatenate[WorkerConfig, Arguments], Outcome | Refusal]:
    """The job with every failure turned into a Refusal: nothing but data crosses the pipe."""

    @wraps(job)
    def reply(
        config: WorkerConfig, /, *arguments: Arguments.args, **keywords: Arguments.kwargs
    ) -> Outcome | Refusal:
        try:
            return job(config, *arguments, **keywords)
        except GraphError as error:
            return Refusal(problems.invalid_input(error.problems, error.omitted).document)
        except ServiceError as error:
            return Refusal(error.document)
        except MemoryError as error:
            return Refusal(problems.out_of_memory(config.memory_bytes).document, _where(error))
        except Exception as error:
            return Refusal(problems.internal_error().document, _where(error))

    return reply


def _where(error: BaseException) -> str:
    # Without the message, which may quote the request.
    return "".join(traceback.format_tb(error.__traceback__)) + type(error).__qualname__
