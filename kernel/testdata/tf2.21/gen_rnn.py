"""Writes rnn.json: recurrent layers and cells, CTC, and cuDNN's networks.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_rnn.py

TensorFlow has cuDNN's ops for GPUs only. Here their parameters are the weights
of layers of tf_keras, converted by the function by which tf_keras itself calls
the ops, and their results those layers'.
"""
import itertools
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tf_keras as keras
from tf_keras.src.layers.rnn import gru_lstm_utils
import recorder
from recorder import *

recorder.rng = np.random.default_rng(20260707)
rng = recorder.rng
W = lambda d, *shape: rand(d, shape, -1, 1)

for d in ["float32", "float16"]:
    for peep in (False, True):
        for a in [{}, {"forget_bias": 0.5, "cell_clip": 0.2}, {"cell_clip": -1.0}][:3 if d == "float32" else 1]:
            for b, i, n in [(3, 4, 2), (1, 2, 3)]:
                at = {**a, "use_peephole": peep}
                ws = [("w", W(d, i + n, 4 * n)), ("wci", W(d, n)), ("wcf", W(d, n)), ("wco", W(d, n)), ("b", W(d, 4 * n))]
                state = [("cs_prev", W(d, b, n)), ("h_prev", W(d, b, n))]
                cell = [("x", W(d, b, i))] + state + ws
                case("rnn", "LSTMBlockCell", cell, at)
                if "forget_bias" not in a and "cell_clip" not in a:
                    outs = [("i", "cs", "f", "o", "ci", "co")]
                    o = tf.raw_ops.LSTMBlockCell(**{k: tf.constant(v) for k, v in cell}, **at)
                    grads = [(k, getattr(o, k).numpy()) for k in outs[0]]
                    case("rnn", "LSTMBlockCellGrad", cell + grads + [("cs_grad", W(d, b, n)), ("h_grad", W(d, b, n))], {"use_peephole": peep})
                for op in ["BlockLSTM", "BlockLSTMV2"]:
                    al = {k: v for k, v in at.items() if op == "BlockLSTM" or k != "forget_bias"}
                    for t, most in [(3, 3), (4, 2)]:
                        block = [("seq_len_max", np.int64(most)), ("x", W(d, t, b, i))] + state + ws
                        fn = getattr(tf.raw_ops, op)

                        def whole(**k):
                            # Outputs after the last step stay as they were; here they are zero.
                            keep = tf.range(t)[:, None, None] < most
                            return [tf.where(keep, o, tf.zeros_like(o)) for o in fn(**k)]

                        case("rnn", op, block, al, raw=whole, undefined=[0, 2, 3, 4, 5] if most < t else None)
                        if "cell_clip" not in a:
                            o = fn(**{k: tf.constant(v) for k, v in block}, **al)
                            outs = [(k, getattr(o, k).numpy()) for k in ("i", "cs", "f", "o", "ci", "co", "h")]
                            case("rnn", op.replace("LSTM", "LSTMGrad"), block + outs + [("cs_grad", W(d, t, b, n)), ("h_grad", W(d, t, b, n))], {"use_peephole": peep})
for b, i, n in [(3, 4, 2), (1, 2, 3)]:
    d = "float32"
    cell = [("x", W(d, b, i)), ("h_prev", W(d, b, n)), ("w_ru", W(d, i + n, 2 * n)), ("w_c", W(d, i + n, n)), ("b_ru", W(d, 2 * n)), ("b_c", W(d, n))]
    case("rnn", "GRUBlockCell", cell)
    o = tf.raw_ops.GRUBlockCell(**{k: tf.constant(v) for k, v in cell})
    case("rnn", "GRUBlockCellGrad", cell + [("r", o.r.numpy()), ("u", o.u.numpy()), ("c", o.c.numpy()), ("d_h", W(d, b, n))])

L = lambda v: np.array(v, np.int32)
J = lambda v: np.array(v, np.int64)
LABELS = [
    (J([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]]), L([0, 1, 2, 1, 1, 3])),
    (J([[0, 0], [1, 0], [1, 1], [2, 0]]), L([3, 2, 2, 0])),
    (J([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]]), L([1, 4, 4, 2, 0])),
]
for at, v in LABELS:
    for a in [{}, {"preprocess_collapse_repeated": True}, {"ctc_merge_repeated": False}, {"ignore_longer_outputs_than_inputs": True}]:
        for n in [L([6, 6, 6]), L([4, 2, 5]), L([1, 0, 2])]:
            case("rnn", "CTCLoss", [("inputs", rand("float32", (6, 3, 5))), ("labels_indices", at), ("labels_values", v), ("sequence_length", n)], a)


