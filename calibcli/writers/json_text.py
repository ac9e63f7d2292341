"""
Columns as the text of JSON values, whole columns at a time.

Numbers keep their shortest digits, and floating ones a point, so that no reader takes them for whole ones;
what JSON has no number for (NaN, infinity) is null. Dates and times are text as CSV has them.
"""

import json
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from calibcli.writers.arrow import bytes_scalar, place_column

Column: TypeAlias = "pa.Array[Any]"
_TO_ESCAPE = r'[\x00-\x1f"\\]'
_CONTROLS = r"[\x00-\x1f]"
_WHOLE = r"^-?[0-9]+$"
_NOT_A_NUMBER = r"n"


def has_json(kind: pa.DataType) -> bool:
    """Whether values of a type can be written as JSON."""
    if isinstance(kind, pa.BaseExtensionType):
        return has_json(kind.storage_type)
    if isinstance(kind, pa.DictionaryType):
        return has_json(kind.value_type)
    if pa.types.is_map(kind):
        pairs = cast("pa.MapType[Any, Any]", kind)
        return _is_text(pairs.key_type) and has_json(pairs.item_type)
    if pa.types.is_struct(kind):
        return all(has_json(field.type) for field in kind)
    if _is_list(kind):
        return has_json(cast("pa.ListType[Any]", kind).value_type)
    return _is_text(kind) or _is_plain(kind)


def json_column(column: Column) -> Column:
    """
    Return the JSON text of each value, as bytes without nulls.

    Args:
        column: Of a type that `has_json`.
    """
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return json_column(column.storage)
    if isinstance(column, pa.DictionaryArray):
        return _where_null(json_column(column.dictionary).take(column.indices))
    if pa.types.is_struct(kind):
        return _with_nulls(_objects(column), column)
    if pa.types.is_map(kind) or _is_list(kind):
        return _with_nulls(_lists(column), column)
    return _where_null(_flat(column))


def _flat(column: Column) -> Column:
    """Return the text of values that hold no others, null where they are."""
    kind = column.type
    if _is_text(kind):
        return _quoted(column.cast(pa.large_string()))
    if pa.types.is_floating(kind):
        return _floats(column.cast(pa.string()))
    text = _bytes(column.cast(pa.string()))
    return text if not pa.types.is_temporal(kind) else _joined(_mark(b'"'), text, _mark(b'"'))


def joined_row(names: "list[bytes]", columns: list[Column]) -> Column:
    """
    Return a line of text for each row, an object with a value for each name.

    Args:
        names: The keys as JSON text.

        columns: What `json_column` returned for each.
    """
    parts: list[Any] = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        parts += [_mark(b"%s%s:" % (b"," if place else b"{", name)), column]
    return _joined(*parts, _mark(b"}\n"))


def _objects(column: Any) -> Column:  # noqa: ANN401 - a column of structs
    """Return structs as objects."""
    if not column.type.num_fields:
        return _where_null(pa.nulls(len(column), pa.binary()), b"{}")
    parts: list[Any] = []
    for place, (field, values) in enumerate(zip(column.type, column.flatten(), strict=True)):
        key = json_key(field.name)
        parts += [_mark(b"%s%s:" % (b"," if place else b"{", key)), json_column(values)]
    return _joined(*parts, _mark(b"}"))


def _lists(column: Any) -> Column:  # noqa: ANN401 - a column of lists or maps
    """Return lists as lists, and maps as objects."""
    kind = column.type
    is_map = pa.types.is_map(kind)
    if is_map:
        column = column.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
    inside = column.flatten()
    if is_map:
        keys, values = inside.flatten()
        texts = _joined(json_column(keys), _mark(b":"), json_column(values))
    else:
        texts = json_column(inside)
    lengths: Any = pc.list_value_length(column).cast(pa.int64())
    sizes = np.zeros(len(column), np.int64)
    present = np.from_dlpack(column.is_valid().cast(pa.uint8())) == 1
    sizes[present] = np.from_dlpack(lengths.drop_null())
    offsets: Any = place_column(np.concatenate(([0], np.cumsum(sizes)))).cast(pa.int32())
    lists: Any = pa.ListArray.from_arrays(offsets, texts)
    inner = pc.binary_join(lists, _mark(b","))
    return _joined(_mark(b"{" if is_map else b"["), inner, _mark(b"}" if is_map else b"]"))


def json_key(name: str) -> bytes:
    """Return a name as JSON text."""
    return json.dumps(name, ensure_ascii=False).encode()


def _quoted(text: Column) -> Column:
    """Return text in quotes, escaped where it needs it."""
    if _any(pc.match_substring_regex(text, _TO_ESCAPE)):
        text = pc.replace_substring(text, "\\", "\\\\")
        text = pc.replace_substring(text, '"', '\\"')
        if _any(pc.match_substring_regex(text, _CONTROLS)):
            for control in range(32):
                text = pc.replace_substring(text, chr(control), f"\\u{control:04x}")
    return _joined(_mark(b'"'), _bytes(text), _mark(b'"'))


def _floats(text: Column) -> Column:
    """Return numbers with a point or an exponent; null where there is no number."""
    content = _bytes(text)
    whole = pc.match_substring_regex(text, _WHOLE)
    if _any(whole):
        content = pc.if_else(whole, _joined(content, _mark(b".0")), content)
    strange = pc.match_substring_regex(text, _NOT_A_NUMBER)
    return pc.if_else(strange, _mark(b"null"), content) if _any(strange) else content


def _any(mask: Column) -> bool:
    return bool(_truth(mask).any())


def _truth(mask: Column) -> npt.NDArray[np.bool_]:
    filled = mask.drop_null() if mask.null_count else mask
    return np.from_dlpack(filled.cast(pa.uint8())).view(np.bool_)


def _where_null(text: Column, content: bytes = b"null") -> Column:
    filled: Column = text.fill_null(_mark(content)) if text.null_count else text
    return filled


def _with_nulls(text: Column, column: Column) -> Column:
    """Return text with null where a column of nested values has none."""
    found: Column = pc.if_else(column.is_valid(), text, _mark(b"null")) if column.null_count else text
    return found


def _bytes(text: Column) -> Column:
    found: Column = text.cast(pa.binary())
    return found


def _mark(content: bytes) -> Any:  # noqa: ANN401 - pyarrow's own functions take no scalar of a known type
    return bytes_scalar(content)


def _joined(*parts: Any) -> Column:  # noqa: ANN401 - columns and scalars
    found: Column = pc.binary_join_element_wise(*parts, bytes_scalar(b""))
    return found


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a type has numbers, truths or times that are text in one way."""
    return (
        pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )
