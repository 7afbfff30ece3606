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
        Instance("y", 4, 16384, state_bytes=4096, state_every=3),
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
RULES = [
    (("trace_file_path",), ..., "trace_file_path: wanted a string that is not empty, found nothing"),
    (("trace_file_path",), "", 'trace_file_path: wanted a string that is not empty, found ""'),
    (("trace_file_path",), 7, "trace_file_path: wanted a string that is not empty, found 7"),
    (("output_result_path",), "/no/where", 'output_result_path: wanted a folder that exists, found "/no/where"'),
    (("block_size",), 0, "block_size: wanted a whole number of at least 1, found 0"),
    (("block_size",), 4.0, "block_size: wanted a whole number of at least 1, found 4.0"),
    (("block_size",), True, "block_size: wanted a whole number of at least 1, found true"),
    (("block_size",), None, "block_size: wanted a whole number of at least 1, found null"),
    (("pipeline_worker_count",), "4", 'pipeline_worker_count: wanted a whole number of at least -2147483648, found "4"'),
    (("fanout_all_instances",), 1, "fanout_all_instances: wanted true or false, found 1"),
    (("override_instance_id",), "no", 'override_instance_id: wanted one of the instances (i), found "no"'),
    (("override_instance_id",), None, "override_instance_id: wanted a string, found null"),
    (("instance_groups",), [], "instance_groups: wanted an array of at least one of objects, found []"),
    (("instance_groups",), ..., "instance_groups: wanted an array of at least one of objects, found nothing"),
    (("instances",), {}, "instances: wanted an array of at least one of objects, found {}"),
    (("instances",), [3], "instances[0]: wanted an object, found 3"),
    ((*G0, "name"), "", 'instance_groups[0].name: wanted a string that is not empty, found ""'),
    ((*G0, "capacity_gb"), [], "instance_groups[0].capacity_gb: wanted an array of at least one of numbers, found []"),
    ((*G0, "capacity_gb"), ..., "instance_groups[0].capacity_gb: wanted an array of at least one of numbers, found nothing"),
    ((*G0, "capacity_gb"), [1, 0], "instance_groups[0].capacity_gb[1]: wanted a number above 0 and below 8.58993e+09, found 0"),
    ((*G0, "capacity_gb"), [2**63], "instance_groups[0].capacity_gb[0]: wanted a number above 0 and below 8.58993e+09, "
                                   "found 9223372036854775808"),
    ((*G0, "capacity_gb"), [float("nan")], "instance_groups[0].capacity_gb[0]: wanted a number above 0 and below "
                                           "8.58993e+09, found NaN"),
    ((*G0, "eviction_policy"), "fifo", 'instance_groups[0].eviction_policy: wanted "lru", found "fifo"'),
    ((*G0, "shared_group_quota"), True, "instance_groups[0].shared_group_quota: wanted false: each instance has a cache "
                                        "of its own, found true"),
    ((*G0, "ttl_seconds"), -1, "instance_groups[0].ttl_seconds: wanted a whole number 0 .. 9223372036, found -1"),
    ((*G0, "enable_prefix_hash"), "yes", 'instance_groups[0].enable_prefix_hash: wanted true or false, found "yes"'),
    ((*I0, "instance_group_name"), "h", 'instances[0].instance_group_name: wanted one of the groups (g), found "h"'),
    ((*I0, "instance_id"), "", 'instances[0].instance_id: wanted a string that is not empty, found ""'),
    ((*I0, "block_size"), 6, "instances[0].block_size: wanted a multiple of the trace's 4 (block_size, 256 if it is not "
                             "there), found 6"),
    ((*I0, "block_size"), ..., "instances[0].block_size: wanted a whole number of at least 1, found nothing"),
    ((*I0, "linear_step"), 8, "instances[0].linear_step: wanted 0, as no linear_location_spec_group_name is given, found 8"),
    (SPECS, [], "instances[0].location_spec_infos: wanted an array of at least one of objects, found []"),
    ((*SPECS, 0, "size"), 0, "instances[0].location_spec_infos[0].size: wanted a whole number of at least 1, found 0"),
    ((*SPECS, 1, "name"), "tp0", 'instances[0].location_spec_infos[1].name: wanted a name that no other has, found "tp0"'),
    ((*SPEC_GROUPS, 0, "spec_names"), ["tp0", "tp0"], "instances[0].location_spec_groups[0].spec_names[1]: wanted a name "
                                                      'that is not there yet, found "tp0"'),
    ((*SPEC_GROUPS, 0, "spec_names"), ["tp7"], "instances[0].location_spec_groups[0].spec_names[0]: wanted one of "
                                               'location_spec_infos (tp0, tp1), found "tp7"'),
    ((*SPEC_GROUPS, 0, "spec_names"), [], "instances[0].optimizer_state_info.full_location_spec_group_name: wanted a "
                                          'group of at least one spec, found "full"'),
    (STATE, ..., "instances[0].optimizer_state_info: wanted an object, found nothing"),
    ((*STATE, "full_location_spec_group_name"), "f", "instances[0].optimizer_state_info.full_location_spec_group_name: "
                                                     'wanted one of location_spec_groups (full), found "f"'),
    ((*STATE, "linear_location_spec_group_name"), "full", "instances[0].optimizer_state_info."
     'linear_location_spec_group_name: wanted another group than the full one, found "full"'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "line"), RULES, ids=lambda value: str(value)[:40])
def test_a_rule_that_is_broken_is_named(tmp_path, path, value, line):
    (tmp_path / "out").mkdir()
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, changed(config(tmp_path), path, value)))
    assert line in error.value.problems
    named_elsewhere = value == "tp0" or path[-1] in ("instance_groups", "instances", "location_spec_infos")
    assert named_elsewhere or error.value.problems == (line,)


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
