"""The compiled part of the package. Users need `dp_audit` only."""

from os import PathLike
from typing import Any, Callable, Sequence, TypedDict, final

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
    def only(self, pair: str) -> Report: ...
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
def measure(
    spec: str,
    functions: list[tuple[str, list[Function]]],
    deltas: list[float],
    threads: int | None = None,
    shared: bool = False,
    progress: _Progress = None,
) -> tuple[str, BaseException | None]: ...
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
def canaries(spec: str, options: str, trials: list[tuple[str, list[float], list[bool]]]) -> Report: ...
def canaries_needed(
    claim: str, sides: str, confidence: float, canaries: int | None, runs: int
) -> tuple[int | None, float | None]: ...
def run(
    paths: Sequence[str | PathLike[str]],
    settings: str,
    filter: str | None = None,
    threads: int | None = None,
    progress: _Progress = None,
    evidence: str | None = None,
) -> _Found: ...
_Searched = tuple[Report, int | None, str, str]

class _Search(TypedDict):
    spec: str
    make: Callable[[Any, Any], Function]
    shared: bool
    draws: int
    seconds: float | None
    threads: int | None

def search_domain(search: _Search, domain: str, progress: _Progress = None) -> tuple[_Searched, list[tuple[str, str, str]]]: ...
def search_source(search: _Search, source: Any, progress: _Progress = None) -> tuple[_Searched, list[tuple[Any, Any]]]: ...
def job_of_files(paths: Sequence[str | PathLike[str]], settings: str, filter: str | None = None) -> str: ...
def job_of_function(spec: str, pairs: list[str]) -> str: ...
def tasks(job: str, number: int) -> tuple[list[str], list[tuple[str, int]]]: ...
def pair_of_task(task: str) -> str | None: ...
def run_task(
    job: str,
    task: str,
    functions: list[tuple[str, Function]] | None,
    explored: str | None = None,
    threads: int | None = None,
    shared: bool = False,
) -> str: ...
def combine(job: str, results: list[tuple[str, str]]) -> Report: ...
def replay(
    witness: str, function: Function, draws: int, seed: int, confidence: float, threads: int | None = None, shared: bool = False
) -> tuple[bool, float, float, float, tuple[int, int, int]]: ...
