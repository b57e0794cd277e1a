"""The common functions of the scripts that record the fixtures of datasets."""
from gen_programs import *  # noqa: F403
from gen_programs import P, fn, program

A = np.array
L = lambda v: A(v, np.int64)


def collect(p, ds, *types):
    """Returns, for each component, the values of all elements and their shapes, one
    after the other."""
    types = types or (I64,)

    def add(p, *a):
        n = len(types)
        state, e = a[:2 * n], a[2 * n:]
        out = []
        for k in range(n):
            out.append(p.ConcatV2([state[2 * k], p.Reshape(e[k], [-1])], 0))
            out.append(p.ConcatV2([state[2 * k + 1], p.Shape(e[k], out_type=I64), L([-1])], 0))
        return out

    empty = []
    for d in types:
        empty += [np.zeros([0], object if d == STR else tf.as_dtype(d).as_numpy_dtype), L([])]
    state = [I64 if k % 2 else types[k // 2] for k in range(2 * len(types))]
    f = fn(state + list(types), add)
    out = p.ReduceDataset(ds, empty, [], f=f, output_types=state, output_shapes=[[None]] * len(state), use_inter_op_parallelism=False)
    return out if isinstance(out, list) else [out]


def whole_of(family):
    """Returns a function that records all elements of a dataset."""
    def whole(name, build, *types, runs=([],), args=()):
        p = P(*args)
        p.ret(*collect(p, build(p, *p.args), *types))
        program(family, name, p, *runs)
    return whole


def rng(p, n):
    return p.RangeDataset(L(0), L(n), L(1), output_types=[I64], output_shapes=[[]])


def ints(p, v):
    return p.TensorSliceDataset([L(v)], output_shapes=[[]])
