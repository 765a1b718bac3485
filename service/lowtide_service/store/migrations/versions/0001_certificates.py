"""The certificates and the two indices that look-up and eviction read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table."""
    op.create_table(
        "certificates",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("graph_hash", sa.String, nullable=False),
        sa.Column("labelled_digest", sa.String(64), nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("peak_bytes", sa.BigInteger, nullable=False),
        sa.Column("lower_bound_bytes", sa.BigInteger, nullable=False),
        sa.Column("time_limit_milliseconds", sa.BigInteger, nullable=False),
        sa.Column("stopped_by", sa.String, nullable=True),
        sa.Column("solve_seconds", sa.Float, nullable=False),
        sa.Column("kernel_seconds", sa.Float, nullable=False),
        sa.Column("certificate", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.Integer, nullable=False),
        sa.Column("last_used_microseconds", sa.BigInteger, nullable=False),
    )
    op.create_index(
        "certificates_by_graph",
        "certificates",
        ["graph_hash", "status", "time_limit_milliseconds"],
    )
    op.create_index("certificates_by_age", "certificates", ["last_used_microseconds", "size_bytes"])


def downgrade() -> None:
    """Drops the table with everything in it."""
    op.drop_table("certificates")
