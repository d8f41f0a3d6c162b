"""Convolutional networks in eight bits, as ONNX Runtime's quantizer writes them: QDQ pairs around float operators, or
operators on bytes (QLinearConv and its like). Weights are quantized by output channel, ranges come from random images.
"""

import pathlib
import tempfile

import mobilenetv2
import numpy as np
import onnx
import resnet50
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

SHAPE = (1, 3, 224, 224)


class Images(CalibrationDataReader):
    """A few random images to find ranges with."""

    def __init__(self, count=2):
        random = np.random.default_rng(11)
        self.images = iter([{"input": random.standard_normal(SHAPE, dtype=np.float32)} for _ in range(count)])

    def get_next(self):
        return next(self.images, None)


def quantize(graph, form, activations=QuantType.QUInt8):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder) / "float.onnx", pathlib.Path(folder) / "int8.onnx"
        graph.save(source)
        quantize_static(source, target, Images(), quant_format=form, per_channel=True, weight_type=QuantType.QInt8,
                        activation_type=activations)
        model = onnx.load(target)
    image = np.random.default_rng(7).standard_normal(SHAPE, dtype=np.float32)
    return model, {"input": image}


# Name -> function that returns the model and its inputs by name.
MODELS = {
    "mobilenetv2_qdq": lambda: quantize(mobilenetv2.build(), QuantFormat.QDQ, QuantType.QInt8),
    "mobilenetv2_qoperator": lambda: quantize(mobilenetv2.build(), QuantFormat.QOperator),
    "resnet50_qdq": lambda: quantize(resnet50.build(), QuantFormat.QDQ, QuantType.QInt8),
    "resnet50_qoperator": lambda: quantize(resnet50.build(), QuantFormat.QOperator),
}
