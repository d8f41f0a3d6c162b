"""Operators of ai.onnx.ml that work on numbers, TfIdfVectorizer and MaxRoiPool."""

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

# Models of numbers, against ONNX Runtime.
ml("Scaler", "columns", f32("n", 3), offset=[0.5, -1.0, 0.0], scale=[2.0, 0.5, 1.0], sizes=BATCH)
ml("Scaler", "ints", i64(4, 2), offset=[0.5], scale=[2.0])
for norm in ("MAX", "L1", "L2"):
    ml("Normalizer", norm.lower(), f32("n", 5, low=0.1), norm=norm, sizes=BATCH)
ml("Imputer", "nan", given([[np.nan, 1, 2], [3, np.nan, np.nan]]), imputed_value_floats=[7.0, 8.0, 9.0],
   replaced_value_float=float("nan"))
ml("Imputer", "ints", given([[0, 1], [2, 0]], np.int64), imputed_value_int64s=[5], replaced_value_int64=0)
ml("FeatureVectorizer", "", f32(4, 2), f32(4, 3), inputdimensions=[2, 3])
ml("OneHotEncoder", "", i64("n", 2, low=0, high=4), cats_int64s=[1, 3, 0], zeros=1, sizes=BATCH)
LINE = {"coefficients": [0.5, -1.0, 2.0, 1.5, 0.25, -0.75], "intercepts": [0.1, -0.2]}
ml("LinearRegressor", "", f32("n", 3), targets=2, sizes=BATCH, **LINE)
for post in ("NONE", "LOGISTIC", "SOFTMAX"):
    ml("LinearClassifier", post.lower(), f32("n", 3), results=2, classlabels_ints=[4, 9], post_transform=post, multi_class=0,
       sizes=BATCH, **LINE)
ml("LinearClassifier", "binary", f32("n", 3), results=2, classlabels_ints=[0, 1], post_transform="LOGISTIC",
   coefficients=[0.5, -1.0, 2.0], intercepts=[0.1], sizes=BATCH, reference=True)
ml("ZipMap", "", f32("n", 3), classlabels_int64s=[-4, 0, 9], sizes=BATCH)
ml("ZipMap", "names", f32("n", 2), classlabels_strings=["ant", "bee"], sizes=BATCH)
VECTORS = [0.5, -1.0, 0.25, 1.0, 0.75, -0.5]
for kernel, params in (("LINEAR", [0.0, 0.0, 0.0]), ("RBF", [0.7, 0.0, 3.0]), ("POLY", [0.5, 1.0, 2.0]),
                       ("SIGMOID", [0.3, 0.2, 3.0])):
    ml("SVMRegressor", kernel.lower(), f32("n", 3), kernel_type=kernel, kernel_params=params, n_supports=2,
       coefficients=[1.5, -0.5], rho=[0.25], support_vectors=VECTORS, sizes=BATCH)

# Support vectors of two, three and four classes.
for classes, counts in ((2, [3, 2]), (3, [2, 3, 1]), (4, [1, 2, 2, 2])):
    random = np.random.default_rng(classes)
    vectors, pairs = sum(counts), classes * (classes - 1) // 2
    machine = {"support_vectors": random.uniform(-2, 2, vectors * 3).tolist(), "vectors_per_class": counts,
               "coefficients": random.uniform(-2, 2, (classes - 1) * vectors).tolist(),
               "rho": random.uniform(-0.2, 0.2, pairs).tolist(), "classlabels_ints": [10, 20, 30, 40][:classes],
               "kernel_params": [0.5, 0.25, 3.0]}
    likely = {"prob_a": random.uniform(-2, -1, pairs).tolist(), "prob_b": random.uniform(-0.5, 0.5, pairs).tolist()}
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        ml("SVMClassifier", f"{classes}-{kernel.lower()}", f32("n", 3), kernel_type=kernel, results=2, sizes=BATCH,
           tolerance=2e-4, **machine)
    for post in ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"):
        ml("SVMClassifier", f"{classes}-likely-{post.lower()}", f32("n", 3), kernel_type="RBF", results=2, sizes=BATCH,
           tolerance=2e-4, post_transform=post, **machine, **likely)
