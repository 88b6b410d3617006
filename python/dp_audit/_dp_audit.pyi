"""The compiled part of the package. Users need `dp_audit` only."""

from os import PathLike
from typing import Any, Callable, Sequence, final

import numpy
from numpy.typing import NDArray

from ._function import Function

__version__: str

_Progress = Callable[[int, int, float, int], object] | None
_Outputs = tuple[NDArray[numpy.float64], list[str]]
_Found = tuple["Report", BaseException | None]

@final
class Report:
    """What a run found."""

    def json(self) -> str: ...
    def html(self) -> str: ...
    def cards(self) -> str: ...
    def split(self) -> list[Report]: ...
    @staticmethod
    def joined(reports: Sequence[Report], settings: str) -> Report: ...
    def worse_than(self, baseline: str) -> list[str]: ...
    def exit_code(self) -> int: ...
    def witness(self) -> str | None: ...
    def dump(self) -> str: ...
    @staticmethod
    def parse(text: str) -> Report: ...

def main(arguments: Sequence[str | PathLike[str]]) -> int: ...
def check_claim(claim: str) -> None: ...
def audit(
    spec: str, functions: list[tuple[str, Function]], threads: int | None = None, shared: bool = False, progress: _Progress = None
) -> _Found: ...
def samples(
    spec: str,
    left: _Outputs,
    right: _Outputs,
    width: int,
    columns: list[str],
    ordered: bool,
    threads: int | None = None,
    progress: _Progress = None,
) -> _Found: ...
def run(
    paths: Sequence[str | PathLike[str]], settings: str, filter: str | None = None, threads: int | None = None, progress: _Progress = None
) -> _Found: ...
def replay(
    witness: str, function: Function, draws: int, seed: int, confidence: float, threads: int | None = None, shared: bool = False
) -> tuple[bool, float, float, float, tuple[int, int, int]]: ...
