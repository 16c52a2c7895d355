"""The wire between judge and worker: jobs and outcomes, decoded by type, so that nothing odd gets through."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Union

import msgspec

from grader.answers.frames import Limits
from grader.crash import Image, Recording
from grader.crash.operations import Escape, Observation, Operation, Where
from grader.levels.trial import Failure, Outcome, Past, Trial


class Job(msgspec.Struct, frozen=True):
    """One run: the learner's cells as (id, source), and the trial."""

    cells: list[tuple[str, str]]
    trial: Trial
    limits: Limits = Limits()


# A recording's operations are a union of dataclasses, which msgspec decodes only as tagged structs: each gets a
# mirror here, made from its own annotations, so that a new field or operation needs no second entry.

_KINDS: tuple[type[Any], ...] = typing.get_args(Operation)
_PLACE = tuple[str, int, str]


def _mirror(kind: type[Any]) -> type[msgspec.Struct]:
    hints = typing.get_type_hints(kind)
    fields = [
        (field.name, (_PLACE | None) if hints[field.name] == (Where | None) else hints[field.name])
        for field in dataclasses.fields(kind)
    ]
    return msgspec.defstruct(kind.__name__, fields, tag=kind.__name__, array_like=True, frozen=True)


_MIRRORS = {kind: _mirror(kind) for kind in _KINDS}
_ORIGINALS = {mirror: kind for kind, mirror in _MIRRORS.items()}
_FIELDS = {kind: tuple(field.name for field in dataclasses.fields(kind)) for kind in (*_KINDS, Escape)}
_OPERATION: Any = Union[tuple(_MIRRORS.values())]  # noqa: UP007
_ESCAPE = _mirror(Escape)

# A log's initial image is mostly one of the trial's, which the judge has: then only its number travels.
_Log = msgspec.defstruct(
    "Log",
    [
        ("initial", Image | int),
        ("operations", list[_OPERATION]),
        ("escapes", list[_ESCAPE]),  # type: ignore[valid-type]
        ("root", str),
    ],
    frozen=True,
)
_Result = msgspec.defstruct(
    "Result",
    [
        ("recording", _Log | None),
        ("data", Any),
        ("failure", Failure | None),
        ("cells", list[Failure]),
        ("observations", list[tuple[tuple[str, str], Any]]),
        ("earlier", list[tuple[_Log, list[tuple[tuple[str, str], Any]]]]),  # type: ignore[valid-type]
    ],
    frozen=True,
)
_decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(_Result)
_encoder = msgspec.msgpack.Encoder()
_jobs = msgspec.msgpack.Decoder(Job)


def _to_mirror(value: Any, mirror: type[msgspec.Struct], names: tuple[str, ...]) -> msgspec.Struct:
    return mirror(
        *[
            (place.file, place.line, place.function) if isinstance(place := getattr(value, name), Where) else place
            for name in names
        ]
    )


def _from_mirror(value: Any, kind: type[Any], names: tuple[str, ...]) -> Any:
    return kind(
        **{
            name: Where(*field) if name == "where" and (field := getattr(value, name)) else getattr(value, name)
            for name in names
        }
    )


def encode(job: Job) -> bytes:
    """Return a job as bytes."""
    return _encoder.encode(job)


def encode_outcome(outcome: Outcome, images: Sequence[Image] = ()) -> bytes:
    """Return what a child has to say as bytes; ``images`` are its trial's."""
    numbers = {id(image): number for number, image in enumerate(images)}
    return _encoder.encode(
        _Result(
            outcome.recording and _to_log(outcome.recording, numbers),
            outcome.data,
            outcome.failure,
            list(outcome.cells),
            list(outcome.observations),
            [(_to_log(past.recording, numbers), list(past.observations)) for past in outcome.earlier],
        )
    )


def _to_log(log: Recording, numbers: Mapping[int, int]) -> Any:
    return _Log(
        numbers.get(id(log.initial), log.initial),
        [_to_mirror(op, _MIRRORS[type(op)], _FIELDS[type(op)]) for op in log.operations],
        [_to_mirror(escape, _ESCAPE, _FIELDS[Escape]) for escape in log.escapes],
        log.root,
    )


def _from_log(log: Any, images: Sequence[Image]) -> Recording:
    if isinstance(log.initial, int) and not 0 <= log.initial < len(images):
        raise ValueError("no such image")
    return Recording(
        initial=images[log.initial] if isinstance(log.initial, int) else log.initial,
        operations=tuple(
            _from_mirror(op, _ORIGINALS[type(op)], _FIELDS[_ORIGINALS[type(op)]]) for op in log.operations
        ),
        escapes=tuple(_from_mirror(escape, Escape, _FIELDS[Escape]) for escape in log.escapes),
        root=log.root,
    )


def decode_job(data: bytes) -> Job:
    """Return the job in ``data``."""
    return _jobs.decode(data)


def decode_outcome(data: bytes, output: str = "", images: Sequence[Image] = ()) -> Outcome:
    """Return what a child says of its run; ``images`` are its trial's.

    It comes out of a process in which the learner's code ran, so every type is checked.

    Raises:
        msgspec.MsgspecError, ValueError: it is not what a child sends.
    """
    result = _decoder.decode(data)
    recording = None if result.recording is None else _from_log(result.recording, images)
    earlier = tuple(Past(_from_log(log, images), _seen(seen)) for log, seen in result.earlier)
    failure, cells = result.failure, tuple(result.cells)
    return Outcome(recording, result.data, failure, cells, output, _seen(result.observations), earlier)


def _seen(observations: list[tuple[tuple[str, str], Any]]) -> tuple[Observation, ...]:
    return tuple((query, _hashable(answer)) for query, answer in observations)  # type: ignore[misc]


def _hashable(value: Any) -> Any:
    """Return an answer as it was before it travelled: its lists are tuples."""
    return tuple(_hashable(item) for item in value) if isinstance(value, list) else value
