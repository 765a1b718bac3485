"""What the routes stand on: admission, the two lanes of workers, the store."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import anyio
from anyio import BrokenWorkerProcess
from anyio.abc import TaskGroup
from starlette.requests import Request

from lowtide_service import jobs, problems
from lowtide_service.access_log import request_number
from lowtide_service.disconnects import until_disconnect
from lowtide_service.jobs import Undecided
from lowtide_service.lanes import Lane, run_in_worker
from lowtide_service.problems import ServiceError
from lowtide_service.replies import Answer, Refusal
from lowtide_service.request_bodies import read_body
from lowtide_service.settings import Settings
from lowtide_service.store.certificate_store import CertificateStore
from lowtide_service.worker_setup import WorkerConfig

logger = logging.getLogger(__name__)

Outcome = Answer | Refusal


class Service:
    """Takes requests to workers and brings their answers back. Lives as long as the server."""

    def __init__(self, settings: Settings, store: CertificateStore, background: TaskGroup) -> None:
        """`background` runs the replacement of lost workers."""
        self.store = store
        self._settings = settings
        self._config = WorkerConfig.of(settings)
        self._background = background
        self._is_stopping = False
        self._requests = 0
        self._short = Lane(
            "short",
            settings.short_workers,
            settings.max_requests,
            settings.retry_after_seconds,
            self._replace_worker,
        )
        self._long = Lane(
            "long",
            settings.long_workers,
            settings.max_waiting,
            settings.retry_after_seconds,
            self._replace_worker,
        )

    async def warm_up(self) -> None:
        """Has a loaded worker idle for every free turn; returns when all have opened the store.

        All calls are made at once, so each takes an idle worker or starts one.
        """
        async with anyio.create_task_group() as group:
            for _ in range(self._short.free_turns + self._long.free_turns):
                group.start_soon(run_in_worker, jobs.warm_up, self._config)

    def stop(self) -> None:
        """Lost workers are not replaced any more. Requests that still run may end after this."""
        self._is_stopping = True
        self._background.cancel_scope.cancel()

    async def schedule(self, request: Request) -> bytes:
        """The body of the answer to `POST /schedule`.

        A small graph gets a short attempt first, which serves what is stored and solves what is
        easy. Raises ServiceError and ClientDisconnect, as the other two do.
        """
        return await self._respond(request, self._schedule)

    async def evaluate(self, request: Request) -> bytes:
        """The body of the answer to `POST /evaluate`."""
        return await self._respond(request, self._evaluate)

    async def verify(self, request: Request) -> bytes:
        """The body of the answer to `POST /verify`; small ones get a short attempt first too."""
        return await self._respond(request, self._verify)

    async def _respond(
        self, request: Request, work: Callable[[bytes], Awaitable[Outcome]]
    ) -> bytes:
        with self._admitted():
            body = await read_body(request, self._settings)
            outcome = await until_disconnect(request, lambda: work(body))
        number = request_number(request.scope)
        if isinstance(outcome, Refusal):
            if outcome.traceback is not None:
                extra = {"request": number, "worker_traceback": outcome.traceback}
                logger.error("job failed", extra=extra)
            raise ServiceError(outcome.document)
        if outcome.warning is not None:
            logger.warning(outcome.warning, extra={"request": number})
        return outcome.body

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """One place among the requests in flight: bounds the bodies held in memory."""
        if self._requests >= self._settings.max_requests:
            raise problems.overloaded(self._settings.retry_after_seconds)
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1

    async def _schedule(self, body: bytes) -> Outcome:
        settings = self._settings
        longest_seconds = settings.max_time_limit_seconds
        if len(body) <= settings.short_body_bytes:
            outcome = await self._short.run(
                settings.short_solve_seconds + settings.kill_grace_seconds,
                jobs.schedule_job,
                self._config,
                body,
                settings.short_solve_seconds,
            )
            if not isinstance(outcome, Undecided):
                return outcome
            longest_seconds = outcome.time_limit_seconds
        outcome = await self._long.run(
            longest_seconds + settings.kill_grace_seconds,
            jobs.schedule_job,
            self._config,
            body,
            None,
        )
        assert not isinstance(outcome, Undecided)  # only a short attempt leaves it open
        return outcome

    async def _evaluate(self, body: bytes) -> Outcome:
        lane = self._short if len(body) <= self._settings.short_body_bytes else self._long
        return await lane.run(
            self._settings.kill_grace_seconds, jobs.evaluate_job, self._config, body
        )

    async def _verify(self, body: bytes) -> Outcome:
        settings = self._settings
        if len(body) <= settings.short_body_bytes:
            outcome = await self._short.run(
                settings.short_solve_seconds + settings.kill_grace_seconds,
                jobs.verify_job,
                self._config,
                body,
                settings.short_solve_seconds,
            )
            if not isinstance(outcome, Undecided):
                return outcome
        outcome = await self._long.run(
            settings.verify_time_limit_seconds + settings.kill_grace_seconds,
            jobs.verify_job,
            self._config,
            body,
            None,
        )
        assert not isinstance(outcome, Undecided)  # only a short attempt leaves it open
        return outcome

    def _replace_worker(self) -> None:
        if not self._is_stopping:
            self._background.start_soon(self._warm_up_again)

    async def _warm_up_again(self) -> None:
        try:
            await self.warm_up()
        except* BrokenWorkerProcess:
            logger.exception("a worker did not start; the next request will start one")
