"""ONNX models as MLIR: python -m iree.compiler.tools.import_onnx model.onnx -o model.mlir"""
