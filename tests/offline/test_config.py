"""The configuration: what it means, and that every rule it breaks is named, all of them at once."""

from __future__ import annotations

import copy

import pytest

from hitcurve.errors import BadConfig, TraceError
from hitcurve.offline.config import read_config
from hitcurve.offline.instances import Instance
from tests.cli.running import hitcurve
from tests.offline.configs import config, group, hybrid, instance, written


def test_defaults(tmp_path):
    found = read_config(
        written(tmp_path, {**config(tmp_path, instances=[instance(block_size=512)]), "block_size": 256})
    )
    assert found.block_size == 256 and found.pipeline_worker_count == 1
    assert (found.override_instance_id, found.fanout_all_instances, found.warnings) == ("", False, ())
    assert found.instances == (Instance("i", 512, 16384),)
    bare = config(tmp_path, instances=[instance(block_size=512)])
    del bare["block_size"]
    assert read_config(written(tmp_path, bare)) == found


def test_everything(tmp_path):
    found = read_config(
        written(
            tmp_path,
            config(
                tmp_path,
                instance_groups=[
                    group("a", ttl_seconds=60, enable_prefix_hash=True, capacity_gb=[2, 0.5]),
                    group("g", enable_theoretical_max_cache=True, shared_group_quota=False),
                ],
                instances=[instance("x", 8, "a"), hybrid("y", 4, 12), instance("z", 4)],
                pipeline_worker_count=4,
                fanout_all_instances=True,
            ),
        )
    )
    assert found.instances == (
        Instance("x", 8, 16384, ttl_ns=60_000_000_000, prefix_hash=True),
        Instance("y", 4, 16384, linear_bytes=4096, step_blocks=3),
        Instance("z", 4, 16384),
    )
    assert found.instance_groups[0].capacity_gb == (0.5, 2)
    assert found.fanout_all_instances and found.pipeline_worker_count == 4


@pytest.mark.parametrize("workers", [0, -3])
def test_fewer_than_one_worker_is_one(tmp_path, workers):
    assert read_config(written(tmp_path, config(tmp_path, pipeline_worker_count=workers))).pipeline_worker_count == 1


def changed(base, path, value):
    """``base`` with another value at a path like ("instances", 0, "block_size"); ``...`` leaves it out."""
    base = copy.deepcopy(base)
    place = base
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return base


I0, G0 = ("instances", 0), ("instance_groups", 0)
SPECS, SPEC_GROUPS, STATE = (*I0, "location_spec_infos"), (*I0, "location_spec_groups"), (*I0, "optimizer_state_info")
FULL, LINEAR = "full_location_spec_group_name", "linear_location_spec_group_name"
TEXT, WHOLE, SOME = "a string that is not empty", "a whole number of at least 1", "an array of at least one of"
GB, MULTIPLE = (
    "a number above 0 and below 8.58993e+09",
    "a multiple of the trace's 4 (block_size, 256 if it is not there)",
)
RULES = [
    (("trace_file_path",), ..., TEXT, "nothing"),
    (("trace_file_path",), "", TEXT, '""'),
    (("trace_file_path",), 7, TEXT, "7"),
    (("output_result_path",), "/no/where", "a folder that exists", '"/no/where"'),
    (("block_size",), 0, WHOLE, "0"),
    (("block_size",), 4.0, WHOLE, "4.0"),
    (("block_size",), True, WHOLE, "true"),
    (("block_size",), None, WHOLE, "null"),
    (("pipeline_worker_count",), "4", "a whole number of at least -2147483648", '"4"'),
    (("fanout_all_instances",), 1, "true or false", "1"),
    (("override_instance_id",), "no", "one of the instances (i)", '"no"'),
    (("override_instance_id",), None, "a string", "null"),
    (("instance_groups",), [], f"{SOME} objects", "[]"),
    (("instance_groups",), ..., f"{SOME} objects", "nothing"),
    (("instances",), {}, f"{SOME} objects", "{}"),
    (("instances", 0), 3, "an object", "3"),
    ((*G0, "name"), "", TEXT, '""'),
    ((*G0, "capacity_gb"), [], f"{SOME} numbers", "[]"),
    ((*G0, "capacity_gb"), ..., f"{SOME} numbers", "nothing"),
    ((*G0, "capacity_gb", 0), 0, GB, "0"),
    ((*G0, "capacity_gb", 0), 2**63, GB, "9223372036854775808"),
    ((*G0, "capacity_gb", 0), float("nan"), GB, "NaN"),
    ((*G0, "capacity_gb", 0), float("inf"), GB, "Infinity"),
    ((*G0, "capacity_gb", 0), 10**400, GB, "1" + "0" * 56 + "..."),
    ((*G0, "eviction_policy"), "fifo", '"lru"', '"fifo"'),
    ((*G0, "shared_group_quota"), True, "false: each instance has a cache of its own", "true"),
    ((*G0, "ttl_seconds"), -1, "a whole number 0 .. 9223372036", "-1"),
    ((*G0, "enable_prefix_hash"), "yes", "true or false", '"yes"'),
    ((*I0, "instance_group_name"), "h", "one of the groups (g)", '"h"'),
    ((*I0, "instance_id"), "", TEXT, '""'),
    ((*I0, "block_size"), 6, MULTIPLE, "6"),
    ((*I0, "block_size"), ..., WHOLE, "nothing"),
    ((*I0, "linear_step"), 8, f"0, as no {LINEAR} is given", "8"),
    (SPECS, [], f"{SOME} objects", "[]"),
    ((*SPECS, 0, "size"), 0, WHOLE, "0"),
    ((*SPECS, 0, "size"), 2**31, "a whole number of at most 2147483647", "2147483648"),
    ((*SPECS, 1, "name"), "tp0", "a name that no other has", '"tp0"'),
    ((*SPEC_GROUPS, 0, "spec_names", 1), "tp0", "a name that is not there yet", '"tp0"'),
    ((*SPEC_GROUPS, 0, "spec_names", 0), "tp7", "one of location_spec_infos (tp0, tp1)", '"tp7"'),
    (STATE, ..., "an object", "nothing"),
    ((*STATE, FULL), "f", "one of location_spec_groups (full)", '"f"'),
    ((*STATE, LINEAR), "full", "another group than the full one", '"full"'),
]


