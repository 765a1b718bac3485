"""The application: settings in, ASGI app out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

import anyio
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp

from lowtide_service.access_log import AccessLog
from lowtide_service.api_docs import install_api_docs
from lowtide_service.problem_responses import install_problem_handlers
from lowtide_service.routes import router
from lowtide_service.service import Service
from lowtide_service.settings import Settings
from lowtide_service.shutdown import AnswerWhenStopped
from lowtide_service.store.certificate_store import CertificateStore
from lowtide_service.store.engine import open_engine


def create_app(settings: Settings) -> ASGIApp:
    """The service. Its database must have been migrated; starting it starts the workers."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        engine = open_engine(settings.database_path, settings.database_busy_seconds)
        store = CertificateStore(engine, settings.cache_max_entries, settings.cache_max_bytes)
        async with anyio.create_task_group() as background:
            service = Service(settings, store, background)
            await service.warm_up()
            app.state.service = service
            yield
            service.stop()
        store.close()

    # The page at /docs brings its scripts along: build servers seldom reach the networks that would
    # deliver them, nor should a page tell an outside validator what is served here.
    app = FastAPIOffline(
        title="Lowtide",
        version=_version(),
        description="Operator orders with the provably lowest peak activation memory, each with a "
        "certificate that anyone can check.",
        lifespan=lifespan,
        redirect_slashes=False,
        redoc_url=None,
        swagger_ui_parameters={"validatorUrl": None},
    )
    app.include_router(router)
    install_problem_handlers(app)
    install_api_docs(app)
    return AccessLog(AnswerWhenStopped(app, settings.retry_after_seconds))


def _version() -> str:
    try:
        return version("lowtide")
    except PackageNotFoundError:
        return "0"  # run from a source tree that is not installed