def dense_loss(inputs, labels_indices, labels_values, sequence_length):
    """The loss by TensorFlow's implementation in Python, which computes doubles
    in double precision; the op takes some exponentials in single precision."""
    dense = tf.sparse.to_dense(tf.SparseTensor(labels_indices, labels_values, [3, 3]))
    counts = tf.math.bincount(tf.cast(labels_indices[:, 0], tf.int32), minlength=3)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        loss = tf.nn.ctc_loss(dense, inputs, counts, sequence_length, blank_index=4)
    return loss, tape.gradient(loss, inputs)


for at, v in LABELS[:2]:
    for n in [L([6, 6, 6]), L([4, 3, 5])]:
        case("rnn", "CTCLoss", [("inputs", rand("float64", (6, 3, 5))), ("labels_indices", at), ("labels_values", v), ("sequence_length", n)],
             raw=dense_loss, elsewhere=True)
for d in F2:
    for merge in (False, True):
        for n in [L([7, 5, 0]), L([3, 1, 7])]:
            for blank in (-1, 0, 2, -3):
                case("rnn", "CTCGreedyDecoder", [("inputs", rand(d, (7, 3, 4))), ("sequence_length", n)], {"merge_repeated": merge, "blank_index": blank})
for merge in (False, True):
    for n in [L([7, 5, 0]), L([3, 1, 7])]:
        for width, top in [(1, 1), (3, 2), (10, 1), (10, 3), (50, 1)]:
            if n.min() == 0 and top > 1:
                continue
            case("rnn", "CTCBeamSearchDecoder", [("inputs", rand("float32", (7, 3, 4), -2, 2)), ("sequence_length", n)],
                 {"beam_width": width, "top_paths": top, "merge_repeated": merge})


def all_alignments(inputs, sequence_length, **a):
    """A beam that holds every prefix, with likelihoods summed in double
    precision over all ways to spell a path."""
    out = flatten(tf.raw_ops.CTCBeamSearchDecoder(inputs=inputs, sequence_length=sequence_length, **a))
    p, sums = tf.nn.log_softmax(inputs).numpy(), out[-1].numpy()
    top = a["top_paths"]
    for b, n in enumerate(sequence_length.numpy()):
        likely = {}
        for way in itertools.product(range(p.shape[2]), repeat=int(n)):
            path = tuple(k for k, _ in itertools.groupby(way) if k != p.shape[2] - 1)
            likely[path] = np.logaddexp(likely.get(path, -np.inf), sum(p[t, b, k] for t, k in enumerate(way)))
        for i in range(top):
            at = out[i].numpy()[:, 0] == b
            sums[b, i] = likely[tuple(out[top + i].numpy()[at])]
    return out[:-1] + [sums]


case("rnn", "CTCBeamSearchDecoder", [("inputs", rand("float64", (5, 2, 4), -2, 2)), ("sequence_length", L([5, 4]))],
     {"beam_width": 1000, "top_paths": 3, "merge_repeated": False}, raw=all_alignments, elsewhere=True)


def blank_first(inputs, labels_indices, labels_values, sequence_length, **a):
    loss, grad = tf.raw_ops.CTCLoss(inputs=tf.roll(inputs, -1, 2), labels_indices=labels_indices, labels_values=labels_values - 1,
                                    sequence_length=sequence_length, **a)
    return loss, tf.roll(grad, 1, 2)


for at, v in LABELS[:2]:
    for a in [{}, {"preprocess_collapse_repeated": True}, {"ctc_merge_repeated": False}, {"ignore_longer_outputs_than_inputs": True}]:
        for n in [L([6, 6, 6]), L([4, 3, 5]), L([1, 0, 2])]:
            case("rnn", "CTCLossV2", [("inputs", rand("float32", (6, 3, 5))), ("labels_indices", at), ("labels_values", v + 1), ("sequence_length", n)], a,
                 raw=blank_first, elsewhere=True)

# cuDNN's networks.


