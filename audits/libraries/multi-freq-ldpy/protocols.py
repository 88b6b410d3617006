"""Reports of multi-freq-ldpy, one draw each, called as its documentation shows. A record is the value of one attribute of one person."""

from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client
from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
from multi_freq_ldpy.long_freq_est.L_OUE import L_OUE_Client
from multi_freq_ldpy.long_freq_est.L_SOUE import L_SOUE_Client
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client
from multi_freq_ldpy.mdim_freq_est.RSpFD_solution import RSpFD_ADP_Client, RSpFD_GRR_Client, RSpFD_UE_rnd_Client, RSpFD_UE_zero_Client
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Client
from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_GRR_Client, SPL_UE_Client
from multi_freq_ldpy.pure_frequency_oracles.ADP import ADP_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

ONE = {"GRR": GRR_Client, "OUE": UE_Client, "HE": HE_Client, "SS": SS_Client, "ADP": ADP_Client}
TWO_ROUNDS = {"L_GRR": L_GRR_Client, "L_OSUE": L_OSUE_Client, "L_OUE": L_OUE_Client, "L_SOUE": L_SOUE_Client, "L_SUE": L_SUE_Client}
SEVERAL = {
    "RSpFD_GRR": RSpFD_GRR_Client,
    "RSpFD_UE_zero": RSpFD_UE_zero_Client,
    "RSpFD_UE_rnd": RSpFD_UE_rnd_Client,
    "RSpFD_ADP": RSpFD_ADP_Client,
    "SMP_GRR": SMP_GRR_Client,
    "SPL_GRR": SPL_GRR_Client,
    "SPL_UE": SPL_UE_Client,
}


def flat(report):
    """The numbers of a report, in order."""
    if not hasattr(report, "__len__"):
        return [float(report)]
    return [number for part in report for number in flat(part)]


def report(data, rng, kind, epsilon, k):
    """One attribute with k values."""
    return flat(ONE[kind](int(data[0]), k, epsilon))


def sue(data, rng, epsilon, k):
    return flat(UE_Client(int(data[0]), k, epsilon, optimal=False))


def subset(data, rng, epsilon, k):
    """Subset selection as the set that it is documented to be: sorted, so that the order says nothing."""
    return sorted(flat(SS_Client(int(data[0]), k, epsilon)))


def local_hash(data, rng, epsilon, k):
    """The seed has 63 bits, so the attacker computes what it says about each value: whether the reported hash is that of the value."""
    import xxhash

    bit, seed = LH_Client(int(data[0]), k, epsilon, optimal=False)
    return [int(xxhash.xxh32(str(value), seed=seed).intdigest() % 2 == bit) for value in range(k)]


def two_rounds(data, rng, kind, eps_perm, eps_1, k):
    """A single report of a longitudinal protocol, for which eps_1 is claimed."""
    return flat(TWO_ROUNDS[kind](int(data[0]), k, eps_perm, eps_1))


def d_bit_flip(data, rng, eps_perm, k, d_bits):
    return flat(dBitFlipPM_Client(int(data[0]), k, k, d_bits, eps_perm))


def several(data, rng, kind, epsilon, k):
    """All attributes of one person, each with k values."""
    return flat(SEVERAL[kind]([int(value) for value in data], [k] * len(data), len(data), epsilon))
