"""What a policy file of your own imports; ``docs/add-a-policy.md`` walks through one.

    Policy                              what the file declares at its end
    helper, entry                       decorators: inlined hooks, and the one compiled function
    replay_requests, nothing            the request loop, and the hook that does nothing
    is_pinned, capacity_of,
    needed_blocks, request_stamp,
    REQUEST, NEVER                      questions to the frame; frame.numbers[REQUEST] is the request's number
    Queues, new_queues, push_front ...  linked queues over block ids
    new_walk, begin_walk,
    oldest_unpinned                     the oldest block of a queue that may go
    seeded, below, next_u64             random draws that are the same on every machine

Everything else in ``hitcurve.kernels`` (heaps, sets to sample from, sketches) may be imported from there.
"""

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import NEVER, REQUEST, Frame, capacity_of, is_pinned, needed_blocks, request_stamp
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    front,
    is_sentinel,
    listed,
    move_to_front,
    new_queues,
    newer,
    older,
    push_back,
    push_front,
    remove,
)
from hitcurve.kernels.rng import below, next_u64, seeded
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

__all__ = [
    "NEVER",
    "REQUEST",
    "Frame",
    "Policy",
    "Queues",
    "back",
    "begin_walk",
    "below",
    "capacity_of",
    "entry",
    "front",
    "helper",
    "is_pinned",
    "is_sentinel",
    "listed",
    "move_to_front",
    "needed_blocks",
    "new_queues",
    "new_walk",
    "newer",
    "next_u64",
    "nothing",
    "older",
    "oldest_unpinned",
    "push_back",
    "push_front",
    "remove",
    "replay_requests",
    "request_stamp",
    "seeded",
]
