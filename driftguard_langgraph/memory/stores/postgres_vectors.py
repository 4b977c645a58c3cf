"""Vectors on the wire, and the statements that search them.

A vector is sent as `real[]`, which needs no extension, in the binary format of PostgreSQL's
arrays: as text it would take longer to write and to read than the search itself. Where the
extension is there the column is an untyped `vector`, so that a change of the embedding model
never has to rewrite the table, and the index is over an expression that names the dimension.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from driftguard_langgraph.memory.stores.records import Vector

if TYPE_CHECKING:
    from psycopg.abc import Dumper

_HEADER = struct.Struct("!iiIii")
"""Dimensions of the array, whether it has nulls, type of the items; length, lower bound."""
_ITEM = np.dtype([("size", ">i4"), ("value", ">f4")])
_REAL, _REAL_ARRAY = 700, 1021

MOST_INDEXED = 4000
"""Longest vectors that pgvector can index, as half-precision numbers."""
_MOST_AS_VECTOR = 2000
"""Longest vectors that it can index in full precision."""


def encode_array(vector: Vector) -> bytes:
    """Write a vector as PostgreSQL's binary `real[]`."""
    items = np.empty(vector.size, _ITEM)
    items["size"] = 4
    items["value"] = vector
    return _HEADER.pack(1, 0, _REAL, vector.size, 1) + items.tobytes()


def decode_arrays(arrays: Sequence[bytes]) -> Vector:
    """Read binary `real[]`s of one length as a matrix, a row each."""
    items = np.frombuffer(b"".join(array[_HEADER.size :] for array in arrays), _ITEM)
    return items["value"].astype(np.float32).reshape(len(arrays), -1)


@cache
def vector_dumper() -> type[Dumper]:
    """Return the class by which `psycopg` sends a vector."""
    from psycopg.adapt import Dumper as Base
    from psycopg.pq import Format

    class VectorDumper(Base):
        format = Format.BINARY
        oid = _REAL_ARRAY

        def dump(self, obj: Any) -> bytes:
            return encode_array(obj)

    return VectorDumper


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """How the vectors of a memory are kept.

    Attributes:
        schema: Schema of the extension, quoted; None where the vectors are plain arrays.
    """

    schema: str | None

    def exact(self) -> str:
        """Return the query for the nearest of a shelf that looks at each of its vectors."""
        # The untyped operator: no index is over this expression.
        return self._nearest("embedding", "vector", "vector", where="", ties=", id")

    def indexed(self, dimension: int) -> str:
        """Return the query for the nearest of a shelf by the index of that dimension."""
        kind = _indexed_type(dimension)
        return self._nearest(
            f"embedding::{self.schema}.{kind}({dimension})",
            "vector",
            f"{kind}({dimension})",
            where=f"AND {self._has(dimension)}",
            ties="",
        )

    def _nearest(self, stored: str, given: str, asked: str, *, where: str, ties: str) -> str:
        operator = f"OPERATOR({self.schema}.<#>)"
        # A sub-select is evaluated once, a cast of a parameter maybe for each row.
        query = f"(SELECT %(vector)s::real[]::{self.schema}."
        return f"""
            SELECT w.id, w.node, w.text, w.tool_name, w.tool_args, n.similarity
            FROM (SELECT id, -(embedding {operator} {query}{given})) AS similarity
                  FROM driftguard_vectors
                  WHERE shelf = %(shelf)s {where}
                  ORDER BY {stored} {operator} {query}{asked}){ties}
                  LIMIT %(reach)s) n
            JOIN driftguard_wordings w ON w.id = n.id
            ORDER BY n.similarity DESC, n.id LIMIT %(limit)s
        """

    def create_index(self, dimension: int) -> str | None:
        """Return the statement that indexes vectors of a dimension, None if it cannot be."""
        if self.schema is None or dimension > MOST_INDEXED:
            return None
        kind = _indexed_type(dimension)
        return f"""
            CREATE INDEX IF NOT EXISTS {_index_name(dimension)} ON driftguard_vectors
            USING hnsw ((embedding::{self.schema}.{kind}({dimension})) {self.schema}.{kind}_ip_ops)
            WHERE {self._has(dimension)}
        """

    def _has(self, dimension: int) -> str:
        return f"{self.schema}.vector_dims(embedding) = {dimension}"


def drop_index(dimension: int) -> str:
    """Return the statement that drops the index of a dimension."""
    return f"DROP INDEX IF EXISTS {_index_name(dimension)}"


def _index_name(dimension: int) -> str:
    return f"driftguard_vectors_hnsw_{int(dimension)}"


def _indexed_type(dimension: int) -> str:
    return "vector" if dimension <= _MOST_AS_VECTOR else "halfvec"
