"""The HTML report of a schedule. Needs the extra `report`; importing this without it says so."""

try:
    from lowtide_client.report.page import write_report
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    if package not in {"jinja2", "markupsafe", "plotly"}:
        raise
    message = f"the report needs {package}: install it with pip install 'lowtide[report]'"
    raise ModuleNotFoundError(message, name=error.name) from error

__all__ = ["write_report"]
