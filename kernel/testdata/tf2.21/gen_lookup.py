"""Writes the programs of the kernels of lookup tables: programs/lookup.json.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_lookup.py
"""
from gen_programs import *  # noqa: F403


def values(d, *v):
    return np.array([str(x) for x in v] if d == STR else v, dtype=None if d == STR else d.as_numpy_dtype)


def keys(d, *v):
    return values(d, *v)


# A static table: missing before it is initialized, the same contents twice are fine.
for kd, vd in [(STR, I64), (STR, I32), (STR, F32), (STR, STR), (STR, BOOL), (I64, STR), (I64, I64), (I64, F32), (I32, I32), (I32, STR), (STR, tf.float64)]:
    for anonymous in (False, True):
        p = P(kd)
        if anonymous:
            h = p.AnonymousHashTable(key_dtype=kd, value_dtype=vd)
        else:
            h = p.HashTableV2(key_dtype=kd, value_dtype=vd, shared_name="t")
        v = values(vd, 1, 0, 7) if vd != BOOL else np.array([True, False, True])
        init = p.InitializeTableV2(h, keys(kd, 1, 5, -3), v)
        d = np.array(v[1])
        found = p.LookupTableFindV2(h, p.args[0], d, control=[init])
        p.ret(found, p.LookupTableSizeV2(h, control=[init]))
        program("lookup", "%s of %s to %s" % ("AnonymousHashTable" if anonymous else "HashTableV2", kd.name, vd.name), p,
                [values(kd, 5, 1, 9)], [np.reshape(values(kd, 1, 2, 3, -3), (2, 2))], [np.reshape(values(kd, -3), ())])

p = P(BOOL)
h = p.HashTableV2(key_dtype=STR, value_dtype=I64, shared_name="t")
then = fn([RES], lambda p, h: p.Identity(np.array(1, np.int32), control=[p.InitializeTableV2(h, np.array(["a", "b"]), np.array([1, 2], np.int64))]))
other = fn([RES], lambda p, h: p.Identity(np.array(0, np.int32)))
done = p.If(p.args[0], [h], Tout=[I32], then_branch=then, else_branch=other)
p.ret(p.LookupTableFindV2(h, np.array(["a", "b", "c"]), np.array(-1, np.int64), control=[done]))
program("lookup", "a table that is not initialized", p, ([False], "Table not initialized"), [True], [False], [True])

p = P(I64)
h = p.HashTableV2(key_dtype=STR, value_dtype=I64, shared_name="t")
init = p.InitializeTableV2(h, np.array(["a", "b"]), p.args[0])
p.ret(p.LookupTableFindV2(h, np.array(["a", "b"]), np.array(-1, np.int64), control=[init]))
program("lookup", "a table keeps its first contents", p, [[1, 2]], [[1, 2]], [[1, 3]])
p = P(STR)
h = p.HashTableV2(key_dtype=STR, value_dtype=STR, shared_name="t")
init = p.InitializeTableV2(h, p.args[0], p.args[0])
p.ret(p.LookupTableSizeV2(h, control=[init]))
program("lookup", "a table is initialized with as many keys", p, [["a", "b"]], [["a", "b"]], ([["a", "b", "c"]], "initialized"))
p = P(STR)
h = p.HashTableV2(key_dtype=STR, value_dtype=I64, shared_name="t")
init = p.InitializeTableV2(h, p.args[0], np.array([1, 2], np.int64))
p.ret(p.LookupTableSizeV2(h, control=[init]))
program("lookup", "one key of two values", p, ([["a", "a"]], "different value"), [["a", "b"]])

p = P(STR)
h = p.HashTableV2(key_dtype=STR, value_dtype=F32, shared_name="t")
into = p.LookupTableImportV2(h, np.array(["x", "y"]), np.array([1.5, 2.5], np.float32))
p.ret(p.LookupTableFindV2(h, p.args[0], np.array(0, np.float32), control=[into]))
program("lookup", "import to a static table", p, [["y", "z"]], [["x", "x"]])

# Tables that can be changed.
for op, attrs in [("MutableHashTableV2", {"shared_name": "t"}), ("AnonymousMutableHashTable", {})]:
    for kd, vd in [(STR, I64), (STR, F32), (I64, STR), (I64, F32), (I64, I64), (I32, F32), (I64, I32), (STR, BOOL), (STR, tf.float64)]:
        p = P(kd, vd, kd)
        h = getattr(p, op)(key_dtype=kd, value_dtype=vd, **attrs)
        one = p.LookupTableInsertV2(h, p.args[0], p.args[1])
        two = p.LookupTableRemoveV2(h, p.args[2], control=[one])
        d = values(vd, 1)[0:1].reshape(()) if vd != BOOL else np.array(False)
        found = p.LookupTableFindV2(h, p.args[0], d, control=[two])
        full = p.LookupTableFindV2(h, p.args[0], p.args[1], control=[two])
        p.ret(found, full, p.LookupTableSizeV2(h, control=[two]))
        k, v = values(kd, 3, 4, 3, 5), values(vd, 30, 40, 33, 50) if vd != BOOL else np.array([True, True, False, True])
        program("lookup", "%s of %s to %s" % (op, kd.name, vd.name), p, [k, v, k[1:2]], [k[:1], v[1:2], values(kd, 99)], [k[:0], v[:0], k[3:]])

