"""The public information in files, without any key."""

from __future__ import annotations

import os
from typing import Any

from . import _everlevel as _rust
from ._params import Params, params_of, params_with
from ._values import Buffer, Path, octets, path_text, read_file
from .errors import ParameterError


def inspect(source: Path | Buffer, *, params: Params | None = None) -> dict[str, Any]:
    """The statements of a file (``str`` or path) or of bytes of the wire format about themselves,
    as from ``everlevel inspect``: kind, parameter set, id of the secret key, metadata, number and
    size of records, and for ciphertexts also level, modulus, depth and the stated noise bound of
    each. Nothing of it is authenticated.

    Header and index are read, of ciphertexts all. ``params`` where the set has no name and there is
    no params.json beside the file.
    """
    path: str | None = None
    data: Buffer = b""
    if isinstance(source, (str, os.PathLike)):
        path = path_text(source)
        told = _rust.inspect_file(path)
    else:
        data = source
        told = _rust.inspect(octets(data))
    kind, identity, metadata, records, size, (version, owner, former) = told
    known: Params | None
    try:
        # Looking at a set is no use of it.
        if path is not None:
            known = params_of(path, identity, params, True)
        else:
            known = params or params_with(identity, True)
    except ParameterError:
        known = None
    found: dict[str, Any] = {
        "kind": kind,
        "params_id": identity,
        "params": None if known is None else known.name,
        "format_version": version,
        "key_id": owner,
        "changes_from": former,
        "records": records,
        "bytes": size,
        "metadata": metadata,
    }
    if kind == "a manifest of noise bounds":
        ids = _rust.Manifest.stated_owners(octets(data if path is None else read_file(path)))
        found["key_id"] = ids[0] if len(ids) == 1 else None
        found["key_ids"] = ids
    if kind == "ciphertexts" and known is not None:
        content = octets(data if path is None else read_file(path))
        xs, _ = _rust.ciphertexts_from_bytes(known._raw, content, "stated", None, True)
        found["ciphertexts"] = [
            {
                "level": x.level,
                "modulus_bits": x.modulus_bits,
                "form": x.form,
                "plain_modulus": x.params.plain_modulus(x.plain_exponent),
                "depth": x.depth,
                "noise_bound_bits": x.noise_bound_bits,
            }
            for x in xs
        ]
    return found
