"""Reports of multi-freq-ldpy, one draw each, called as its documentation shows. A record is the value of one attribute of one person."""

import xxhash
from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client
from multi_freq_ldpy.long_freq_est.L_ADP import L_ADP_Client
from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
from multi_freq_ldpy.long_freq_est.L_LH import L_LH_Client
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
from multi_freq_ldpy.long_freq_est.L_OUE import L_OUE_Client
from multi_freq_ldpy.long_freq_est.L_SOUE import L_SOUE_Client
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client
from multi_freq_ldpy.long_mdim_freq_est import L_SMP_Solution, L_SPL_Solution
from multi_freq_ldpy.mdim_freq_est import RSpFD_solution, SMP_solution, SPL_solution
from multi_freq_ldpy.pure_frequency_oracles.ADP import ADP_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

ONE = {"GRR": GRR_Client, "OUE": UE_Client, "HE": HE_Client, "SS": SS_Client, "ADP": ADP_Client}
TWO_ROUNDS = {
    "L_GRR": L_GRR_Client,
    "L_OSUE": L_OSUE_Client,
    "L_OUE": L_OUE_Client,
    "L_SOUE": L_SOUE_Client,
    "L_SUE": L_SUE_Client,
    "L_ADP": L_ADP_Client,
}
MODULES = (RSpFD_solution, SMP_solution, SPL_solution, L_SMP_Solution, L_SPL_Solution)
SEVERAL = {
    name.removesuffix("_Client"): made
    for module in MODULES
    for name, made in vars(module).items()
    if name.startswith(("RSpFD_", "SMP_", "SPL_"))
}


def flat(report):
    """The numbers of a report, in order."""
    if not hasattr(report, "__len__"):
        return [float(report)]
    return [number for part in report for number in flat(part)]


def supported(report, k, g):
    """A seed has 63 bits, so the attacker computes what it says about each value: whether the reported hash is that of the value."""
    hashed, seed = report
    return [int(xxhash.xxh32(str(value), seed=seed).intdigest() % g == hashed) for value in range(k)]


def report(data, rng, kind, epsilon, k):
    """One attribute with k values."""
    return flat(ONE[kind](int(data[0]), k, epsilon))


def sue(data, rng, epsilon, k):
    return flat(UE_Client(int(data[0]), k, epsilon, optimal=False))


def subset(data, rng, epsilon, k):
    """Subset selection as the set that it is documented to be: sorted, so that the order says nothing."""
    return sorted(flat(SS_Client(int(data[0]), k, epsilon)))


def local_hash(data, rng, epsilon, k, g):
    """Binary hashing with g = 2, otherwise the optimised one, which hashes to g values."""
    return supported(LH_Client(int(data[0]), k, epsilon, optimal=g > 2), k, g)


def two_rounds(data, rng, kind, eps_perm, eps_1, k):
    """A single report of a longitudinal protocol, for which eps_1 is claimed."""
    return flat(TWO_ROUNDS[kind](int(data[0]), k, eps_perm, eps_1))


def two_rounds_hash(data, rng, eps_perm, eps_1, k, g):
    return supported(L_LH_Client(int(data[0]), k, eps_perm, eps_1, optimal=g > 2), k, g)


def d_bit_flip(data, rng, eps_perm, k, d_bits):
    return flat(dBitFlipPM_Client(int(data[0]), k, k, d_bits, eps_perm))


def several(data, rng, kind, k, budget):
    """All attributes of one person, each with k values; the budget is epsilon, or eps_perm and eps_1."""
    people, sizes = [int(value) for value in data], [k] * len(data)
    if "dBitFlipPM" in kind:
        return flat(SEVERAL[kind](people, sizes, sizes, k - 1, len(data), *budget))
    return flat(SEVERAL[kind](people, sizes, len(data), *budget))


def several_hashes(data, rng, kind, k, epsilon, g):
    """The same with local hashing: one attribute and its report (SMP), or the reports of all attributes (SPL)."""
    reports = SEVERAL[kind]([int(value) for value in data], [k] * len(data), len(data), epsilon)
    if kind == "SMP_LH":
        return [float(reports[0]), *supported(reports[1], k, g)]
    return [bit for part in reports for bit in supported(part, k, g)]
