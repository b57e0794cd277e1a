"""TensorFlow runs ops one by one, on one thread: tf_ops.py DIR

It first writes the ops as signatures of a SavedModel, their inputs and TensorFlow's
results, as TensorProtos. A request is a signature and the number of its calls; the answer is
the CPU time of these calls, of all threads."""
import os
import sys
import time

import numpy as np
import tensorflow as tf
import tf_keras

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
folder = sys.argv[1]
rng = np.random.default_rng(0)
raw = tf.raw_ops
module = tf.Module()
ops = {}


def op(name, function, *inputs):
    inputs = [tf.convert_to_tensor(x) for x in inputs]
    names = [f"x{i}" for i in range(len(inputs))]

    def call(*args):
        outputs = tf.nest.flatten(function(*args))
        return {f"y{i}": y for i, y in enumerate(outputs)}

    specs = [tf.TensorSpec(x.shape, x.dtype, name) for x, name in zip(inputs, names)]
    ops[name] = tf.function(call, input_signature=specs).get_concrete_function(), dict(zip(names, inputs))


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def symmetric(n):
    x = normal(n, n)
    return x + x.T


def positive(n):
    x = normal(n, n)
    return x @ x.T / n + np.eye(n, dtype=np.float32)


def near(n):
    """A matrix whose functions are well-conditioned."""
    return np.eye(n, dtype=np.float32) + normal(n, n) / (4 * np.sqrt(n).astype(np.float32))


op("eigh100", tf.linalg.eigh, symmetric(100))
op("eigh8", tf.linalg.eigh, np.stack([symmetric(8) for _ in range(64)]))
op("svd100", tf.linalg.svd, normal(100, 100))
op("svd300", tf.linalg.svd, normal(300, 300))
op("inv100", tf.linalg.inv, near(100))
op("inv300", tf.linalg.inv, near(300))
op("slogdet100", tf.linalg.slogdet, near(100))
op("det8", tf.linalg.det, np.stack([near(8) for _ in range(256)]))
op("solve100", tf.linalg.solve, near(100), normal(100, 10))
op("qr100", tf.linalg.qr, normal(100, 100))
op("cholesky100", tf.linalg.cholesky, positive(100))
op("cholesky300", tf.linalg.cholesky, positive(300))
op("triangular200", tf.linalg.triangular_solve, np.tril(near(200)), normal(200, 200))
op("lu100", tf.linalg.lu, near(100))
op("expm64", tf.linalg.expm, near(64))
op("logm32", tf.linalg.logm, near(32).astype(np.complex64))
op("sqrtm32", tf.linalg.sqrtm, near(32))
op("inv100c", tf.linalg.inv, (near(100) + 1j * near(100)).astype(np.complex64))
op("eigh50c", tf.linalg.eigh, (lambda x: x + x.conj().T)((normal(50, 50) + 1j * normal(50, 50)).astype(np.complex64)))
for half in (tf.float16, tf.bfloat16):
    kind = half.name
    op("softmax_" + kind, tf.nn.softmax, tf.cast(normal(256, 1000), half))
    op("mean_" + kind, lambda x: tf.reduce_mean(x, 1), tf.cast(normal(256, 1000), half))
    op("sum_" + kind, lambda x: tf.reduce_sum(x, 0), tf.cast(normal(256, 1000), half))
    op("conv_" + kind, lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), tf.cast(normal(1, 32, 32, 32), half), tf.cast(normal(3, 3, 32, 64), half))
    op("matmul_" + kind, tf.matmul, tf.cast(normal(256, 256), half), tf.cast(normal(256, 256), half))
words = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyzABCDEF"), rng.integers(2, 10))) for _ in range(5000)]
texts = [" ".join(rng.choice(words, 12)) + "! <br />It's 20%" for _ in range(2000)]
op("regex_replace", lambda x: tf.strings.regex_replace(x, r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']", ""), texts)
op("regex_words", lambda x: tf.strings.regex_replace(x, r"(\w+) (\w+)", r"\2 \1"), texts)
op("lower", tf.strings.lower, texts)
op("lower_utf8", lambda x: tf.strings.lower(x, encoding="utf-8"), texts)
op("split", lambda x: tf.strings.split(x).flat_values, texts)
op("hash_fast", lambda x: tf.strings.to_hash_bucket_fast(x, 1000), words)
op("hash_strong", lambda x: tf.strings.to_hash_bucket_strong(x, 1000, [1, 2]), words)
op("hash_legacy", lambda x: tf.strings.to_hash_bucket(x, 1000), words)
op("as_string_int", tf.strings.as_string, rng.integers(-10**6, 10**6, 10000))
op("as_string_float", tf.strings.as_string, normal(10000))
module.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
    tf.constant(sorted(set(words))), tf.range(len(set(words)), dtype=tf.int64)), -1)
op("lookup", module.table.lookup, words)
module.vectorize = tf_keras.layers.TextVectorization(max_tokens=4000, output_sequence_length=16)
module.vectorize.adapt(tf.constant(texts))
op("vectorize", module.vectorize, texts)
op("stft", lambda x: tf.signal.stft(x, 400, 160, 512), normal(1, 16000))
op("fft", tf.signal.fft, (normal(64, 1000) + 1j * normal(64, 1000)).astype(np.complex64))
op("grouped", lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), normal(4, 32, 32, 64), normal(3, 3, 8, 64))
op("sort", tf.sort, normal(64, 4096))
op("top_k", lambda x: tf.math.top_k(x, 10), normal(64, 4096))
op("argsort", tf.argsort, normal(64, 4096))
op("conv3d_transpose", lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 16, 16, 16, 8], 2), normal(1, 8, 8, 8, 16), normal(3, 3, 3, 8, 16))


def write():
    tf.saved_model.save(module, folder, {name: f for name, (f, _) in ops.items()})
    tensors = os.path.join(folder, "tensors")
    os.makedirs(tensors, exist_ok=True)
    for name, (f, inputs) in ops.items():
        for key, value in {**inputs, **f(**inputs)}.items():
            with open(os.path.join(tensors, f"{name}.{key}.pb"), "wb") as file:
                file.write(tf.io.serialize_tensor(value).numpy())


write()
print("ready", flush=True)
for line in sys.stdin:
    name, count = line.split()
    f, inputs = ops[name]
    begin = time.process_time()
    for _ in range(int(count)):
        y = f(**inputs)
    next(iter(y.values())).numpy()
    print(time.process_time() - begin, flush=True)