ml("SVMClassifier", "line", f32("n", 3), results=2, sizes=BATCH, kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0],
   coefficients=[0.5, -1.0, 2.0, 1.0, 2.0, 3.0, -1.0, 2.0, -2.0], rho=[0.1], classlabels_ints=[3, 2, 7])
ml("SVMRegressor", "one-class", f32(9, 3), kernel_type="RBF", kernel_params=[0.7, 0.0, 3.0], n_supports=2,
   coefficients=[1.5, -0.5], rho=[-0.2], support_vectors=VECTORS, one_class=1)

# Two trees: a root with a leaf and a second node; a root with two leaves.
NODES = {"nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
         "nodes_featureids": [0, 0, 2, 0, 0, 1, 0, 0], "nodes_values": [0.1, 0.0, -0.3, 0.0, 0.0, 0.5, 0.0, 0.0],
         "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_GT", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"],
         "nodes_truenodeids": [1, 0, 3, 0, 0, 1, 0, 0], "nodes_falsenodeids": [2, 0, 4, 0, 0, 2, 0, 0],
         "nodes_missing_value_tracks_true": [0] * 8, "nodes_hitrates": [1.0] * 8}
LEAVES = ([0, 0, 0, 1, 1], [1, 3, 4, 1, 2])


def leaves(side, ids, values):
    return {f"{side}_treeids": LEAVES[0], f"{side}_nodeids": LEAVES[1], f"{side}_ids": ids, f"{side}_weights": values}


for how in ("SUM", "AVERAGE", "MIN", "MAX"):
    ml("TreeEnsembleRegressor", how.lower(), f32("n", 3), aggregate_function=how, n_targets=1, sizes=BATCH,
       base_values=[0.5], **NODES, **leaves("target", [0] * 5, [1.0, 2.5, -3.0, 4.0, 0.5]))
TWICE = leaves("target", [0] * 5, [0.0, 2.5, -3.0, 4.0, 0.5])
ml("TreeEnsembleRegressor", "repeated", f32("n", 3), n_targets=1, sizes=BATCH, **NODES,
   **{name: [*values, *values[::-1]] if name == "target_weights" else values * 2 for name, values in TWICE.items()})
ml("TreeEnsembleRegressor", "targets", f32(20, 3), n_targets=2, **NODES,
   **leaves("target", [0, 1, 0, 1, 0], [1.0, 2.5, -3.0, 4.0, 0.5]))
for post in ("NONE", "SOFTMAX", "LOGISTIC"):
    ml("TreeEnsembleClassifier", post.lower(), f32("n", 3), results=2, classlabels_int64s=[2, 5, 7], post_transform=post,
       sizes=BATCH, **NODES, **leaves("class", [0, 1, 2, 1, 0], [0.5, 0.25, 1.0, 0.5, 0.75]))
ml("TreeEnsembleClassifier", "binary", f32(30, 3), results=2, classlabels_int64s=[0, 1], post_transform="LOGISTIC", **NODES,
   **leaves("class", [0] * 5, [0.5, -0.25, 1.0, -0.9, 0.75]))
ml("TreeEnsembleClassifier", "shares", f32(30, 3), results=2, classlabels_int64s=[3, 8], post_transform="NONE", **NODES,
   **leaves("class", [0] * 5, [0.5, 0.25, 0.1, 0.4, 0.05]))

BOXES = [[0, 0, 0, 6, 4], [1, 2, 1, 3.6, 8], [0, -2, -3, 1, 1], [1, 5, 5, 5, 5], [0, 20, 20, 30, 30]]
case("MaxRoiPool", "", f32(2, 3, 9, 7), given(BOXES), pooled_shape=[3, 2])
case("MaxRoiPool", "scaled", f32(2, 3, 9, 7), given(BOXES), pooled_shape=[2, 4], spatial_scale=0.5)
