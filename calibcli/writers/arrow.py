"""Numbers as Arrow columns, without the imports that pyarrow's own constructors make."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from calibcli.table.score_table import Floats


def float_column(values: Floats) -> "pa.Array[Any]":
    """Return values as a column without nulls, sharing their memory."""
    content = np.ascontiguousarray(values, dtype=np.float64)
    return pa.Array.from_buffers(pa.float64(), content.size, [None, pa.py_buffer(content.data)])


def with_fields(schema: pa.Schema, names: Iterable[str]) -> pa.Schema:
    """Return a schema with columns of floats at its end."""
    for name in names:
        schema = schema.append(pa.field(name, pa.float64()))
    return schema
