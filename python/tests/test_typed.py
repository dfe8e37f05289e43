"""What type checkers know of a user's program: checked by mypy and pyright, and run as a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import everlevel

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:
        return value


def test_a_users_program() -> None:
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    client = everlevel.Client(params)
    server = client.server()
    assert_type(server, everlevel.Server)
    assert_type(params.slots, int)
    assert_type(params.security_bits, float)
    assert_type(client.key_id, str)
    assert_type(server.key_id, str | None)

    ages = assert_type(
        client.encrypt(np.array([17, 20, 70], dtype=np.uint8)), everlevel.EncryptedIntegers
    )
    ages = assert_type(server.load(ages), everlevel.EncryptedIntegers)
    grown = assert_type((ages >= 18) & (ages < 65), everlevel.EncryptedIntegers)
    count = assert_type(grown.sum(), everlevel.EncryptedTotal)
    assert assert_type(client.decrypt(count), int) == 1

    x = assert_type(client.encrypt_modular(np.arange(4)), everlevel.EncryptedArray)
    y = assert_type(3 * server.load(x) * (1 - server.load(x)), everlevel.EncryptedArray)
    assert_type(y == 0, everlevel.EncryptedArray)
    assert client.decrypt(y, signed=True).tolist() == [0, 0, -6, -18]
    assert_type(y.capacity_bits, float)
    results = assert_type(server.run("y = x^2", x=x), dict[str, everlevel.EncryptedArray])
    steps = assert_type(server.explain("y = x^2", x=x).steps, list[dict[str, Any]])
    assert list(results) == ["y"] and len(steps) == 2

    data = assert_type(ages.to_bytes(), bytes)
    assert_type(
        everlevel.integers_from_bytes(data, params=params),
        dict[str, everlevel.EncryptedIntegers | everlevel.EncryptedTotal],
    )
    schema = everlevel.tables.Schema.infer({"age": ["17", "70"]})
    assert_type(schema, everlevel.tables.Schema)
    try:
        everlevel.Params("insecure_bgv-65537-n11")
    except everlevel.InsecureError as error:
        assert_type(error.code, str)
        assert error.code == "scheme.insecure"
    else:
        raise AssertionError("an insecure set was taken")
