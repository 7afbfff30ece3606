"""From Python: a Trace or a path in, the two files out."""

from __future__ import annotations

import numpy as np
import pytest

import hitcurve as hc
from hitcurve.errors import BadConfig, BadParameter, OutputError
from hitcurve.formats import write_trace
from hitcurve.offline.run import CSV, PARQUET
from tests.offline.configs import config, written

KEYS = [[1, 2, 3], [1, 2], [1, 2, 3]]


@pytest.fixture
def trace():
    return hc.Trace.of_requests(KEYS, times=[1, 2, 3], block_size=4, input_tokens=np.array([12, 8, 12]))


def lines(folder):
    return (folder / CSV).read_text().splitlines()[1:]


def test_a_trace_and_a_path_give_the_same(tmp_path, trace):
    write_trace(trace, tmp_path / "trace.jsonl", format="tair")
    found = []
    for source in (trace, tmp_path / "trace.jsonl"):
        result = hc.write_facts(source, tmp_path, hc.Instance("", 4, 1024), block_size=4)
        assert result.requests == {"instance": 3} and result.folder == str(tmp_path)
        found.append([line.partition(",instance,")[2] for line in lines(tmp_path)])
    assert found[0] == found[1] and found[0][2].endswith(',12,4,1024,"[[1,3]]"')
    table = hc.query_facts(tmp_path, capacities_gb=[-1])
    assert table["total_hit_blocks"][-1] == 5


def test_several_instances(tmp_path, trace):
    two = [hc.Instance("small", 4, 1024), hc.Instance("large", 8, 2048, ttl_ns=10**9)]
    assert hc.write_facts(trace, tmp_path, two, fanout=True).requests == {"small": 3, "large": 3}
    assert [line.rpartition(',"')[2] for line in lines(tmp_path)[2:]] == ['[[1,2]]"', '[]"', '[[1,3]]"', '[]"']
    assert hc.write_facts(trace, tmp_path, two, override="large", workers=1).requests == {"large": 3}


@pytest.mark.parametrize(
    ("instances", "options", "says"),
    [
        ([], {}, "instances: wanted at least one, found none"),
        ([hc.Instance("a", 6, 1)], {}, "block size of instance 'a': wanted a multiple of the trace's 4, found 6"),
        (hc.Instance("a", 6, 1), {}, "wanted a multiple of the trace's 4, found 6"),
        ([hc.Instance("a", 4, 1)] * 2, {}, "wanted names that differ, found a, a"),
        ([hc.Instance("a", 4, 1)], {"override": "b"}, "override: wanted one of the instances (a), found 'b'"),
        ([hc.Instance("a", 4, 1)], {"override": "a", "fanout": True}, "give one of them"),
        (hc.Instance("a", 4, 1), {"fanout": True}, "fanout goes with several instances"),
    ],
)
def test_instances_that_make_no_run(tmp_path, trace, instances, options, says):
    with pytest.raises(BadParameter) as error:
        hc.write_facts(trace, tmp_path, instances, **options)
    assert says in str(error.value) and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "values",
    [
        {"block_size": 0}, {"block_bytes": 0}, {"block_bytes": 2**63}, {"ttl_ns": 0}, {"ttl_ns": 2**63},
        {"linear_bytes": 5}, {"step_blocks": 5}, {"linear_bytes": -1, "step_blocks": 1},
    ],
    ids=str,
)  # fmt: skip
def test_instances_that_cannot_be(values):
    with pytest.raises(BadParameter, match=next(iter(values))):
        hc.Instance(**{"instance_id": "i", "block_size": 1, "block_bytes": 1, **values})


def test_a_folder_is_made_and_taken_back(tmp_path, trace):
    with pytest.raises(BadParameter):
        hc.write_facts(trace, tmp_path / "made", hc.Instance("", 6, 1))
    assert not (tmp_path / "made").exists()
    hc.write_facts(trace, tmp_path / "made", hc.Instance("", 4, 1))
    assert len(list((tmp_path / "made").iterdir())) == 2
    with pytest.raises(OutputError, match="No such file or directory"):
        hc.write_facts(trace, tmp_path / "none" / "deeper", hc.Instance("", 4, 1))
    with pytest.raises(OutputError, match="File exists"):
        hc.write_facts(trace, __file__, hc.Instance("", 4, 1))


def test_a_configuration_by_its_path(tmp_path, trace):
    write_trace(trace, tmp_path / "trace.jsonl", format="tair", instance_id="i")
    assert hc.run_config(written(tmp_path, config(tmp_path))).requests == {"i": 3}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [CSV, PARQUET]
    with pytest.raises(BadConfig):
        hc.run_config(written(tmp_path, config(tmp_path, block_size=0)))