p = P(STR, I64)
h = p.MutableHashTableV2(key_dtype=STR, value_dtype=I64, shared_name="t")
into = p.LookupTableImportV2(h, p.args[0], p.args[1])
k, v = p.LookupTableExportV2(h, Tkeys=STR, Tvalues=I64, control=[into])
p.ret(k, v, p.LookupTableSizeV2(h, control=[into]))
program("lookup", "export what was imported", p, [["k"], [7]], [["q"], [8]], [[], []])

for op, attrs in [("MutableHashTableOfTensorsV2", {"shared_name": "t"}), ("AnonymousMutableHashTableOfTensors", {})]:
    for kd, vd in [(STR, F32), (I64, F32), (STR, I64), (I64, STR), (I32, F32)]:
        p = P(kd, vd)
        h = getattr(p, op)(key_dtype=kd, value_dtype=vd, value_shape=S([2]), **attrs)
        one = p.LookupTableInsertV2(h, keys(kd, 1, 2), np.reshape(values(vd, 1, 2, 3, 4), (2, 2)))
        p.ret(p.LookupTableFindV2(h, p.args[0], p.args[1], control=[one]), p.LookupTableSizeV2(h, control=[one]))
        program("lookup", "%s of %s to %s" % (op, kd.name, vd.name), p, [values(kd, 2, 9, 1), values(vd, 0, 0)])

for op, attrs in [("MutableDenseHashTableV2", {"shared_name": "t"}), ("AnonymousMutableDenseHashTable", {})]:
    for kd, vd in [(I64, I64), (I64, F32), (I32, F32), (STR, F32), (STR, I64), (I64, BOOL)]:
        p = P(kd, kd)
        h = getattr(p, op)(values(kd, 0)[0:1].reshape(()), values(kd, -1)[0:1].reshape(()), value_dtype=vd, **attrs)
        v = values(vd, 10, 20, 30) if vd != BOOL else np.array([True, False, True])
        one = p.LookupTableInsertV2(h, values(kd, 1, 2, 3), v)
        two = p.LookupTableRemoveV2(h, p.args[1], control=[one])
        p.ret(p.LookupTableFindV2(h, p.args[0], np.array(v[0]), control=[two]), p.LookupTableSizeV2(h, control=[two]))
        program("lookup", "%s of %s to %s" % (op, kd.name, vd.name), p, [values(kd, 3, 1, 9), values(kd, 1)], ([values(kd, 0, 1), values(kd, 1)], "empty_key"))
p = P(I64)
h = p.MutableDenseHashTableV2(np.array([0, 0], np.int64), np.array([-1, -1], np.int64), value_dtype=F32, value_shape=S([3]), shared_name="t")
one = p.LookupTableInsertV2(h, np.array([[1, 2], [3, 4]], np.int64), np.array([[1, 2, 3], [4, 5, 6]], np.float32))
p.ret(p.LookupTableFindV2(h, p.args[0], np.array([0, 0, 9], np.float32), control=[one]))
program("lookup", "MutableDenseHashTableV2 of vectors", p, [[[3, 4], [1, 2], [4, 3]]])

# The handles of TensorFlow 1.
p = P(STR)
h = p.HashTable(key_dtype=STR, value_dtype=I64, shared_name="t1")
init = p.InitializeTable(h, np.array(["a", "b"]), np.array([1, 2], np.int64))
p.ret(p.LookupTableFind(h, p.args[0], np.array(-1, np.int64), control=[init]), p.LookupTableSize(h, control=[init]))
program("lookup", "HashTable", p, [["b", "q"]], [["a"]])
p = P(STR, F32)
h = p.MutableHashTable(key_dtype=STR, value_dtype=F32, shared_name="t2")
one = p.LookupTableInsert(h, p.args[0], p.args[1])
two = p.LookupTableImport(h, np.array(["z"]), np.array([9.5], np.float32), control=[one])
k, v = p.LookupTableExport(h, Tkeys=STR, Tvalues=F32, control=[two])
p.ret(p.LookupTableFind(h, p.args[0], np.array(0, np.float32), control=[two]), k, v)
program("lookup", "MutableHashTable", p, [["z", "y"], [1, 2]])
p = P(STR)
h = p.MutableHashTableOfTensors(key_dtype=STR, value_dtype=F32, value_shape=S([2]), shared_name="t3")
one = p.LookupTableInsert(h, np.array(["z"]), np.array([[9.5, 1]], np.float32))
p.ret(p.LookupTableFind(h, p.args[0], np.array([0, 0], np.float32), control=[one]))
program("lookup", "MutableHashTableOfTensors", p, [["z", "y"]])

write()
