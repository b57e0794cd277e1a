"""Packs scikit-learn's digits.csv.gz into digits.deflate: python3 make_digits.py digits.csv.gz"""
import gzip, hashlib, sys, zlib

rows = [[int(v) for v in line.split(",")] for line in gzip.open(sys.argv[1], "rt")]
assert len(rows) == 1797 and all(len(r) == 65 for r in rows)
data = bytes(v for r in rows for v in r[:64]) + bytes(r[64] for r in rows)
deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
with open("digits.deflate", "wb") as f:
    f.write(deflate.compress(data) + deflate.flush())
print(hashlib.sha256(data).hexdigest())
