"""What files say, without any key."""

from __future__ import annotations

import os
from typing import Any

from . import _everlevel as _rust
from ._params import Params, params_of, params_with
from ._values import Buffer, Path, octets, path_text, read_file
from .errors import ParameterError


def inspect(source: Path | Buffer, *, params: Params | None = None) -> dict[str, Any]:
    """What a file (``str`` or path) or bytes of the wire format say of themselves, as ``everlevel
    inspect``: kind, parameter set, id of the secret key, metadata, number and size of records;
    of ciphertexts also level, modulus, depth and the noise bound that each states. Nothing of it is
    authenticated.

    Header and index are read, of ciphertexts all. ``params`` where the set has no name and there is
    no params.json beside the file.
    """
    named = isinstance(source, (str, os.PathLike))
    kind, identity, metadata, records, size, (version, owner, former) = (
        _rust.inspect_file(path_text(source)) if named else _rust.inspect(octets(source))
    )  # type: ignore[arg-type]
    try:
        # Looking at a set is no use of it.
        known = (
            params_of(path_text(source), identity, params, True)
            if named
            else params or params_with(identity, True)
        )  # type: ignore[arg-type]
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
        ids = _rust.Manifest.stated_owners(octets(read_file(source) if named else source))  # type: ignore[arg-type]
        found["key_id"] = ids[0] if len(ids) == 1 else None
        found["key_ids"] = ids
    if kind == "ciphertexts" and known is not None:
        data = octets(read_file(source) if named else source)  # type: ignore[arg-type]
        xs, _ = _rust.ciphertexts_from_bytes(known._raw, data, "stated", None, True)
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