def halves(weights, mode, gradients=False):
    """A layer's weights and biases by gate, in cuDNN's order, before conversion, or their gradients."""
    kernel, recurrent, bias = weights
    one = bias if gradients else np.zeros_like(bias)  # of two biases that are added
    if mode == "lstm":
        ws = np.split(kernel, 4, 1) + np.split(recurrent, 4, 1)
        return ws, np.split(np.concatenate([one, bias]), 8)
    if mode == "gru":
        ws, bs = np.split(kernel, 3, 1) + np.split(recurrent, 3, 1), np.split(bias.reshape(-1), 6)
        for list_ in (ws, bs):
            list_[0], list_[1] = list_[1], list_[0]
            list_[3], list_[4] = list_[4], list_[3]
        return ws, bs
    return [kernel, recurrent], [one, bias]


def run(d, mode, layers, dirs, units, times, rows, first, mask, layered):
    """The network's outputs, states, weights and biases; its cells go to layered."""
    y, h0, c0 = first
    hs, cs, ws, bs = [], [], [], []
    for l in range(layers):
        outs = []
        for k in range(dirs):
            i = l * dirs + k
            f = layer(mode, units, k == 1)
            state = [h0[i], c0[i]] if mode == "lstm" else [h0[i]]
            f.build((rows, times, int(y.shape[2])))
            r = f(y, initial_state=state, mask=mask)
            outs.append(tf.reverse(r[0], [1]) if k == 1 else r[0])
            hs.append(r[1])
            cs.append(r[2] if mode == "lstm" else r[1])
            layered.append(f.cell)
            w, b = halves(f.cell.get_weights(), mode)
            ws += w
            bs += b
        y = tf.concat(outs, 2)
    return y, tf.stack(hs), tf.stack(cs), ws, bs


def layer(mode, units, back):
    """A layer of tf_keras without its own call of cuDNN."""
    o = dict(return_sequences=True, return_state=True, go_backwards=back, zero_output_for_mask=True, unroll=False, bias_initializer="random_normal")
    cell = {"lstm": lambda: keras.layers.LSTMCell(units, bias_initializer="random_normal", dtype=DT),
            "gru": lambda: keras.layers.GRUCell(units, reset_after=True, bias_initializer="random_normal", dtype=DT),
            "rnn_relu": lambda: keras.layers.SimpleRNNCell(units, activation="relu", bias_initializer="random_normal", dtype=DT),
            "rnn_tanh": lambda: keras.layers.SimpleRNNCell(units, activation="tanh", bias_initializer="random_normal", dtype=DT)}[mode]()
    o.pop("bias_initializer")
    return keras.layers.RNN(cell, dtype=DT, **o)


backward = []  # recorded after all else, for what comes before it draws from one stream of numbers


