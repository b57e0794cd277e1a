"""onnxruntime loads and runs a model, which tf2onnx converts first: ort_infer.py DIR CALLS_OF_1 CALLS_OF_8"""
import os
import sys

import onnxruntime

from common import at_once, batches, serve

folder = sys.argv[1]
path = folder + ".onnx"


def standard(graph):
    """Write Erfc, which the converter leaves as it is and ONNX doesn't have, as 1 - Erf."""
    graph.initializer.append(onnx.helper.make_tensor("erfc/one", onnx.TensorProto.FLOAT, [], [1]))
    nodes = []
    for node in graph.node:
        if node.op_type == "Erfc":
            erf = node.output[0] + "/erf"
            nodes.append(onnx.helper.make_node("Erf", node.input, [erf]))
            node = onnx.helper.make_node("Sub", ["erfc/one", erf], node.output, name=node.name)
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


if not os.path.exists(path):
    import onnx
    import tensorflow as tf
    import tf2onnx
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    model = tf.saved_model.load(folder)
    frozen = convert_variables_to_constants_v2(model.signatures["serving_default"], lower_control_flow=False)
    made, _ = tf2onnx.convert.from_graph_def(
        frozen.graph.as_graph_def(), input_names=[x.name for x in frozen.inputs],
        output_names=[y.name for y in frozen.outputs], opset=17)
    standard(made.graph)
    onnx.save(made, path)
    # A process without TensorFlow is measured.
    os.execv(sys.executable, [sys.executable, *sys.argv])


def load():
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


session = load()
name = session.get_inputs()[0].name
_, inputs = batches(folder)


def calls(x, n):
    def run():
        for _ in range(n):
            session.run(None, {name: x})

    return run


verbs = {str(size): calls(x, int(n)) for (size, x), n in zip(inputs.items(), sys.argv[2:])}
serve({"load": load, "two": at_once(verbs["1"]), **verbs})
