"""Strings: what makes them, what moves them, what maps them to numbers and back."""

import numpy as np
from onnx import TensorProto, helper

from case import case, chosen, const, f32, given, graph_case, ints, nodes, texts, words

WORDS = [["two", "words", ""], ["naïve", "中文", "Zoë 🙂"]]
LIST = ["b", "a", "", "ab", "b", "aa", "abc", "a"]
ML = {"domain": "ai.onnx.ml"}


def strings(op, label, *operands, **options):
    case(op, f"strings-{label}" if label else "strings", *operands, **{"reference": True, **options})


strings("Equal", "broadcast", texts(WORDS), words(["two", "中文", ""]), opset=19)
strings("StringConcat", "broadcast", texts(WORDS), texts([["-"], ["longer"]]), opset=20)
strings("StringConcat", "constant", texts(["a", "bc", ""]), words("!"), opset=20)
strings("Identity", "", texts(WORDS))
#
# Elements are moved
strings("Concat", "", texts(WORDS), words([["a string that is longer than all others", "", "x"]]), axis=0)
strings("Gather", "", texts(WORDS), const([2, -3], np.int64), axis=-1)
strings("GatherND", "", texts(WORDS), const([[1, 1], [0, 0]], np.int64))
strings("Slice", "", texts(WORDS), ints(2), ints(-4), ints(-1), ints(-1))
strings("Transpose", "", texts(WORDS))
strings("Reshape", "", texts(WORDS), given([-1, 2], np.int64), dynamic=True)
strings("Tile", "", texts(WORDS), ints(1, 2))
strings("Expand", "", texts([["a"], ["bc"]]), ints(2, 2, 3))
strings("Where", "", given([[True], [False]], bool), texts(WORDS), words("other"))
strings("Split", "", texts(LIST), ints(3, 5), results=2)
strings("Compress", "", texts(LIST), given([False, True] * 4, bool), dynamic=True)
strings("ScatterElements", "", texts(WORDS), const([[0], [2]], np.int64), texts([["changed"], ["too"]]), axis=1)
strings("Pad", "", texts(["ab", "c"]), ints(1, 2), words("pad"))
strings("Shape", "", texts(WORDS))
strings("Unique", "", texts(LIST), results=4, dynamic=True)
strings("Unique", "in-order", texts(LIST), results=4, dynamic=True, sorted=0)
#
# Numbers
NUMBERS = ["3.25", " -17", "+INF", "-inf", "nan", "1e-5", "6.02214076E23", ".5", "0000123.4500", "-0", "1e400", "2.5e-324",
           "123456789012345678901234", "7."]
for to in (TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16):
    strings("Cast", f"to-{to}", texts(NUMBERS[:7] if to == TensorProto.FLOAT16 else NUMBERS), to=to)
strings("Cast", "checked", chosen("t", object), to=TensorProto.FLOAT, sizes=[
    {"t": ["1", "2.5 "]}, {"t": ["1", "2.5e"], "stops": "a string is not a number"}, {"t": ["", "1"], "stops": "not a number"}])
strings("Cast", "to-integers", texts([["12", "-9223372036854775808"], ["9223372036854775807", "+0"]]), to=TensorProto.INT64)
strings("Cast", "from-floats", given([[3.14159, 1e10, 1e-7, 0.1, 1 / 3, np.inf, -np.inf, np.nan], [
    100, 123456789, 16777216, -0.0, -0.00012345678, 99999999.0, 9.9999999e-5, 3e-45]]), reference=False, to=TensorProto.STRING)
strings("Cast", "from-doubles", given([2.5e-308, -1.7e308, 1 / 7, 12345678.4999], np.float64), reference=False,
        to=TensorProto.STRING)
