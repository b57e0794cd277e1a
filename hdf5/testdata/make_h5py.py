"""Writes the fixtures in h5py/: files, and what h5py reads in them.

    python make_h5py.py        (h5py 3.14, HDF5 1.14.6, numpy)

NAME.h5.gz is a file, NAME.txt a line for each object and attribute of it:

    PATH dtype [shape] crc32 of its bytes, little-endian; of strings each with a NUL behind it
    PATH@ATTRIBUTE likewise
"""
import gzip, os, zlib
import h5py
import numpy as np

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "h5py")


def content(value):
    """Returns dtype, shape and bytes as the listing has them."""
    if isinstance(value, h5py.Empty):
        return "null", "", b""
    if isinstance(value, (str, bytes)):
        value = np.array(value, dtype=object)
    value = np.asarray(value)
    shape = "[" + " ".join(map(str, value.shape)) + "]"
    if value.dtype.kind in "OSU":
        flat = [v.encode() if isinstance(v, str) else bytes(v) for v in value.reshape(-1).tolist()]
        return "string", shape, b"".join(v + b"\0" for v in flat)
    if value.dtype.kind == "V":
        return "opaque" + str(value.dtype.itemsize), shape, value.tobytes()
    name = value.dtype.newbyteorder("=").name
    return name, shape, value.astype(value.dtype.newbyteorder("<")).tobytes()


def line(path, value):
    dtype, shape, b = content(value)
    return f"{path} {dtype} {shape} {zlib.crc32(b):08x}"


def listing(f):
    lines = []

    def attrs(path, o):
        for k in sorted(o.attrs):
            lines.append(line(f"{path}@{k}", o.attrs[k]))

    def visit(name, o):
        path = "/" + name
        if isinstance(o, h5py.Dataset):
            lines.append(line(path, o[()]))
        else:
            lines.append(path + " group")
        attrs(path, o)

    attrs("/", f)
    f.visititems(visit)
    return sorted(lines)


def save(name, write, **kwargs):
    path = os.path.join(here, name + ".h5")
    with h5py.File(path, "w", **kwargs) as f:
        write(f)
    with h5py.File(path, "r") as f:
        text = "\n".join(listing(f)) + "\n"
    with open(os.path.join(here, name + ".txt"), "w") as out:
        out.write(text)
    with open(path, "rb") as f, gzip.GzipFile(path + ".gz", "wb", mtime=0) as out:
        out.write(f.read())
    os.remove(path)


def values(dtype, *shape):
    n = int(np.prod(shape))
    return (np.arange(n) * 7 % 251).astype(dtype).reshape(shape)


def types(f):
    for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
        f["types/" + name] = values(name, 2, 5)
        f["big/" + name] = values(name, 3).astype(np.dtype(name).newbyteorder(">"))
    f["types/bool"] = np.array([True, False, True])
    f["types/complex64"] = values("complex64", 3) * 1j
    f["big/complex128"] = values("complex128", 3).astype(">c16")
    f["types/opaque"] = np.array([b"ab", b"cd"], dtype="V2")
    f["scalar"] = np.float32(3.5)
    f["none"] = np.zeros((0, 3), "float32")
    f["null"] = h5py.Empty("f")
    f["text/one"] = "häßlich"
    f["text/variable"] = np.array(["a", "", "längere", "x" * 5000], dtype=h5py.string_dtype())
    f["text/ascii"] = np.array([["a"], ["b"]], dtype=h5py.string_dtype("ascii"))
    f["text/fixed"] = np.array([b"abc", b"", b"de"])
    f["text/fixedutf8"] = np.array(["ä".encode(), b"b"], dtype=h5py.string_dtype("utf-8", 4))
    f.create_dataset("filled", (3, 4), "float32", fillvalue=2.5)
    f.create_dataset("unwritten", (3, 4), "int16")
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_layout(h5py.h5d.COMPACT)
    d = h5py.h5d.create(f.id, b"compact", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((3,)), p)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([5, 6, 7], "int32"))
    f["chosen"] = np.dtype("float32")
    h5py.Dataset(h5py.h5d.create(f.id, b"named", h5py.h5t.open(f.id, b"chosen"), h5py.h5s.create_simple((2,))))[...] = [1, 2]
    del f["chosen"]


