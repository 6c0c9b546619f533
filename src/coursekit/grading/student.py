"""The student's process after it has been confined: runs the cells, then answers calls.

It holds no test and no expected value: whoever looks around in here finds their own code and the
arguments of the call that is being answered. What it answers is not believed but looked at.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import types
from importlib import import_module
from typing import Any

import torch

from coursekit.grading import wire
from coursekit.grading.cells import Notebook, describe, flush
from coursekit.grading.limits import Limits
from coursekit.grading.watch import Watch


def make_probe(source: str) -> Any:
    """Return `coursekit.exercises.probe` without its package, which has the references."""
    module = types.ModuleType("probe")
    sys.modules["probe"] = module  # until the imports in it are done
    exec(compile(source, "probe.py", "exec", dont_inherit=True), module.__dict__)
    del sys.modules["probe"]
    return module


class Student:
    """Answers the judge's requests, one after the other, until the judge has had enough."""

    def __init__(self, connection: socket.socket, limits: Limits, probe: Any) -> None:
        self._connection, self._probe, self._pid = connection, probe, os.getpid()
        self._objects: dict[int, Any] = {}
        self._case = -1
        self._watch: Watch | None = None
        self._notebook = Notebook(limits)

    def serve(self) -> None:
        """Answer until the connection is closed."""
        while True:
            request, buffers = self._receive()
            started = time.perf_counter()
            reply, arrays = self._answer(request, buffers)
            if os.getpid() != self._pid:
                os._exit(0)  # a copy of this process that a student's os.fork() has made
            flush()
            reply |= {
                "sequence": request["sequence"],
                "token": request["token"],
                "seconds": time.perf_counter() - started,
            }
            try:
                frame = wire.pack(reply, arrays)
            except (wire.Unsendable, ValueError, TypeError) as error:
                said = {"sequence": request["sequence"], "token": request["token"]}
                frame = wire.pack({**said, "error": describe(error)}, [])
            self._connection.sendall(frame)

    def _answer(
        self, request: dict[str, Any], buffers: list[memoryview]
    ) -> tuple[dict[str, Any], list[Any]]:
        try:
            if request["op"] == "cell":
                said = self._notebook.run(
                    request["number"], request["source"], request["definitions"]
                )
                figures = said.pop("figures")
                return {**said, "figures": len(figures)}, figures
            if request["op"] == "watch":
                self._watch = Watch(request["names"])
                return {}, []
            if request["op"] == "names":
                return {"names": self._names(request["names"])}, []
            return self._call(request, buffers)
        except BaseException as error:
            return {"error": describe(error)}, []

    def _names(self, wanted: list[str]) -> dict[str, str]:
        """Return, for each name that the notebook has defined, what kind of thing it is."""
        names = self._notebook.names
        return {name: type(names[name]).__name__[:100] for name in wanted if name in names}

    def _call(
        self, request: dict[str, Any], buffers: list[memoryview]
    ) -> tuple[dict[str, Any], list[Any]]:
        if request["case"] != self._case:
            self._case = request["case"]
            self._objects.clear()
            torch.default_generator.manual_seed(0)
        decoder = wire.Decoder(buffers, self._recall, grad=True)
        target = decoder.decode(request["of"])
        encoder = wire.Encoder(self._remember)
        reply: dict[str, Any] = {}
        if request["op"] == "get":
            return {"value": encoder.encode(getattr(target, request["name"]))}, encoder.buffers
        arguments = decoder.decode(request["arguments"])
        named = decoder.decode(request["named"])
        how = request["how"]
        function = target if how == "call" else getattr(self._probe, how)
        if how != "call":
            arguments = (target, *arguments)
        if request["forbidden"] and self._watch is not None:
            with self._watch.look(request["forbidden"]):
                value = function(*arguments, **named)
            reply["used"] = sorted(self._watch.used)
        else:
            value = function(*arguments, **named)
        reply["value"] = encoder.encode(value)
        changed = []
        for index, array in decoder.arrays.items():
            if wire.raw(array) != buffers[index]:
                changed.append([index, encoder.encode(array)])
        reply["changed"] = changed
        return reply, encoder.buffers

    def _remember(self, value: Any) -> dict[str, Any]:
        number = len(self._objects)
        self._objects[number] = value
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

    def _receive(self) -> tuple[dict[str, Any], list[memoryview]]:
        header, body = wire.lengths(self._read(wire.PREFIX.size))
        return wire.unpack(bytes(self._read(header)), memoryview(self._read(body)))

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while len(view):
            count = self._connection.recv_into(view)
            if not count:
                os._exit(0)  # the judge has closed: nothing that is said now would count
            view = view[count:]
        return data


def attach_streams() -> None:
    """Give Python's streams the pipes that are now this process's standard output and error."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = open(  # noqa: SIM115 - lives as long as the process
            number,
            "w",
            buffering=1,
            encoding="utf-8",
            errors="backslashreplace",
            closefd=False,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
