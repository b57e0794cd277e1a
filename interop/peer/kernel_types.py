"""Writes which element types TensorFlow's CPU kernels take.

    python kernel_types.py FILE

FILE becomes a JSON object: for each op that has a plain CPU kernel, one object a
registration, which maps the attributes that name element types to the types
that the registration takes. Attributes that it doesn't constrain are left out.
"""

import json
import sys

from tensorflow.python.framework import dtypes, kernels

found = {}
for k in kernels.get_all_registered_kernels().kernel:
    if k.device_type in ("CPU", "DEFAULT") and not k.label:
        found.setdefault(k.op, []).append({c.name: [dtypes.as_dtype(d).name for d in c.allowed_values.list.type] for c in k.constraint})
with open(sys.argv[1], "w") as f:
    json.dump(found, f)