def json_path(path):
    return "".join(f"[{step}]" if type(step) is int else f".{step}" for step in path).removeprefix(".")


@pytest.mark.parametrize(("path", "value", "wanted", "found"), RULES, ids=[json_path(rule[0]) for rule in RULES])
def test_a_rule_that_is_broken_is_named(tmp_path, path, value, wanted, found):
    (tmp_path / "out").mkdir()
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, changed(config(tmp_path), path, value)))
    line = f"{json_path(path)}: wanted {wanted}, found {found}"
    assert line in error.value.problems
    needed_elsewhere = path in (("instance_groups",), ("instances",), SPECS, (*SPECS, 1, "name"))
    assert needed_elsewhere or error.value.problems == (line,)


def test_a_group_of_no_specs(tmp_path):
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, changed(config(tmp_path), (*SPEC_GROUPS, 0, "spec_names"), [])))
    line = f'{json_path((*STATE, FULL))}: wanted a group of at least one spec, found "full"'
    assert error.value.problems == (line,)


def test_a_bad_size_is_told_once(tmp_path):
    one = instance(location_spec_infos=[{"name": "kv", "size": 0}])
    one["location_spec_groups"] = [{"name": "full", "spec_names": ["kv"]}]
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, config(tmp_path, instances=[one])))
    assert error.value.problems == (f"instances[0].location_spec_infos[0].size: wanted {WHOLE}, found 0",)


def test_names_that_must_differ(tmp_path):
    doubled = config(tmp_path, instance_groups=[group(), group()], instances=[instance(), instance()])
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, doubled))
    assert error.value.problems == (
        'instance_groups[1].name: wanted a name that no other has, found "g"',
        'instances[1].instance_id: wanted a name that no other has, found "i"',
    )


def test_states_every_so_many_whole_blocks(tmp_path):
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, config(tmp_path, instances=[hybrid(linear_step=6)])))
    assert error.value.problems == (
        "instances[0].linear_step: wanted a multiple of block_size (4), in tokens, found 6",
    )


def test_override_and_fanout_exclude_each_other(tmp_path):
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, config(tmp_path, override_instance_id="i", fanout_all_instances=True)))
    assert [problem.partition(":")[0] for problem in error.value.problems] == ["fanout_all_instances"]


def test_a_field_given_twice(tmp_path):
    text = '{"block_size": 4, "block_size": 16, "trace_file_path": "x"}'
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, text))
    assert "block_size: wanted once, found more than once" in error.value.problems


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ((*G0, "ttl_second"), 60, "instance_groups[0].ttl_second: unknown field; did you mean 'ttl_seconds'?"),
        (("blocksize",), 16, "blocksize: unknown field; did you mean 'block_size'?"),
        ((*I0, "enable_prefix_hash"), True, "instances[0].enable_prefix_hash: belongs to instance_groups[], not here"),
        (("ttl_seconds",), 5, "ttl_seconds: belongs to instance_groups[], not here"),
    ],
)
def test_unknown_fields_that_would_change_facts_are_mistakes(tmp_path, path, value, line):
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, changed(config(tmp_path), path, value)))
    assert error.value.problems == (line,)


def test_other_unknown_fields_are_warned_of(tmp_path):
    found = read_config(written(tmp_path, changed(config(tmp_path, tiers=[]), (*I0, "hosts"), 3)))
    assert [warning.partition(",")[0] for warning in found.warnings] == [
        "instances[0].hosts: unknown field",
        "tiers: unknown field",
    ]


def test_a_linear_group_without_a_step_is_warned_of(tmp_path):
    found = read_config(written(tmp_path, config(tmp_path, instances=[hybrid(linear_step=0)])))
    assert found.instances == (Instance("h", 4, 16384),)
    assert len(found.warnings) == 1 and "instances[0].linear_step: 0" in found.warnings[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"block_size": 4,\n nonsense}', "config.json:2: not JSON: Expecting property name"),
        ("[1]", "config.json: wanted a JSON object, found list"),
        ("", "config.json:1: not JSON"),
        ("[" * 100_000, "config.json: not JSON"),
    ],
    ids=["broken", "list", "empty", "deep"],
)
def test_what_is_no_configuration(tmp_path, text, says):
    with pytest.raises((TraceError, BadConfig)) as error:
        read_config(written(tmp_path, text))
    assert says in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TraceError, match="No such file"):
        read_config(tmp_path / "none.json")


def test_the_command_line_prints_one_line_for_each(tmp_path):
    bad = config(tmp_path, block_size=0, instances=[instance(block_size=-1)], instance_groups=[group(ttl_seconds=-1)])
    path = written(tmp_path, bad)
    done = hitcurve("facts", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"hitcurve: error: {path}: block_size: wanted a whole number of at least 1, found 0",
        f"hitcurve: error: {path}: instance_groups[0].ttl_seconds: wanted a whole number 0 .. 9223372036, found -1",
        f"hitcurve: error: {path}: instances[0].block_size: wanted a whole number of at least 1, found -1",
    ]
    assert list((tmp_path / "out").iterdir()) == []
