"""Writes the benchmark models: make.py NAME...|all -o DIR

Layer shapes are those of the well-known networks; weights are random with a fixed seed, so a file is the same on every
machine. A file newer than the generators is left alone.
"""

import argparse
import importlib
import pathlib
import sys

NAMES = ["mlp", "mobilenetv2", "resnet50", "bert", "vit"]
HALVES = ["mobilenetv2_f16", "resnet50_f16", "bert_f16", "gpt2_f16"]
# Small ones, by the file that has their generators.
FAMILIES = ["regnet", "regnet_wide", "shufflenet", "mobilenet_v3", "squeezenet", "encodec", "wav2vec2", "whisper",
            "unet", "video", "weights_given", "channels_last"]
NETWORKS = ["densenet", "inception", "yolo", "resnext", "convnext", "vgg", "wavenet", "generator", "superresolution",
            "diffusion"]
STABLEHLO = ["mobile_last", "residual_last", "sound_last"]  # as text too, beside
RECURRENT = ["lstm_128", "lstm_512", "lstm_256_batch16", "lstm_256_both", "gru_128", "gru_512", "gru_256_batch16",
             "gru_256_both"]
QUANTIZED = ["mobilenetv2_qdq", "mobilenetv2_qoperator", "resnet50_qdq", "resnet50_qoperator"]
DYNAMIC = [*(f"{name}_batch" for name in
             ("regnet", "shufflenet", "mobilenet_v3", "squeezenet", "unet", "video", "channels_last", "encodec",
              "wavenet", "densenet", "inception", "resnext", "generator", "superresolution", "rnn", "lstm", "gru",
              "convnext", "efficientnet", "vit", "swin", "speech", "detector", "image")),
           "rnn_steps", "lstm_steps", "lstm_open", "lstm_open_both", "gru_steps", "gru_open", "gru_open_both",
           "text_tokens", "text_open", "tcn_open", "speech_frames",
           *(f"{name}_image" for name in
             ("efficientnet", "detector", "conv", "strided", "point", "odd", "grouped", "depthwise",
              "depthwise_strided", "transposed", "max_pool", "average_pool")),
           "image_open", "conv_samples", "depthwise_samples"]  # sizes that only the caller knows
STEMS = {name: stem for stem, names in (("families", FAMILIES), ("networks", NETWORKS), ("stablehlo", STABLEHLO),
                                         ("recurrent", RECURRENT), ("quantized", QUANTIZED),
                                         ("dynamic", DYNAMIC), ("halves", HALVES)) for name in names}
HERE = pathlib.Path(__file__).resolve().parent


def write(name, folder):
    """Writes folder/NAME.onnx unless it is there and newer than its generator; returns its path."""
    path = pathlib.Path(folder) / f"{name}.onnx"
    stem = STEMS.get(name, name)
    newest = max((HERE / f"{part}.py").stat().st_mtime for part in (stem, "graph"))
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        module = importlib.import_module(stem)
        (module.BUILDERS[name] if name in STEMS else module.build)().save(partial)
        partial.rename(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=[*NAMES, *STEMS, "all"])
    parser.add_argument("-o", dest="folder", default=".", help="where to write (default: here)")
    arguments = parser.parse_args()
    for name in [*NAMES, *STEMS] if "all" in arguments.names else arguments.names:
        print(write(name, arguments.folder))


sys.path.insert(0, str(HERE))
if __name__ == "__main__":
    main()