def network(op, d, mode, layers, both, units, inputs, times, rows, major=True, lengths=None):
    global DT
    DT = d
    keras.utils.set_random_seed(len(cases["rnn"]))
    dirs = 2 if both else 1
    x = rand(d, (rows, times, inputs), -1, 1)
    h0, c0 = rand(d, (layers * dirs, rows, units), -1, 1), rand(d, (layers * dirs, rows, units), -1, 1)
    mask = None if lengths is None else tf.sequence_mask(lengths, times)
    tape, first = tf.GradientTape(persistent=True), [tf.constant(x), tf.constant(h0), tf.constant(c0)]
    layered = []
    with tape:
        for v in first:
            tape.watch(v)
        y, h, c, ws, bs = run(d, mode, layers, dirs, units, times, rows, first, mask, layered)

    params = gru_lstm_utils.canonical_to_params([tf.constant(w) for w in ws], [tf.constant(b) for b in bs], tf.constant([-1]), transpose_weights=True).numpy()
    dys = [np.random.default_rng(len(cases["rnn"]) + i).uniform(-1, 1, v.shape).astype(d) for i, v in enumerate([y, h, c])]
    lstm = mode == "lstm"
    targets, dfirst = [y, h] + [c] * lstm, [np.zeros_like(x), np.zeros_like(h0), np.zeros_like(c0)]
    for i, g in enumerate(tape.gradient(targets, first, dys[:len(targets)])):
        if g is not None:
            dfirst[i] = g.numpy()
    dws, dbs = [], []
    for cell in layered:
        w, b = halves([g.numpy() for g in tape.gradient(targets, [cell.kernel, cell.recurrent_kernel, cell.bias], dys[:len(targets)])], mode, True)
        dws += w
        dbs += b
    dparams = gru_lstm_utils.canonical_to_params([tf.constant(w) for w in dws], [tf.constant(b) for b in dbs], tf.constant([-1]), transpose_weights=True).numpy()
    turn = lambda v: np.ascontiguousarray(np.asarray(v).transpose(1, 0, 2))
    if major:
        y, x, dys[0], dfirst[0] = turn(y), turn(x), turn(dys[0]), turn(dfirst[0])
    else:
        h, c, h0, c0 = turn(h), turn(c), turn(h0), turn(c0)
        dys[1:], dfirst[1:] = map(turn, dys[1:]), map(turn, dfirst[1:])
    outs = [y, h, c if lstm else tf.zeros([], d), tf.zeros([0], d)] + ([] if op == "CudnnRNN" else [tf.zeros([0], tf.int8)])
    ins = [("input", x), ("input_h", h0), ("input_c", c0 if lstm else np.zeros((1, 1, 1), d)), ("params", params)]
    a = {"rnn_mode": mode, "direction": "bidirectional" if both else "unidirectional", "is_training": False}
    if op == "CudnnRNNV3":
        ins.append(("sequence_lengths", L(lengths)))
        a["time_major"] = major
    case("rnn", op, ins, a, raw=lambda **k: outs, elsewhere=True, undefined=[3] if op == "CudnnRNN" else [3, 4])
    nothing = np.zeros((1, 1, 1), d)
    more = [("output", y), ("output_h", h), ("output_c", c if lstm else np.zeros([], d)), ("output_backprop", dys[0]), ("output_h_backprop", dys[1]),
            ("output_c_backprop", dys[2] if lstm else np.zeros([], d)), ("reserve_space", np.zeros([0], d))]
    if op != "CudnnRNN":
        more.append(("host_reserved", np.zeros([0], np.int8)))
    grads = dfirst[:2] + [dfirst[2] if lstm else nothing, dparams]
    b = {k: v for k, v in a.items() if k != "is_training"}
    backward.append((op.replace("CudnnRNN", "CudnnRNNBackprop"), ins + more, b, [tf.constant(g) for g in grads]))
    return [np.ascontiguousarray(w.T) for w in ws], bs, params


for mode, gates in [("lstm", 4), ("gru", 3), ("rnn_relu", 1), ("rnn_tanh", 1)]:
    for d in ["float32", "float64"]:
        for layers, both in [(1, False), (2, False), (1, True), (2, True)] if d == "float32" else [(2, True)]:
            for op in ["CudnnRNN", "CudnnRNNV2"]:
                ws, bs, params = network(op, d, mode, layers, both, 3, 2, 4, 2)
            for major, lengths in [(True, [4, 4]), (True, [4, 2]), (False, [1, 3])]:
                network("CudnnRNNV3", d, mode, layers, both, 3, 2, 4, 2, major, lengths)
            a = {"rnn_mode": mode, "direction": "bidirectional" if both else "unidirectional"}
            sizes = [("num_layers", np.int32(layers)), ("num_units", np.int32(3)), ("input_size", np.int32(2))]
            n = len(ws)
            case("rnn", "CudnnRNNCanonicalToParams", sizes + [("weights", ws), ("biases", list(bs))], {**a, "num_params": n}, raw=lambda **k: params, elsewhere=True)
            case("rnn", "CudnnRNNCanonicalToParamsV2", sizes + [("weights", ws), ("biases", list(bs))], {**a}, raw=lambda **k: params, elsewhere=True)
            case("rnn", "CudnnRNNParamsToCanonical", sizes + [("params", params)], {**a, "num_params": n}, raw=lambda **k: ws + list(bs), elsewhere=True)
            case("rnn", "CudnnRNNParamsToCanonicalV2", sizes + [("params", params)], {**a, "num_params_weights": n, "num_params_biases": n}, raw=lambda **k: ws + list(bs), elsewhere=True)
            for s in [tf.int32, tf.int64]:
                case("rnn", "CudnnRNNParamsSize", sizes, {**a, "T": tf.as_dtype(d), "S": s}, raw=lambda **k: tf.constant([params.size], k["S"]), elsewhere=True)

for op, ins, a, grads in backward:
    case("rnn", op, ins, a, raw=lambda **k: grads, elsewhere=True)
write()