strings("Cast", "from-integers", given([0, -1, 10, -(2**63), 2**63 - 1], np.int64), reference=False, to=TensorProto.STRING)
strings("Cast", "from-unsigned", given([0, 9, 2**64 - 1], np.uint64), reference=False, to=TensorProto.STRING)
strings("Cast", "from-booleans", given([True, False], bool), reference=False, to=TensorProto.STRING)
#
# Strings of their own
strings("StringSplit", "overlapping", texts(["aaaab", "baaa", "", "x"]), opset=20, results=2, dynamic=True, delimiter="aa")
strings("StringSplit", "border", texts(["xabababy", "abab", "aba"]), opset=20, results=2, dynamic=True, delimiter="aba")
strings("StringSplit", "most", texts([["a--b--c", "--", "a-b"]]), opset=20, results=2, dynamic=True, delimiter="--",
        maxsplit=1)
strings("StringSplit", "words", texts(["", " \t ", "a\u3000b  c ", "d"]), opset=20, results=2, dynamic=True, maxsplit=1)
strings("StringNormalizer", "lower", texts(["straße", "ЖЯ", "ΩmΣa"]), case_change_action="LOWER")
strings("StringNormalizer", "upper", texts(["жя", "ωmσ1"]), case_change_action="UPPER")
strings("StringNormalizer", "none-left", texts(["Ж", "ж"]), case_change_action="UPPER", stopwords=["ж"], dynamic=True)
strings("StringNormalizer", "words", texts(["Ab", "aB", "ba"]), stopwords=["ab"], case_change_action="LOWER", dynamic=True)
PATTERNS = {
    "classes": (r"[[:alpha:]_]\w*(\.\d+)?|[^a-y]{2}", ["a1", "_", "x.", "x.25", "1a", "zz", "ab!", "zy", "中文"]),
    "edges": (r"(?i)^the\b.*\bend$", ["The end", "the bend", "THE\nend", "the END", "theend"]),
    "lines": (r"(?ms:a$.^b)|(?:\x41|\x{4e2d}){2,3}?", ["a\nb", "ab", "A中", "中中中中", "AAA", "A"]),
    "quoted": (r"\Qa.b*\E+(|c)\B!", ["a.b*!", "a.b**!", "a.b*c!", "axb!"]),
}
for name, (pattern, values) in PATTERNS.items():
    strings("RegexFullMatch", name, texts(values), opset=20, pattern=pattern, reference=False)
#
# Maps
strings("LabelEncoder", "to-strings", given([1, 5, 2, 9], np.int64), **ML, domain_version=4, keys_int64s=[1, 2, 2, 5],
        values_strings=["one", "never", "two", "fünf"], default_string="?")
strings("LabelEncoder", "both", texts(WORDS), **ML, domain_version=4, keys_strings=["two", "中文"],
        values_strings=["2", "Chinese"])
strings("LabelEncoder", "to-floats", texts(LIST), **ML, domain_version=4, keys_strings=["a", "b"], values_floats=[1.5, 2.5])
strings("CategoryMapper", "to-numbers", texts(LIST), **ML, reference=False, cats_strings=["a", "b"], cats_int64s=[7, 8],
        default_int64=-5)
strings("CategoryMapper", "to-strings", given([8, 7, 3], np.int64), **ML, reference=False, cats_strings=["a", "long"],
        cats_int64s=[7, 8], default_string="none")
strings("OneHotEncoder", "", texts(["a", "c", "b"]), **ML, cats_strings=["a", "b", "c"])
strings("TfIdfVectorizer", "", texts([["a", "b", "a", "c"], ["c", "c", "a", "x"]]), mode="TF", min_gram_length=1,
        max_gram_length=2, max_skip_count=1, ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4],
        pool_strings=["a", "b", "c", "a", "b", "c", "a"], reference=False)
strings("LinearClassifier", "", given([[1, 2], [3, -4]]), **ML, reference=False, results=2, coefficients=[1.0, 0, 0, 1, -1, 1],
        intercepts=[0.0, 0.5, 0], classlabels_strings=["left", "right", "up"])
strings("TreeEnsembleClassifier", "", f32(4, 2), **ML, reference=False, results=2, nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2], nodes_featureids=[1, 0, 0], nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.25, 0.0, 0.0], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], class_treeids=[0] * 4,
        class_nodeids=[1, 1, 2, 2], class_ids=[0, 1, 1, 2], class_weights=[1.0, 0.5, 0.25, 2.0],
        classlabels_strings=["low", "middle", "hoch über"])
