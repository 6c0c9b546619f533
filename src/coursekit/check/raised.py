"""What an error in a learner's answer means: a stub, a common slip with torch, and which line."""

from __future__ import annotations

import dis
import inspect
import linecache
import re
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any

from coursekit.check.shown import is_cell

LONGEST = 300  # characters of an error's message
WHOLE = "Long|Int|Short|Char|Byte|Bool"
SLIPS = {  # torch's message -> what to do about it
    r"`-` operator, .*bool tensor": "A boolean mask has no minus. Write ~mask for its opposite, "
    "not 1 - mask or -mask, and mask.float() where you want to compute with zeros and ones.",
    rf"not implemented for '({WHOLE})'": "The tensor has whole numbers or booleans, and this "
    "operation needs floating-point numbers. Convert it first with x.float(), or x.to(y.dtype) "
    "where y has the dtype that you want, and look where it came from: the scores, logits and "
    "inputs of a softmax or a loss are floating-point numbers, ids and labels are not.",
    r"floating point (or|and) complex": "The tensor has whole numbers, and "
    "this operation needs floating-point numbers: convert it first with x.float().",
    r"target dtype to be Long|scalar types?:? Long": "Ids and labels are whole numbers: this "
    "argument should be a LongTensor, x.long(). Are two arguments swapped?",
    r"masks?, but got mask with dtype|condition to be a boolean tensor": "A mask is boolean: "
    "compare (mask == 1), or convert it with mask.bool().",
    r"can't be cast to the desired output type": "An in-place operation keeps the dtype of its "
    "tensor: write x = x / y instead of x /= y.",
    r"must have the same dtype|to have the same dtype": "Two tensors of different dtypes meet. "
    "Convert one with .to(other.dtype); a tensor of whole numbers needs .float() first.",
}


def unwritten(error: BaseException | None, answers: Mapping[str, Any]) -> str:
    """Return which of the `answers` is a stub that raised this error; "" where none is.

    torch raises NotImplementedError as well, for dtypes that an operation does not take. A stub is
    a bare `raise` in the code of the answer itself.
    """
    if type(error) is not NotImplementedError or error.args or error.__traceback__ is None:
        return ""
    *_, last = _steps(error)
    code = last.tb_frame.f_code
    if dis.opname[code.co_code[last.tb_lasti]] != "RAISE_VARARGS":
        return ""
    return next(
        (name for name, one in answers.items() if any(code is own for own in codes(one))), ""
    )


def undefined(error: BaseException | None, names: Iterable[str]) -> str:
    """Return which of the `names` this error misses, as where a cell has not run; else ""."""
    missing = getattr(error, "name", "") if type(error) is NameError else ""
    return missing if missing in names else ""


def sentence(error: BaseException) -> str:
    """Say what was raised, in one line."""
    message = " ".join(str(error).split())
    message = message if len(message) <= LONGEST else f"{message[: LONGEST - 3]}..."
    name = type(error).__name__
    if "in-place operation" in message and "leaf" in message:
        return f"{name}: {message} It changes its input; make a new tensor instead."
    return f"raised {name}: {message}" if message else f"raised {name}"


def slip(message: str) -> str:
    """Return what to do about one of torch's messages; "" where it is not a common slip."""
    return next((advice for pattern, advice in SLIPS.items() if re.search(pattern, message)), "")


def where(error: BaseException, answer: Any) -> str:
    """Return the deepest line of the learner's own cells on the way to the error."""
    target = getattr(answer, "forward", answer) if inspect.isclass(answer) else answer
    code = getattr(inspect.unwrap(target), "__code__", None)
    own = code.co_filename if code else ""
    place = ""
    for step in _steps(error):
        file = step.tb_frame.f_code.co_filename
        if file == own or is_cell(file):
            line = linecache.getline(file, step.tb_lineno).strip()
            place = f"line {step.tb_lineno}: {line}" if line else f"line {step.tb_lineno}"
    return place


def functions(answer: Any) -> Iterator[FunctionType]:
    """Yield the functions that an answer is made of: itself, or its methods."""
    parts = vars(answer).values() if inspect.isclass(answer) else [answer]
    yield from (one for one in map(inspect.unwrap, parts) if isinstance(one, FunctionType))


def codes(answer: Any) -> Iterator[CodeType]:
    """Yield the code of an answer's functions, and of those defined in them."""
    waiting = [function.__code__ for function in functions(answer)]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]


def _steps(error: BaseException) -> Iterator[Any]:
    trace = error.__traceback__
    while trace is not None:
        yield trace
        trace = trace.tb_next
