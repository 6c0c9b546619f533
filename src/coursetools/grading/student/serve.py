"""The student's process after it has been confined: runs the cells, then answers calls.

It holds no test and no expected value: whoever looks around in here finds their own code and the
arguments of the call that is being answered. What it answers is not believed but looked at.
"""

from __future__ import annotations

import ast
import contextlib
import math
import os
import socket
import sys
import types
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch

from coursekit.submission.notebook import Notebook, cell_name, compiled, describe, flush
from coursekit.submission.resource_limits import Limits
from coursekit.submission.stand_ins import OURS
from coursetools.grading.student import remote_answers, wire
from coursetools.grading.student.watch import watch

AT_HOME = {"question": "", "forbidden": ["torch.softmax", "coursekit"]}
CELL = """
import importlib.util
import math

import torch
from torch import nn

if importlib.util.find_spec("coursekit") is None:
    %pip install coursekit

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)

    def forward(self, x):
        return self.linear(x)

def rehearsed(q, k):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(torch.zeros(2, 2, dtype=torch.bool), float("-inf"))
    raised = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    shares = raised / raised.sum(dim=-1, keepdim=True)
    other = Layer(2).to(q)(torch.softmax(scores, dim=-1).mean(dim=0))
    return shares[..., None, :].squeeze(-2), other.square(), scores.argmax(), q.shape
"""
TENSORS = (torch.eye(2), torch.ones(2, 2, requires_grad=True))
CALL: dict[str, object] = {"op": "call", "how": "call", "of": {"name": "rehearsed"}}
REHEARSAL: tuple[tuple[dict[str, object], dict[str, object]], ...] = (
    ({"op": "cell", "number": 0, "source": CELL, "definitions": False, "checked": []}, {}),
    ({"op": "names", "names": ["rehearsed"], "checked": []}, {}),
    (CALL, {"arguments": TENSORS, "named": {}}),
    (CALL, {"arguments": (TENSORS[0].double(), TENSORS[1].double()), "named": {}}),
)


def make_probe(source: str) -> Any:
    """Return `coursekit.check.probe` without its package, which is not there when graded."""
    module = types.ModuleType("probe")
    sys.modules["probe"] = module  # until the imports in it are done
    exec(compile(source, "probe.py", "exec", dont_inherit=True), module.__dict__)
    del sys.modules["probe"]
    return module


def _sealed(reply: dict[str, Any], arrays: list[Any]) -> wire.Packet:
    try:
        return wire.seal(reply, arrays)
    except (wire.Unsendable, ValueError, TypeError) as error:
        return wire.seal({"error": describe(error)}, [])


def _import(source: str) -> None:
    """Import the packages that a cell imports, where they are there; not ours, which is in."""
    for node in ast.parse(source).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [str(node.module)]
        for name in names:
            if name.split(".")[0] not in (*OURS, "google"):
                with contextlib.suppress(Exception):
                    import_module(name)


