"""Ed25519 as RFC 8032, section 6, writes it down. For golden cases: neither fast nor constant in time."""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a: tuple, b: tuple) -> tuple:
    u, v = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    w, z = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = v - u, z - w, z + w, v + u
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiply(factor: int, point: tuple) -> tuple:
    product = (0, 1, 1, 0)
    while factor > 0:
        if factor & 1:
            product = add(product, point)
        point = add(point, point)
        factor >>= 1
    return product


def recover_x(y: int) -> int:
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P)
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    return P - x if x & 1 else x


Y = 4 * pow(5, P - 2, P) % P
X = recover_x(Y)
BASE = (X, Y, 1, X * Y % P)


def compress(point: tuple) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return int.to_bytes(y | (x & 1) << 255, 32, "little")


def expand(secret: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
    return scalar, digest[32:]


def public_key(secret: bytes) -> bytes:
    return compress(multiply(expand(secret)[0], BASE))


def hash_modulo(data: bytes) -> int:
    return int.from_bytes(hashlib.sha512(data).digest(), "little") % ORDER


def sign(secret: bytes, message: bytes) -> bytes:
    scalar, prefix = expand(secret)
    public = compress(multiply(scalar, BASE))
    nonce = hash_modulo(prefix + message)
    commitment = compress(multiply(nonce, BASE))
    answer = (nonce + hash_modulo(commitment + public + message) * scalar) % ORDER
    return commitment + int.to_bytes(answer, 32, "little")
