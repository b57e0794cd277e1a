"""Writes chunked.json: the fingerprints that TensorFlow computes of models in chunks.

    CAIRN_CHUNKED=DIR go test ./internal/fingerprint -run InChunks
    TF_CPP_MIN_LOG_LEVEL=3 python gen_chunked.py DIR
"""
import json
import os
import sys

from tensorflow.core.protobuf import fingerprint_pb2
from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting

fields = ["saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash", "checkpoint_hash"]
result = {}
for name in sorted(os.listdir(sys.argv[1])):
    p = fingerprint_pb2.FingerprintDef.FromString(fingerprinting.CreateFingerprintDef(os.path.join(sys.argv[1], name)))
    result[name] = {k: str(getattr(p, k)) for k in fields}
    result[name]["producer"] = str(p.version.producer)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "chunked.json"), "w") as f:
    json.dump(result, f, indent=1)
    f.write("\n")