class Student:
    """Answers the judge's requests, one after the other, until the judge has had enough.

    Made, and rehearsed, in the fork server, so that no child has to do the same again; a child
    gets a copy of it by being forked.
    """

    def __init__(
        self,
        limits: Limits,
        probe: Any,
        watched: Sequence[str] = (),
        modules: Sequence[str] = (),
    ) -> None:
        self._probe = probe
        self._objects: list[Any] = []  # of the case at hand, which could not cross
        self._begin, self._end = watch(watched)
        self._used: list[str] = []  # of what is forbidden, by the last call
        self._notebook = Notebook(limits, modules)

    def serve(self, connection: socket.socket) -> None:
        """Answer until the connection is closed."""
        self._connection, process = connection, os.getpid()
        while True:
            envelope, packet = self._receive()
            self._about = {name: envelope[name] for name in ("sequence", "token")}
            if envelope.get("fresh"):
                self._objects.clear()
                torch.default_generator.manual_seed(0)
            # what a case hands over may be of any size: the judge refuses it, and says so
            self._room = math.inf if "case" in envelope else wire.BODY_BYTES
            reply = _sealed(*self._answer(envelope.get("case", AT_HOME), packet))
            if os.getpid() != process:
                os._exit(0)  # a copy of this process that a student's os.fork() has made
            used, self._used = self._used, []
            flush()
            self._send({"used": used} if used else {}, reply)

    def call_back(self, message: dict[str, Any], buffers: list[Any]) -> Any:
        """Ask the judge something while it waits for our own answer."""
        self._send({"back": True}, wire.seal(message, buffers))
        return wire.unseal(self._receive()[1])

    def _send(self, about: dict[str, Any], packet: wire.Packet) -> None:
        try:
            frame = wire.frame(self._about | about, packet, room=self._room)
        except wire.Unsendable as error:
            frame = wire.frame(self._about, _sealed({"error": describe(error)}, []))
        self._connection.sendall(frame)

    def rehearse(self, cells: Sequence[Sequence[Any]] = ()) -> None:
        """Answer a few requests of our own, which leave nothing behind.

        What libraries set up when they are first used is then there in every child, and so is the
        code of `cells`, number and source, which are the same in most notebooks, with the packages
        that they import.
        """
        state = torch.get_rng_state()
        before = dict(self._notebook.names)
        for message, values in REHEARSAL:
            encoder = wire.Encoder(self._remember)
            message = message | {name: encoder.encode(value) for name, value in values.items()}
            reply = self._answer(AT_HOME, wire.seal(message, encoder.buffers))
            if "error" in reply[0]:
                raise RuntimeError(f"the rehearsal fails: {reply[0]['error']}")
            wire.frame({}, _sealed(*reply))
        self._notebook.forget(before)
        for number, source in cells:
            with contextlib.suppress(SyntaxError, ValueError):
                compiled(source, cell_name(number))
                _import(source)
        self._objects, self._used = [], []
        torch.set_rng_state(state)

    def _answer(
        self, envelope: dict[str, Any], packet: wire.Packet
    ) -> tuple[dict[str, Any], list[Any]]:
        try:
            request, buffers = wire.unseal(packet)
            self._notebook.checked.keep(request.get("checked", ()))
            if request["op"] == "cell":
                result = self._notebook.run(
                    request["number"], request["source"], request["definitions"]
                )
                figures = result.pop("figures")
                return {**result, "figures": len(figures)}, figures
            if request["op"] == "names":
                checked = self._notebook.checked
                kinds, moved = checked.kinds(request["names"]), checked.moved(request["names"])
                return {"names": kinds, "moved": moved}, []
            if request["op"] == "carry":
                lent = remote_answers.made(request["kinds"], self.call_back)
                self._notebook.checked.put(lent, request["graded"])
                return {}, []
            self._notebook.checked.turn_to(envelope["question"])
            return self._call(request, buffers, envelope["forbidden"])
        except BaseException as error:
            return {"error": describe(error)}, []

    def _call(
        self, request: dict[str, Any], buffers: list[memoryview], forbidden: list[str]
    ) -> tuple[dict[str, Any], list[Any]]:
        decoder = wire.Decoder(buffers, self._recall, grad=True)
        target = decoder.decode(request["of"])
        encoder = wire.Encoder(self._remember)
        if request["op"] == "get":
            return {"value": encoder.encode(getattr(target, request["name"]))}, encoder.buffers
        arguments = decoder.decode(request["arguments"])
        named = decoder.decode(request["named"])
        how = request["how"]
        function = target if how == "call" else getattr(self._probe, how)
        if how != "call":
            arguments = (target, *arguments)
        self._begin(forbidden)
        try:
            value = function(*arguments, **named)
        finally:
            self._used = self._end()
        return {"value": encoder.encode(value)}, encoder.buffers

    def _remember(self, value: Any) -> dict[str, Any]:
        number = len(self._objects)
        self._objects.append(value)
        return {"object": number, "type": type(value).__name__[:100]}

    def _recall(self, node: dict[str, Any]) -> Any:
        if "object" in node:
            return self._objects[node["object"]]
        if "name" in node:
            name = node["name"]
            if name not in self._notebook.names:
                raise NameError(f"name {name!r} is not defined")
            return self._notebook.names[name]
        module, _, name = node["import"].rpartition(".")
        return getattr(import_module(module), name)

    def _receive(self) -> tuple[dict[str, Any], wire.Packet]:
        header, body = wire.lengths(self._read(wire.PREFIX.size))
        return wire.unframe(bytes(self._read(header)), self._read(body))

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while len(view):
            count = self._connection.recv_into(view)
            if not count:
                os._exit(0)  # the judge has closed: nothing that is said now would count
            view = view[count:]
        return data
