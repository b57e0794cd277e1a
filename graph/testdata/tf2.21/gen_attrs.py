"""Adds to attrs.jsonl.gz nodes of many ops with an attribute changed, and whether TensorFlow's importer takes them.

    python gen_attrs.py STEP FIRST (the ops FIRST, FIRST+STEP, ...; TensorFlow 2.21)
"""
import base64, gzip, json, sys
import tensorflow as tf
from tensorflow.python.framework import op_def_registry as reg, importer
from tensorflow.core.framework import op_def_pb2, node_def_pb2, attr_value_pb2, graph_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session as c
ops = sorted(n for n in tf.raw_ops.__dict__ if n[0] != '_' and reg.get(n) is not None)
AV = attr_value_pb2.AttrValue
DEF = {'int': AV(i=2), 'float': AV(f=1.0), 'bool': AV(b=True), 'string': AV(s=b'x'), 'type': AV(type=1), 'shape': AV(shape=tf.TensorShape([2]).as_proto()),
 'tensor': AV(tensor=tf.make_tensor_proto(1.0)), 'func': AV(func=attr_value_pb2.NameAttrList(name='fff'))}
def value(a):
    k = a.type
    if k.startswith('list('):
        k = k[5:-1]
        v = AV(); n = max(a.minimum if a.has_minimum else 0, 1)
        v.list.SetInParent()
        if k == 'func': v.list.func.extend([DEF['func'].func] * n); return v
        one = scalar(a, k)
        f = {'int': 'i', 'float': 'f', 'bool': 'b', 'string': 's', 'type': 'type', 'shape': 'shape', 'tensor': 'tensor'}[k]
        getattr(v.list, f).extend([getattr(one, f)] * n)
        return v
    return scalar(a, k)
def scalar(a, k):
    v = AV(); v.CopyFrom(DEF[k])
    if k == 'int' and a.has_minimum: v.i = max(v.i, a.minimum)
    if k == 'type' and a.allowed_values.list.type: v.type = a.allowed_values.list.type[0]
    if k == 'string' and a.allowed_values.list.s: v.s = a.allowed_values.list.s[0]
    return v
def build(d):
    n = node_def_pb2.NodeDef(name='n', op=d.name)
    full = {}
    for a in d.attr:
        full[a.name] = a.default_value if a.HasField('default_value') else value(a)
        n.attr[a.name].CopyFrom(full[a.name])
    phs = []
    for arg in d.input_arg:
        if arg.is_ref: return None
        if arg.type_list_attr: ts = list(full[arg.type_list_attr].list.type)
        else:
            t = arg.type or full[arg.type_attr].type
            ts = [t] * (full[arg.number_attr].i if arg.number_attr else 1)
        for t in ts:
            if t == 0: return None
            phs.append(node_def_pb2.NodeDef(name='p%d' % len(phs), op='Placeholder', attr={'dtype': AV(type=t)}))
            n.input.append(phs[-1].name)
    return n, phs
def check(n, phs):
    g = graph_pb2.GraphDef(); g.versions.producer = 2000
    g.node.extend(phs); g.node.append(n)
    try:
        with tf.Graph().as_default(): tf.graph_util.import_graph_def(g, name='')
        return ''
    except Exception as e: return str(e)[:200] or 'error'
def variants(d, n):
    # An attribute that the op doesn't have is refused by us alone.
    yield 'as it is', n
    m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr['_nonsense'].i = 1; yield '_unknown', m
    for a in d.attr:
        if a.HasField('default_value'):
            m = node_def_pb2.NodeDef(); m.CopyFrom(n); del m.attr[a.name]; yield 'without ' + a.name, m
        for k in DEF:
            if k == a.type: continue
            m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr[a.name].CopyFrom(DEF[k]); yield 'kind ' + k + ' ' + a.name, m
        m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr[a.name].Clear(); m.attr[a.name].list.SetInParent(); yield 'empty list ' + a.name, m
        m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr[a.name].Clear(); yield 'nothing ' + a.name, m
        if a.has_minimum and a.type == 'int':
            m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr[a.name].i = a.minimum - 1; yield 'below ' + a.name, m
        if a.type == 'type':
            for t in (0, 7, 20, 101, 2, 9, 999):
                m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr[a.name].type = t; yield 'type %d %s' % (t, a.name), m
        if a.type == 'string' and a.allowed_values.list.s:
            m = node_def_pb2.NodeDef(); m.CopyFrom(n); m.attr[a.name].s = b'nonsense'; yield 'not allowed ' + a.name, m
step, first = int(sys.argv[1]), int(sys.argv[2])
with gzip.GzipFile('attrs.jsonl.gz', 'ab', 9, mtime=0) as out:
    for name in ops[first::step]:
        d = reg.get(name)
        b = build(d)
        if b is None: continue
        n, phs = b
        if check(n, phs): continue   # what isn't right as it is tells nothing
        for what, m in variants(d, n):
            row = [name, what, base64.b64encode(m.SerializeToString()).decode(), [p.attr['dtype'].type for p in phs], bool(check(m, phs))]
            out.write((json.dumps(row) + '\n').encode())
