"""Jacobians: row by row, column by column, or in batches of rows."""

from fastgrad._jacobians.jacobians import by_columns, by_columns_at_once, by_rows, is_tall  # noqa: F401
