"""Writes the fixtures of Fourier transforms and of sounds.

    TF_CPP_MIN_LOG_LEVEL=3 CUDA_VISIBLE_DEVICES= python gen_signal.py
"""
import struct

import numpy as np
import tensorflow as tf

from recorder import *


def signal(op, inputs, attrs=None, **kw):
    case("signal", op, inputs, attrs, **kw)


i32 = lambda *v: np.array(v, np.int32)
for r, rank in enumerate(["", "2D", "3D"]):
    shapes = [[(8,), (2, 5), (1,), (12,), (0, 3), (74,)], [(4, 6), (2, 3, 5), (1, 1)], [(2, 3, 4), (2, 2, 1, 5)]][r]
    for d in C:
        for op in ["FFT", "IFFT"]:
            for shape in shapes:
                signal(op + rank, [("input", rand(d, shape))])
    for op in ["FFT", "IFFT"]:
        signal("Batch" + op + rank, [("input", rand("complex64", shapes[0]))], elsewhere=True, raw=getattr(tf.raw_ops, op + rank))
    lengths = [[(8,), (5,), (1,), (12,), (6,)], [(4, 6), (3, 5), (2, 4)], [(2, 3, 4), (1, 2, 5)]][r]
    for real, d in [("float32", "complex64"), ("float64", "complex128")]:
        for n in lengths:
            for more in (0, 2):
                s = (2,) + tuple(k + more for k in n)
                signal("RFFT" + rank, [("input", rand(real, s)), ("fft_length", i32(*n))], {"Tcomplex": tf.as_dtype(d)})
                s = s[:-1] + (n[-1] // 2 + 1 + more,)
                signal("IRFFT" + rank, [("input", rand(d, s)), ("fft_length", i32(*n))], {"Treal": tf.as_dtype(real)})

for shape, window, stride in [((40, 1), 16, 8), ((50, 2), 12, 5), ((9, 1), 16, 4)]:
    for squared in (False, True):
        signal("AudioSpectrogram", [("input", rand("float32", shape, -1, 1))], {"window_size": window, "stride": stride, "magnitude_squared": squared})
signal("Mfcc", [("spectrogram", rand("float32", (1, 2, 257), 0, 5)), ("sample_rate", np.int32(16000))])
signal("Mfcc", [("spectrogram", rand("float32", (2, 1, 65), 0, 5)), ("sample_rate", np.int32(8000))],
       {"upper_frequency_limit": 3800.0, "lower_frequency_limit": 100.0, "filterbank_channel_count": 20, "dct_coefficient_count": 7})


def wav(channels, rate, samples, extra=b"", fmt=b""):
    data = struct.pack("<%dh" % len(samples), *samples)
    f = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16) + fmt
    body = b"WAVEfmt " + struct.pack("<I", len(f)) + f + extra + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


mono, stereo = [0, 1, -1, 32767, -32768, 1234], [1, 2, 3, 4, 5, 6]
for attrs in [{}, {"desired_samples": 3}, {"desired_samples": 9}, {"desired_channels": 2}, {"desired_channels": 1, "desired_samples": 2}]:
    signal("DecodeWav", [("contents", one(wav(1, 16000, mono)))], attrs)
    signal("DecodeWav", [("contents", one(wav(2, 44100, stereo, b"LIST" + struct.pack("<I", 4) + b"abcd", b"\0\0")))], attrs)
signal("DecodeWav", [("contents", one(wav(2, 8000, stereo)))], {"desired_channels": 3})
signal("EncodeWav", [("audio", np.array([[0, 0.5], [-0.25, 1], [-1, 2], [-3, 1e-5], [0.00002, -0.00002]], np.float32)), ("sample_rate", np.int32(22050))])
signal("EncodeWav", [("audio", rand("float32", (6, 1), -1, 1)), ("sample_rate", np.int32(16000))])
signal("EncodeWav", [("audio", np.zeros((0, 1), np.float32)), ("sample_rate", np.int32(16000))])

write()
