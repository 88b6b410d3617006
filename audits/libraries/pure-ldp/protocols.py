"""Reports of pure-ldp, one draw each, called as its documentation shows."""

import math
import zlib
from functools import cache

import numpy as np
import xxhash
from pure_ldp.frequency_oracles.apple_cms import CMSClient
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient
from pure_ldp.frequency_oracles.histogram_encoding import HEClient
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, LHClient
from pure_ldp.frequency_oracles.priv_count_sketch import PCSClient
from pure_ldp.frequency_oracles.rappor import RAPPORClient
from pure_ldp.frequency_oracles.sketch_response import SketchResponseClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient
from pure_ldp.heavy_hitters.apple_sfp import SFPClient
from pure_ldp.heavy_hitters.prefix_extending import PEMClient
from pure_ldp.heavy_hitters.treehistogram import TreeHistClient


def same(value):
    return value


@cache
def client(kind, epsilon, d):
    made = {
        "DE": lambda: DEClient(epsilon, d, index_mapper=same),
        "SUE": lambda: UEClient(epsilon, d, use_oue=False, index_mapper=same),
        "OUE": lambda: UEClient(epsilon, d, use_oue=True, index_mapper=same),
        "HE": lambda: HEClient(epsilon, d, index_mapper=same),
        "FLH": lambda: FastLHClient(epsilon, d, k=16, use_olh=True, index_mapper=same),
        "BLH": lambda: LHClient(epsilon, d, g=2, index_mapper=same),
        "OLH": lambda: LHClient(epsilon, d, use_olh=True, index_mapper=same),
        "HM": lambda: HadamardMechClient(epsilon, d, 1, index_mapper=same),
        # Above ε = 1 the values are permuted first; the server draws the permutation.
        "HR": lambda: HadamardResponseClient(epsilon, d, hash_funcs=None if epsilon <= 1 else list(range(d)), index_mapper=same),
        "sketch": lambda: SketchResponseClient(epsilon, d, [to_bucket(d)], index_mapper=same, fo_client=UEClient(epsilon, d, use_oue=True)),
        "count sketch": lambda: SketchResponseClient(
            epsilon, d, [(to_bucket(d), lambda text: 1)], index_mapper=same, fo_client=DEClient(epsilon, d), count_sketch=True
        ),
        "CMS": lambda: CMSClient(epsilon, [to_bucket(d)], d),
        "HCMS": lambda: CMSClient(epsilon, [to_bucket(d)], d, is_hadamard=True),
        "PCS": lambda: PCSClient(epsilon, 1, d, [(to_bucket(d), lambda text: 1)]),
    }
    return made[kind]()


def to_bucket(size):
    """A hash function without collisions, so that two values are told apart."""
    return lambda text: int(text) % size


def flat(report):
    """The numbers of a report, in order."""
    parts = report if isinstance(report, (list, tuple, zip)) or hasattr(report, "__len__") else [report]
    return [number for part in parts for number in (flat(part) if hasattr(part, "__len__") else [float(part)])]


def report(data, rng, kind, epsilon, d):
    """What one person with this value sends."""
    return flat(client(kind, epsilon, d).privatise(int(data[0])))


def local_hash(data, rng, kind, epsilon, d):
    """The seed has 63 bits, so the attacker computes what it says about each value: whether the reported hash is that of the value."""
    hashed, seed = client(kind, epsilon, d).privatise(int(data[0]))
    g = 2 if kind == "BLH" else round(math.exp(epsilon)) + 1
    return [int(xxhash.xxh32(str(value), seed=seed).intdigest() % g == hashed) for value in range(d)]


def text_bucket(size):
    return lambda text: zlib.crc32(text.encode()) % size


@cache
def hitter(kind, epsilon):
    """A client for heavy hitters among texts of two bits."""
    made = {
        "PEM": lambda: PEMClient(epsilon, 0, 2, 1, fo_client=DEClient(epsilon, 4)),
        "TreeHist": lambda: TreeHistClient(epsilon, 1, 2, fo_client=DEClient(epsilon, 4)),
        "SFP": lambda: SFPClient(epsilon, 1, 2, fo_client=CMSClient(epsilon, [text_bucket(8)], 8)),
    }
    return made[kind]()


def hitters(data, rng, kind, epsilon):
    """What one person with this text sends."""
    return flat(hitter(kind, epsilon).privatise(data[0]))


@cache
def rappor_client(f, m):
    # One cohort and one hash function without collisions.
    return RAPPORClient(f, m, [[lambda text: int(text) % m]], num_of_cohorts=1, index_mapper=same)


def rappor(data, rng, f, m):
    """A report of RAPPOR with one hash function; its own `convert_f_to_eps` says what f is worth."""
    return rappor_client(f, m).privatise(int(data[0]))[0]


def typed(data, rng, kind, epsilon, d):
    """A report as the object that it is: its type first. The value comes from a numpy array, as in the examples of the package."""
    sent = client(kind, epsilon, d).privatise(np.array(data, dtype=int)[0])
    return [type(sent).__name__, *flat(sent)]
