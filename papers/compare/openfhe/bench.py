"""Single operations of OpenFHE: one JSON argument says which, one JSON line how long they took.

Results are checked by decryption.
"""

import json
import math
import random
import sys
import time
from importlib.metadata import version

import openfhe as fhe


def made(asked, depth):
    """A context of that many levels, and log2 of its modulus."""
    bgv = asked["form"] == "bgv"
    parameters = fhe.CCParamsBGVRNS() if bgv else fhe.CCParamsBFVRNS()
    parameters.SetPlaintextModulus(asked["t"])
    parameters.SetMultiplicativeDepth(depth)
    parameters.SetRingDim(1 << asked["log_n"])
    parameters.SetBatchSize(1 << asked["log_n"])
    parameters.SetSecretKeyDist(fhe.SecretKeyDist.UNIFORM_TERNARY)
    # Both sides are rated by one estimator afterwards.
    parameters.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)
    parameters.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parameters.SetNumLargeDigits(asked["digits"])
    parameters.SetScalingModSize(asked["word_bits"])
    if bgv:
        parameters.SetFirstModSize(asked["word_bits"])
        parameters.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    cc = fhe.GenCryptoContext(parameters)
    return cc, math.log2(cc.GetModulus())


def context(asked):
    """The modulus is given in words for BGV; for BFV the library finds it from a depth: the deepest
    that stays below, found by halving.
    """
    if asked["form"] == "bgv":
        return made(asked, asked["words"] - 1)
    below, above = 1, 2 * asked["words"]
    while above - below > 1:
        depth = (below + above) // 2
        try:
            _, log_q = made(asked, depth)
        except RuntimeError:
            log_q = 0.0  # Too few words for that many digits.
        fhe.ReleaseAllContexts()
        below, above = (
            (depth, above)
            if log_q < (asked["words"] + 0.1) * asked["word_bits"]
            else (below, depth)
        )
    return made(asked, below)


def timed(runs, operation):
    """Seconds of each run, after one that does not count."""
    operation()
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        result = operation()
        seconds.append(time.perf_counter() - started)
        del result
    return seconds


def main(asked):
    cc, log_q = context(asked)
    for feature in (
        fhe.PKESchemeFeature.PKE,
        fhe.PKESchemeFeature.KEYSWITCH,
        fhe.PKESchemeFeature.LEVELEDSHE,
    ):
        cc.Enable(feature)
    t, n = asked["t"], 1 << asked["log_n"]
    keys = cc.KeyGen()
    cc.EvalMultKeyGen(keys.secretKey)
    steps = list(range(1, 9))
    cc.EvalRotateKeyGen(keys.secretKey, steps)

    values = [[random.randrange(t) for _ in range(n)] for _ in range(2)]
    centered = [[v - t if v > t // 2 else v for v in vs] for vs in values]
    plain = [cc.MakePackedPlaintext(vs) for vs in centered]
    a, b = (cc.Encrypt(keys.publicKey, p) for p in plain)

    def decrypted(x):
        found = cc.Decrypt(x, keys.secretKey)
        found.SetLength(n)
        return [v % t for v in found.GetPackedValue()]

    def hoisted():
        digits = cc.EvalFastRotationPrecompute(a)
        return [cc.EvalFastRotation(a, k, 2 * n, digits) for k in steps]

    half = n // 2
    turned = values[0][3:half] + values[0][:3] + values[0][half + 3 :] + values[0][half : half + 3]
    pairs = list(zip(*values))
    checks = [
        decrypted(cc.EvalMult(a, b)) == [x * y % t for x, y in pairs],
        decrypted(cc.EvalMult(a, plain[1])) == [x * y % t for x, y in pairs],
        decrypted(cc.EvalAdd(a, b)) == [(x + y) % t for x, y in pairs],
        decrypted(cc.EvalRotate(a, 3)) == turned,
        decrypted(hoisted()[2]) == turned,
    ]
    operations = {
        "multiply and relinearize": lambda: cc.EvalMult(a, b),
        "rotate": lambda: cc.EvalRotate(a, 1),
        "multiply by a transformed plaintext": lambda: cc.EvalMult(a, plain[1]),
        "add": lambda: cc.EvalAdd(a, b),
        "decrypt and decode": lambda: cc.Decrypt(a, keys.secretKey),
    }
    if asked["form"] == "bgv":
        lower = cc.ModReduce(cc.EvalMult(a, b))
        checks.append(decrypted(lower) == [x * y % t for x, y in pairs])
        operations["modulus switch"] = lambda: cc.ModReduce(a)
    seconds = {what: timed(asked["runs"], operation) for what, operation in operations.items()}
    seconds["hoisted rotate"] = [s / len(steps) for s in timed(asked["runs"], hoisted)]
    # Encoding takes a Python list, whose conversion, about a millisecond, counts as the package's.
    seconds["encode and encrypt, public key"] = timed(
        asked["runs"], lambda: cc.Encrypt(keys.publicKey, cc.MakePackedPlaintext(centered[0]))
    )
    # The library chooses P: as many words as a digit has limbs.
    log_p = math.ceil(math.ceil(log_q / asked["word_bits"]) / asked["digits"]) * 60
    facts = f"{asked['digits']} digits, P not shown by the package but taken as a digit's words"
    notes = {"": "wheel without HEXL", "encode and encrypt, public key": "from a Python list"}
    print(
        json.dumps(
            {
                "version": version("openfhe"),
                "log_q": log_q,
                "log_p": log_p,
                "facts": facts,
                "notes": notes,
                "seconds": seconds,
                "verified": all(checks),
            }
        )
    )


main(json.loads(sys.argv[1]))