def attributes(f):
    a = f.attrs
    a["str"], a["bytes"], a["empty"] = "text", b"ascii", ""
    a["names"] = [b"dense", b"dense_1"]
    a["numpy"] = np.array([b"abc", b"de"])
    a["none"] = []
    a["int"], a["float"], a["bool"] = 3, 0.5, True
    a["array"] = values("float32", 3, 2)
    a["null"] = h5py.Empty("f")
    a["json"] = "{" + "x" * 100_000 + "}"
    a["häßlich"] = "x"
    g = f.create_group("many")
    for i in range(40):
        g.attrs[f"a{i:02d}"] = i
    f.create_dataset("d", data=values("int8", 3)).attrs["unit"] = "m"


def groups(f):
    for i in range(700):
        f[f"wide/n{i * 37 % 700:03d}"] = np.int16(i)
    g = f
    for i in range(30):
        g = g.create_group(f"deep{i}")
    g["end"] = np.int8(1)
    for i in range(60):
        f[f"gone/x{i}"] = np.int8(i)
    for i in range(0, 60, 2):
        del f[f"gone/x{i}"]
    f.create_group("empty")
    f.create_group("a_much_longer_name_than_others_have_in_this_group")


def chunks(f):
    f.create_dataset("plain", data=values("int32", 7, 9), chunks=(3, 4))
    f.create_dataset("gzip", data=values("int32", 7, 9), chunks=(3, 4), compression="gzip")
    f.create_dataset("all", data=values("float64", 20, 11), chunks=(6, 5), compression=9, shuffle=True, fletcher32=True)
    f.create_dataset("shuffle", data=values("int16", 40), chunks=(7,), shuffle=True)
    f.create_dataset("fletcher", data=values("int8", 41), chunks=(7,), fletcher32=True)
    f.create_dataset("one", data=values("int16", 5, 6), chunks=(5, 6))
    f.create_dataset("onegzip", data=values("int16", 5, 6), chunks=(5, 6), compression="gzip")
    f.create_dataset("larger", data=values("int16", 5, 6), chunks=(8, 9), maxshape=(100, None), compression="gzip")
    f.create_dataset("rank4", data=values("uint8", 3, 4, 5, 6), chunks=(2, 3, 2, 4), compression="gzip")
    f.create_dataset("text", data=np.array(["a", "bb", "", "cccc"], dtype=h5py.string_dtype()), chunks=(3,), compression="gzip")
    f.create_dataset("rows", data=values("int32", 500, 4), chunks=(1, 4), maxshape=(None, 4))
    f.create_dataset("columns", data=values("int32", 4, 300), chunks=(2, 3), maxshape=(10, None))
    f.create_dataset("columnsgzip", data=values("int32", 4, 300), chunks=(2, 3), maxshape=(10, None), compression="gzip")
    f.create_dataset("both", data=values("int32", 40, 50), chunks=(2, 3), maxshape=(None, None))
    f.create_dataset("bothgzip", data=values("int32", 40, 50), chunks=(2, 3), maxshape=(None, None), compression="gzip")
    f.create_dataset("limited", data=values("int32", 8, 9), chunks=(2, 3), maxshape=(12, 31))
    f.create_dataset("limitedgzip", data=values("int32", 8, 9), chunks=(2, 3), maxshape=(12, 31), compression="gzip", shuffle=True)
    d = f.create_dataset("sparse", (30_000,), "int8", chunks=(2,), fillvalue=9)
    for i in (0, 5, 2047, 2048, 9_999, 29_999):
        d[i] = i % 100
    d = f.create_dataset("sparsegzip", (30_000,), "int8", chunks=(2,), compression="gzip")
    for i in (0, 5, 2047, 2048, 9_999, 29_999):
        d[i] = i % 100
    d = f.create_dataset("grown", (200_000,), "int8", chunks=(1,), maxshape=(None,))
    for i in (0, 3, 4, 20, 100, 1000, 131_074, 140_000, 199_999):
        d[i] = i % 100
    d = f.create_dataset("shrunk", data=values("int32", 20, 20), chunks=(3, 3), maxshape=(None, 30))
    d.resize((11, 10))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((3, 4))
    p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    h5py.Dataset(h5py.h5d.create(f.id, b"early", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((7, 9), (10, 20)), p))[...] = values("int16", 7, 9)
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((3, 4))
    p.set_deflate(6)
    try:
        p.set_chunk_opts(h5py.h5d.DONT_FILTER_PARTIAL_CHUNKS)
    except AttributeError:
        pass
    h5py.Dataset(h5py.h5d.create(f.id, b"edges", h5py.h5t.STD_I16LE, h5py.h5s.create_simple((7, 9)), p))[...] = values("int16", 7, 9)


