"""Operators of ai.onnx.ml that work on numbers, and TfIdfVectorizer."""

import numpy as np
from onnx import numpy_helper

from case import case, f32, given, i32, i64

BATCH = [{"n": 1}, {"n": 37}]


def ml(op, label, *operands, version=3, **options):
    case(op, label, *operands, domain="ai.onnx.ml", domain_version=version, **options)


def tensor(values, dtype):
    return numpy_helper.from_array(np.array(values, dtype), "values")


ml("ArrayFeatureExtractor", "vector", f32(7), given([5, 0, 5], np.int64))
ml("ArrayFeatureExtractor", "rows", f32("n", 7), given([[3, 1]], np.int64), sizes=BATCH)
ml("Binarizer", "", f32("n", 5), threshold=0.25, sizes=BATCH)
ml("LabelEncoder", "ints", i64("n", 3, low=0, high=6), version=2, keys_int64s=[4, 0, 2], values_floats=[0.5, 1.5, -2.0],
   default_float=9.0, sizes=BATCH)
ml("LabelEncoder", "floats", given([1.0, np.nan, 2.0, 7.5]), version=4, keys_floats=[2.0, 1.0, np.nan],
   values_int64s=[20, 10, 99])
ml("LabelEncoder", "tensors", i32(4, 3, low=0, high=5), version=4, keys_tensor=tensor([1, 3], np.int32),
   values_tensor=tensor([10, 30], np.int16), default_tensor=tensor([-7], np.int16), reference=True)


# Two trees over three features: a root whose false way is a second node, and a root with two leaves.
def forest(label, dtype=np.float32, **options):
    ml("TreeEnsemble", label, f32("n", 3), version=5, sizes=BATCH, n_targets=2, tree_roots=[0, 2],
       nodes_featureids=[0, 2, 1], nodes_splits=tensor([0.1, -0.3, 0.5], dtype), nodes_modes=tensor([0, 3, 1], np.uint8),
       nodes_truenodeids=[0, 1, 3], nodes_trueleafs=[1, 1, 1], nodes_falsenodeids=[1, 2, 4], nodes_falseleafs=[0, 1, 1],
       leaf_targetids=[0, 1, 0, 1, 0], leaf_weights=tensor([1, 2.5, -3, 4, 0.5], dtype), **options)


for number, name in enumerate(["average", "sum"]):
    forest(name, aggregate_function=number)
forest("missing", nodes_missing_value_tracks_true=[1, 0, 1])

POOL = {"pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], "ngram_counts": [0, 4], "ngram_indexes": [3, 1, 2, 0, 4, 6, 5]}
for mode in ("TF", "IDF", "TFIDF"):
    case("TfIdfVectorizer", mode.lower(), i64("n", 12, low=2, high=9), mode=mode, min_gram_length=1, max_gram_length=2,
         max_skip_count=2, weights=[0.5, 1.0, 2.0, 3.0, 0.25, 1.5, 4.0], sizes=BATCH, **POOL)
case("TfIdfVectorizer", "short", i32(1, low=2, high=9), mode="TF", min_gram_length=2, max_gram_length=2,
     max_skip_count=0, **POOL)