strings("SVMClassifier", "", f32(3, 2), **ML, reference=False, results=2, kernel_type="LINEAR", coefficients=[1.0, -1, 0.5, -0.5],
        support_vectors=[1.0, 0, 0, 1, 1, 1, -1, 0], vectors_per_class=[2, 2], rho=[0.1], classlabels_strings=["no", "yes"],
        kernel_params=[0.0, 0.0, 0.0])
#
# Control flow and sequences


def branches(case):
    join = helper.make_graph([helper.make_node("StringConcat", ["x1", "x1"], ["t"])], "then", [],
                             [helper.make_tensor_value_info("t", TensorProto.STRING, None)])
    keep = helper.make_graph([helper.make_node("Identity", ["x1"], ["e"])], "else", [],
                             [helper.make_tensor_value_info("e", TensorProto.STRING, None)])
    return [helper.make_node("If", ["x0"], ["y0"], then_branch=join, else_branch=keep)]


def rounds(case):
    body = helper.make_graph(
        [helper.make_node("StringConcat", ["s", "x2"], ["t"]), helper.make_node("Identity", ["c"], ["d"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("c", TensorProto.BOOL, []),
         helper.make_tensor_value_info("s", TensorProto.STRING, None)],
        [helper.make_tensor_value_info("d", TensorProto.BOOL, []), helper.make_tensor_value_info("t", TensorProto.STRING, None)])
    return [helper.make_node("Loop", ["x0", "", "x1"], ["y0"], body=body)]


def steps(case):
    """Collects strings that grow with every step."""
    body = helper.make_graph([helper.make_node("StringConcat", ["s", "e"], ["t"]), helper.make_node("Identity", ["t"], ["u"])],
                             "body", [helper.make_tensor_value_info(name, TensorProto.STRING, [2]) for name in "se"],
                             [helper.make_tensor_value_info(name, TensorProto.STRING, [2]) for name in "tu"])
    return [helper.make_node("Scan", ["x0", "x1"], ["y0", "y1"], body=body, num_scan_inputs=1)]


def join_each(case):
    """A sequence whose length is known at run time only."""
    body = helper.make_graph([helper.make_node("StringConcat", ["a", "b"], ["c"])], "body",
                             [helper.make_tensor_value_info(name, TensorProto.STRING, None) for name in "ab"],
                             [helper.make_tensor_value_info("c", TensorProto.STRING, None)])
    return [helper.make_node("SplitToSequence", ["x0", "x1"], ["s"]), helper.make_node("SequenceMap", ["s", "x2"], ["t"], body=body),
            helper.make_node("ConcatFromSequence", ["t"], ["y0"], axis=0)]


graph_case("Strings-if", branches, given(True, bool), texts(LIST), opset=20, reference=True, dynamic=True)
graph_case("Strings-if-not", branches, given(False, bool), texts(LIST), opset=20, reference=True, dynamic=True)
graph_case("Strings-loop", rounds, given(3, np.int64), texts(["a", "bc"]), texts(["-", "+x"]), opset=20, dynamic=True)
graph_case("Strings-steps", steps, texts(["", "x"]), texts([["a", "bc"], ["", "d"], ["e", "f"]]), opset=20, reference=True,
           results=2)
graph_case("Strings-map", join_each, texts(LIST), given(3, np.int64), texts(["!"]), opset=20, reference=True, dynamic=True)
graph_case("Strings-sequence", nodes(("SequenceConstruct", "x0 x1", "s", {}), ("SequenceInsert", "s x0 x2", "t", {}),
                                     ("ConcatFromSequence", "t", "y0", {"axis": 0})),
           texts(["a", "bc"]), texts(["a longer one"]), given(1, np.int64), reference=True, dynamic=True)
graph_case("Strings-parts", nodes(("SplitToSequence", "x0 x1", "s", {"axis": -1}), ("SequenceAt", "s x2", "y0", {})),
           texts([LIST, LIST[::-1]]), given(3, np.int64), given(-1, np.int64), reference=True, dynamic=True)
