"""The judge's side of `student/remote_answers.py`: runs our answers on what a process sends.

The arguments are untrusted: each call has an end in time, which is the student's, and takes
no more memory than `ROOM`.
"""

from __future__ import annotations

import contextlib
import math
import resource
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from coursekit.check.determinism import same_chance
from coursekit.submission.resource_limits import MB, Limits
from coursetools.grading.student import wire
from coursetools.grading.student.remote_answers import tensors_in
from coursetools.questions.question import Question
from coursetools.questions.time_limit import Overtime, alarm

LONGEST = 64 << 10  # bytes of a packet and its answer that are kept
MOST = 1000  # of them
PAGE = resource.getpagesize()
ROOM = 512 * MB  # of memory, for one call
LENT = "most of it in calls of our reference answers"


class ReferenceAnswers:
    """Our answers to some questions, to be asked from elsewhere.

    The same packet has the same answer; `known` keeps them, for all who ask. What went wrong is not
    kept: it may be the want of memory or time of one moment. `graded` names answers of the student
    that are right, and are found as they are graded, wherever they are in the notebook.
    """

    def __init__(
        self,
        questions: Sequence[Question],
        limits: Limits,
        known: OrderedDict[bytes, wire.Packet] | None = None,
        graded: Sequence[str] = (),
    ) -> None:
        self.graded = list(graded)
        self._answers = {question.name: question.reference for question in questions}
        self._limits = limits
        self._known = OrderedDict() if known is None else known

    @property
    def kinds(self) -> dict[str, str]:
        """What each is: "function" or "class"."""
        return {
            name: "class" if isinstance(answer, type) else "function"
            for name, answer in self._answers.items()
        }

    def __call__(self, packet: wire.Packet, seconds: float = math.inf) -> wire.Packet:
        """Answer one packet within `seconds`; whatever goes wrong is the answer, too."""
        name = packet.digest()
        if name in self._known:
            return self._known[name]
        seconds = min(seconds, self._limits.cell_seconds)
        try:
            with alarm(seconds), bounded(min(ROOM, self._limits.memory)), same_chance():
                answer = self._answer(packet)
            if len(answer.body) > self._limits.answer_bytes:
                raise MemoryError(f"{len(answer.body):,} bytes are too many to be sent")
        except (Exception, Overtime) as error:
            if isinstance(error, Overtime):
                error.args = (f"it took too long, {LENT}",)
            reason = " ".join(str(error).split())[:200]
            return wire.seal({"error": f"ours raises {type(error).__name__}: {reason}"}, [])
        if len(packet.body) + len(answer.body) <= LONGEST:
            self._known[name] = answer
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        return answer

    def _answer(self, packet: wire.Packet) -> wire.Packet:
        message, buffers = wire.unseal(packet)
        decoder = wire.Decoder(buffers, _refuse, grad=True)
        values = decoder.decode(message["values"])
        leaves = [
            tensor
            for tensor in decoder.arrays.values()
            if isinstance(tensor, Tensor) and tensor.requires_grad
        ]
        with torch.enable_grad():
            value = self._value(message, values)
            if "grads" in message:
                value = _gradients(value, leaves, decoder.decode(message["grads"]))
        encoder = wire.Encoder(_refuse)
        return wire.seal({"value": encoder.encode(value)}, encoder.buffers)

    def _value(self, message: dict[str, Any], values: Any) -> Any:
        answer = self._answers[message["name"]]
        if message["do"] == "call":
            arguments, named = values
            return answer(*arguments, **named)
        if message["do"] == "make":
            module = answer(*values[0], **values[1])
            return {**dict(module.named_parameters()), **dict(module.named_buffers())}
        (made, named_made), tensors, training, arguments, named = values
        module = answer(*made, **named_made).train(training)
        return torch.func.functional_call(module, tensors, tuple(arguments), named)


def _gradients(value: Any, leaves: list[Tensor], grads: list[Tensor]) -> list[Tensor | None]:
    outputs = [tensor for tensor in tensors_in(value) if tensor.requires_grad]
    return list(torch.autograd.grad(outputs, leaves, grads, allow_unused=True))


@contextlib.contextmanager
def bounded(memory: int) -> Iterator[None]:
    """Let this process take so much more memory, where the system says what it has."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as statm:
            size = int(statm.read().split()[0]) * PAGE
    except OSError:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    bound = size + memory
    if before[0] != resource.RLIM_INFINITY:
        bound = min(bound, before[0])
    resource.setrlimit(resource.RLIMIT_AS, (bound, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _refuse(value: Any) -> Any:
    raise TypeError(f"only plain values cross, found {value!r:.100}")