def dense(f):
    attributes(f)
    f.attrs["large"] = values("float64", 9000)  # more than a header holds
    f.attrs["larger"] = "y" * 70_000
    f["many"].attrs["long"] = np.array([b"z" * 70_000])
    g = f.create_group("ordered", track_order=True)
    for i in range(50):
        g.attrs[f"b{50 - i}"] = i
        g[f"n{50 - i}"] = np.int8(i)


def everything(f):
    for write in (types, groups, chunks, dense):
        g = f.create_group(write.__name__)
        write(g)


def links(f):
    f["a/b"] = np.int8(1)
    f["a/loop"] = f["a"]
    f["a/again"] = f["a/b"]


def refused(f):
    f["here"] = np.int8(1)
    f["soft"] = h5py.SoftLink("/here")
    f["external"] = h5py.ExternalLink("other.h5", "/x")
    f.create_dataset("reference", data=f["here"].ref, dtype=h5py.ref_dtype)
    f["here"].attrs["reference"] = f["here"].ref
    f.create_dataset("compound", data=np.zeros(2, [("x", "f4"), ("y", "i2")]))
    f.create_dataset("enum", data=np.array([0, 1]), dtype=h5py.enum_dtype({"RED": 0, "GREEN": 1}))
    f.create_dataset("sequence", (2,), dtype=h5py.vlen_dtype("int32"))
    f.create_dataset("array", (2,), dtype=np.dtype("(3,)f4"))
    f.create_dataset("lzf", data=values("int32", 100), compression="lzf")
    f.create_dataset("scaleoffset", data=values("int32", 100), scaleoffset=0)
    f.create_dataset("elsewhere", (4,), "int8", external=[("x.bin", 0, 4)])
    layout = h5py.VirtualLayout(shape=(4,), dtype="int8")
    layout[...] = h5py.VirtualSource("x.h5", "x", shape=(4,))
    f.create_virtual_dataset("virtual", layout)


def bombs(f):
    f.create_dataset("unwritten", (1 << 40,), "float32")
    f.create_dataset("chunks", (1 << 40, 1 << 10), "int8", chunks=(1 << 10, 1 << 10), fillvalue=3, compression="gzip")
    d = f.create_dataset("zeros", (128 << 20,), "int8", chunks=(64 << 20,), compression=9)
    d[0], d[64 << 20] = 1, 2
    f.create_dataset("text", (1 << 30,), h5py.string_dtype())
    f.create_dataset("wide", (1 << 20,), "S1000")


def small(f):
    f["x"] = values("float32", 2, 3)
    f["x"].attrs["a"] = ["text", "more"]
    f.attrs["flag"] = True
    f.create_dataset("g/gzip", data=values("int16", 5, 5), chunks=(2, 3), compression=4, shuffle=True, fletcher32=True)
    f.create_dataset("g/fixed", data=values("int16", 5, 5), chunks=(2, 3), maxshape=(8, 8))
    f.create_dataset("g/grown", data=values("int16", 40, 2), chunks=(1, 2), maxshape=(None, 2))
    f.create_dataset("g/both", data=values("int16", 5, 5), chunks=(2, 3), maxshape=(None, None))
    for i in range(12):
        f[f"many/n{i}"] = np.int8(i)
        f["many"].attrs[f"a{i}"] = np.int8(i)


if __name__ == "__main__":
    os.makedirs(here, exist_ok=True)
    save("types", types)
    save("attributes", attributes)
    save("groups", groups)
    save("chunks", chunks)
    save("latest", everything, libver="latest")
    save("v108", everything, libver=("v108", "v108"))
    save("v110", everything, libver=("v110", "v110"))
    save("userblock", types, userblock_size=1024)
    save("small", small)
    save("small_latest", small, libver="latest")
    for name, write in (("links", links), ("refused", refused), ("bombs", bombs)):  # not all of these can be read
        path = os.path.join(here, name + ".h5")
        with h5py.File(path, "w") as f:
            write(f)
        with open(path, "rb") as f, gzip.GzipFile(path + ".gz", "wb", mtime=0) as out:
            out.write(f.read())
        os.remove(path)
