"""What notebooks show, and what the log is told."""

import logging
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import everlevel


class Table(HTMLParser):
    """The cells of a table, and whether its tags fit each other."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.open, self.caption = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, text

    def handle_starttag(self, tag, attributes):
        assert tag in {"table", "caption", "thead", "tbody", "tr", "th", "td"}, tag
        self.open.append(tag)
        if tag in ("th", "td"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "caption" in self.open:
            self.caption += data
        else:
            self.cells[-1] += data


def shown(x):
    return Table(x._repr_html_()).cells


def test_parameters_and_arrays(toy):
    cells = shown(toy.params)
    assert "128 integers modulo 257" in cells and "2 × 64" in cells
    x = toy.client.encrypt_modular(np.arange(300).reshape(3, 100) % 100, signed=True)
    cells = shown(x)
    assert {"(3, 100)", "257, signed", "3", "none: Server.load"} <= set(cells)
    assert f"{x.capacity_bits:.1f} bits" in cells[cells.index("capacity") + 1]
    assert shown(toy.server.load(x))[-1] == "loaded"


def test_typed_integers(fermat):
    x = fermat.server.load(fermat.client.encrypt([1, 2, 3], bounds=(-7, 40)))
    assert {"(3,)", "int8", "-7 to 40", "loaded"} <= set(shown(x))
    assert "uint8, wrapping" in shown((x + 7).wrapping(np.uint8))
    assert "-21 to 120" in shown(x.sum())


def test_explanations(toy):
    x = toy.client.encrypt_modular(np.arange(4))
    explanation = toy.server.explain("y = x^3 + x", x=x)
    cells = shown(explanation)
    assert cells[:3] == ["#", "of", "operation"] and cells.count("product") == 2
    assert len(cells) == 8 * (1 + len(explanation.steps))


def test_plans(fermat):
    @everlevel.program
    def grown(age: everlevel.uint8):
        return (age >= 18).sum()

    plan = grown.plan(4, params=fermat.params)
    cells = shown(plan)
    assert "ge" in cells and "0 to 1" in cells and "sum" in cells
    assert cells[cells.index("products") + 1] == str(plan.products)
    assert cells[cells.index("memory") + 1].endswith("iB")
    assert cells[cells.index("results") + 1].startswith(f"{plan.result_ciphertexts} ciphertexts")


def test_names_are_escaped(toy):
    spec = dict(toy.params.spec, name="insecure_<script>alert(1)</script>&")
    try:
        params = everlevel.Params(spec, insecure_research=True)
    except everlevel.ParameterError:
        # Such names are refused; the table does not rely on it.
        params = None
    from everlevel._html import facts, grid

    for text in (
        facts("<b>", [("<i>", "a & <img src=x>")]),
        grid("<b>", ["<i>"], [["a & <img src=x>"]]),
    ):
        table = Table(text)
        assert table.caption == "<b>" and table.cells == ["<i>", "a & <img src=x>"]
    if params is not None:
        assert "<script>" not in params._repr_html_()


def test_the_log_is_silent_by_default(fermat, capfd):
    assert not logging.getLogger("everlevel").isEnabledFor(logging.INFO)
    x = fermat.server.load(fermat.client.encrypt([1, 2], dtype=np.uint8))
    assert (fermat.client.decrypt(x + x) == [2, 4]).all()
    assert capfd.readouterr() == ("", "")


def test_keys_and_refreshes_are_told(caplog):
    params = everlevel.Params("insecure_bgv-65537-n11", insecure_research=True)
    with caplog.at_level(logging.INFO, logger="everlevel"):
        client = everlevel.Client(params)
        server = client.server()
        x = server.load(client.encrypt_modular(np.arange(99)))
        told = [record.getMessage() for record in caplog.records]
        assert len(told) == 2
        assert re.fullmatch(r"secret key of insecure_bgv-65537-n11: \d+\.\d{3} s", told[0])
        assert re.fullmatch(
            r"server keys of insecure_bgv-65537-n11, \d+ keys: \d+\.\d{3} s", told[1]
        )
        caplog.clear()
        y = x
        for _ in range(20):
            y = y * y
        assert (client.decrypt(y) == [pow(v, 1 << 20, 65537) for v in range(99)]).all()
        messages = [record.getMessage() for record in caplog.records]
        told = [
            re.fullmatch(r"mul: \d+\.\d{3} s, (\d+) automatic refreshes", text) for text in messages
        ]
        # At INFO only those that refreshed.
        assert told and all(told)
        assert sum(int(found[1]) for found in told) == server.bootstraps > 0
        caplog.clear()
        x.refresh()
        assert re.fullmatch(r"refresh: \d+\.\d{3} s", caplog.records[0].getMessage())


def test_every_operation_is_told_at_debug(fermat, caplog):
    x = fermat.server.load(fermat.client.encrypt([3, 200], dtype=np.uint8))
    with caplog.at_level(logging.DEBUG, logger="everlevel"):
        total = (x < 18).sum()
        whats = [record.getMessage().split(":")[0] for record in caplog.records]
        assert whats == ["lt", "sum"]
        assert {record.name for record in caplog.records} == {"everlevel"}
        # Errors pass through, and are not told as work.
        caplog.clear()
        with pytest.raises(everlevel.RangeError):
            everlevel.Table([1, 2])[x]
        assert not caplog.records
        assert pickle.loads(pickle.dumps(x)).shape == (2,)
    assert fermat.client.decrypt(total) == 1


def test_files_are_told(tmp_path, toy, caplog):
    with caplog.at_level(logging.INFO, logger="everlevel"):
        sizes = toy.client.save_keys(tmp_path / "keys")
        told = caplog.records[-1].getMessage()
    assert told.startswith(f"key files of {toy.params.name}, {sum(sizes.values())} bytes: ")
