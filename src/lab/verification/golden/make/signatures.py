"""Signed slices, and slices that were altered after or before they were signed. `export` of a case without `slice`: what the kernel's key makes of the payload.
`signature`: whether the Ed25519 signature is that of the public key over the canonical JSON of all other fields. `made`: whether, besides, HMAC-SHA256 of the
canonical payload with the secret is the slice's admissibilityToken: the kernel's key has made the slice. `offline`: "valid", or the reason of the first check that a verifier with pinned public keys
fails, at the moment `at`. All altered slices but those named "signed before" carry a token, fingerprint and signature that are right for what they hold."""

import base64
import hashlib
import hmac
import json

import ed25519
from xxh64 import xxh64

SECRET = bytes(range(32))
PRIVATE = hashlib.sha256(b"golden kernel").digest()
OTHER = hashlib.sha256(b"another kernel").digest()
ISSUED = 1_700_000_000_000
SCOPE = {"anchorTurnId": "t2", "conversationId": "c", "author": "ann", "channel": None}
POLICY = {
    "id": "golden",
    "version": 3,
    "maxNodes": 4,
    "minPriority": 0.01,
    "distanceDecay": 0.9,
    "relationWeight": {"parent": 1, "child": 0.85, "sibling": 0.6, "channel": 0, "author": 0, "reference": 0},
    "phaseWeight": {},
    "otherPhaseWeight": 1,
    "anchor": "given",
    "unanchored": "refuse",
    "hierarchy": None,
}


def canonical(value) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def make_turns() -> list:
    ids = ["t0", "t1", "t2", "t\u00fcr-\u00df3", "t\u4e164", "\U0001f9f55", "t6"]
    return [
        {
            "id": id,
            "conversationId": "c",
            "parentId": ids[i - 1] if i > 0 else None,
            "timestamp": ISSUED + 1000 * (i - 6),
            "author": "ann",
            "channel": None,
        }
        for i, id in enumerate(ids)
    ]


TURNS = make_turns()
VERSION = hashlib.sha256(
    canonical(
        [[t["id"], t["conversationId"], t["parentId"], t["timestamp"], t["author"], None, None, None] for t in TURNS]
    ).encode()
).hexdigest()[:16]
POLICY_REF = f"golden@3#{hashlib.sha256(canonical(POLICY).encode()).hexdigest()[:16]}"


def key_id(private: bytes) -> str:
    return hashlib.sha256(ed25519.public_key(private)).hexdigest()[:16]


def sort_ids(ids: list) -> list:
    return sorted(ids, key=lambda id: id.encode())


def make_payload(**changes) -> dict:
    payload = {
        "anchorTurnId": "t2",
        "scope": SCOPE,
        "policyRef": POLICY_REF,
        "turnIds": sort_ids(["t1", "t2", TURNS[3]["id"], TURNS[5]["id"]]),
        "corpusVersion": VERSION,
        "issuedAt": ISSUED,
        "expiresAt": ISSUED + 300_000,
        "keyId": key_id(PRIVATE),
        "previous": None,
    }
    return {**payload, **changes}


def make_token(payload: dict) -> str:
    return hmac.new(SECRET, canonical(payload).encode(), hashlib.sha256).hexdigest()


def seal(payload: dict, private: bytes = PRIVATE, **changes) -> dict:
    sealed = {
        **payload,
        "fingerprint": xxh64(canonical(payload["turnIds"]).encode()),
        "admissibilityToken": make_token(payload),
        **changes,
    }
    return {**sealed, "signature": ed25519.sign(private, canonical(sealed).encode()).hex()}


def flip(digits: str) -> str:
    return ("1" if digits[0] == "0" else "0") + digits[1:]


def to_pem(private: bytes) -> str:
    der = bytes.fromhex("302e020100300506032b657004220420") + private
    return f"-----BEGIN PRIVATE KEY-----\n{base64.b64encode(der).decode()}\n-----END PRIVATE KEY-----\n"


def make_case(name: str, slice: dict, offline: str, made=True, signature=True, at=ISSUED + 5000, **changes) -> dict:
    return {
        "name": name,
        "turns": TURNS,
        "policy": POLICY,
        "scope": SCOPE,
        "key": {"keyId": key_id(PRIVATE), "state": "signing", "secret": SECRET.hex(), "privateKey": to_pem(PRIVATE)},
        "publicKey": ed25519.public_key(PRIVATE).hex(),
        "retiredKeyIds": [],
        "slice": slice,
        "at": at,
        **changes,
        "expected": {"made": made and signature, "signature": signature, "offline": offline},
    }


def make_cases():
    valid = seal(make_payload())
    sign = make_case("what a key makes of a payload", valid, "valid")
    yield {**sign, "payload": make_payload(), "expected": {**sign["expected"], "export": valid}}

    yield make_case("signed before: a flipped signature", {**valid, "signature": flip(valid["signature"])}, "signature", signature=False)
    forged = flip(valid["admissibilityToken"])
    yield make_case("a token that the secret has not made, signed", seal(make_payload(), admissibilityToken=forged), "valid", made=False)
    yield make_case("signed before: a flipped token", {**valid, "admissibilityToken": forged}, "signature", signature=False)
    longer = {**valid, "expiresAt": ISSUED + 900_000}
    yield make_case("signed before: a longer life", longer, "signature", signature=False)
    fewer = {**valid, "turnIds": valid["turnIds"][:-1]}
    yield make_case("signed before: a turn less", fewer, "fingerprint", signature=False)
    honest = {**fewer, "fingerprint": xxh64(canonical(fewer["turnIds"]).encode())}
    yield make_case("signed before: a turn less, and its fingerprint", honest, "signature", signature=False)
    yield make_case("signed by another key under this key's id", seal(make_payload(), OTHER), "signature", signature=False)

    yield make_case("a key that is not trusted", seal(make_payload(keyId=key_id(OTHER)), OTHER), "key-untrusted", signature=False)
    yield make_case("a key that was retired", valid, "key-retired", retiredKeyIds=[key_id(PRIVATE)])
    yield make_case("a wrong fingerprint", seal(make_payload(), fingerprint=flip(valid["fingerprint"])), "fingerprint")
    yield make_case("ids out of order", seal(make_payload(turnIds=valid["turnIds"][::-1])), "order")
    yield make_case("an id twice", seal(make_payload(turnIds=["t1", "t1", "t2"])), "order")
    yield make_case("an id that no turn has", seal(make_payload(turnIds=["t1", "t9"])), "unknown-turn")
    yield make_case("a turn of the moment itself", seal(make_payload(turnIds=["t1", "t6"])), "moment")
    yield make_case("more turns than the policy allows", seal(make_payload(turnIds=sort_ids([t["id"] for t in TURNS[:5]]))), "budget")
    yield make_case("another corpus", seal(make_payload(corpusVersion=flip(VERSION))), "corpus")
    yield make_case("another policy", seal(make_payload(policyRef=POLICY_REF.replace("@3", "@2"))), "policy")
    yield make_case("another author", seal(make_payload(scope={**SCOPE, "author": "bob"})), "scope")
    yield make_case("another anchor", seal(make_payload(anchorTurnId="t1")), "scope")
    yield make_case("a refinement that was not asked for", seal(make_payload(previous="0" * 64)), "chain")
    yield make_case("at its last moment", valid, "valid", at=ISSUED + 300_999)
    yield make_case("when it has expired, with a second for the clocks", valid, "expired", at=ISSUED + 301_000)
    yield make_case("a second before it was issued", valid, "valid", at=ISSUED - 1000)
    yield make_case("more than a second before it was issued", valid, "not-yet-valid", at=ISSUED - 1001)
