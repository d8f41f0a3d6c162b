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


class Quantized:
    """A network in eight bits; save() makes it and writes it."""

    def __init__(self, network, form, activations):
        self.network, self.form, self.activations = network, form, activations

    def save(self, path):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "float.onnx"
            self.network.build().save(source)
            quantize_static(source, path, Images(), quant_format=self.form, per_channel=True,
                            weight_type=QuantType.QInt8, activation_type=self.activations)
        onnx.checker.check_model(onnx.load(path))


BUILDERS = {
    "mobilenetv2_qdq": lambda: Quantized(mobilenetv2, QuantFormat.QDQ, QuantType.QInt8),
    "mobilenetv2_qoperator": lambda: Quantized(mobilenetv2, QuantFormat.QOperator, QuantType.QUInt8),
    "resnet50_qdq": lambda: Quantized(resnet50, QuantFormat.QDQ, QuantType.QInt8),
    "resnet50_qoperator": lambda: Quantized(resnet50, QuantFormat.QOperator, QuantType.QUInt8),
}
