"""Graphs as exporters write them for models with dynamic axes: shape arithmetic, masks, caches, heads of detectors."""

import ast

import numpy as np
from onnx import helper, numpy_helper

from case import Random, Shapeless, bools, f32, given, graph_case, i64, weights


def literal(text):
    """[1, -1] is a vector of i64, 3 a number of i64, 2.5 one of f32."""
    value = ast.literal_eval(text)
    kind = np.float32 if isinstance(value, float) or (isinstance(value, list) and isinstance(value[0], float)) else np.int64
    return numpy_helper.from_array(np.array(value, kind))


def program(text):
    """Builds nodes from lines `results = Op operands attribute=value`; operands are names or numbers."""

    def build(case_):
        nodes = []
        for number, line in enumerate(text.strip().splitlines()):
            results, _, rest = line.partition(" = ")
            op, *words = rest.split()
            names, attributes = [], {}
            for word in words:
                key, _, value = word.partition("=")
                if value:
                    attributes[key] = ast.literal_eval(value)
                elif word[0] in "[-0123456789":
                    names.append(f"c{number}_{len(names)}")
                    nodes.append(helper.make_node("Constant", [], [names[-1]], value=literal(word)))
                else:
                    names.append("" if word == "_" else word)
            nodes.append(helper.make_node(op, names, results.strip().split(","), **attributes))
        return nodes

    return build


def exported(name, text, *operands, sizes, **options):
    graph_case(f"export-{name}", program(text), *operands, sizes=sizes, **options)


TOKENS = [{"b": 1, "s": 1}, {"b": 2, "s": 7}, {"b": 5, "s": 33}]
exported("padding-mask", """
m = Cast x0 to=1
wide = Unsqueeze m [1,2]
off = Sub 1.0 wide
bias = Mul off -10000.0
scores = MatMul x1 x2
masked = Add scores bias
p = Softmax masked axis=-1
y0 = MatMul p x3
""", i64("b", "s", low=0, high=2), f32("b", 2, "s", 4), f32("b", 2, 4, "s"), f32("b", 2, "s", 4), sizes=TOKENS)
GRID = """
shape = Shape x0
n = Gather shape 2
at = Range 0 n 1
row = Unsqueeze at [1]
column = Unsqueeze at [0]"""  # places of pairs of tokens
exported("causal-mask", GRID + """
seen = LessOrEqual column row
t = Transpose x0 perm=[0,1,3,2]
scores = MatMul x0 t
masked = Where seen scores -1e9
p = Softmax masked axis=-1
y0 = MatMul p x0
""", f32("b", 2, "s", 4), sizes=TOKENS)
exported("causal-buffer", """
k = Concat x1 x2 axis=2
kshape = Shape k
qshape = Shape x0
all = Gather kshape [2]
new = Gather qshape [2]
past = Sub all new
rows = Slice x3 past all [2]
seen = Slice rows [0] all [3]
t = Transpose k perm=[0,1,3,2]
scores = MatMul x0 t
masked = Where seen scores -1e9
p = Softmax masked axis=-1
y0 = MatMul p k
y1 = Identity k
""", f32("b", 2, "s", 4), f32("b", 2, "past", 4), f32("b", 2, "s", 4), given(np.tril(np.ones((1, 1, 64, 64), bool)), bool),
         results=2, sizes=[{"b": 1, "s": 1, "past": 5}, {"b": 2, "s": 3, "past": 0}, {"b": 2, "s": 4, "past": 20}])
exported("trilu-mask", """
shape = Shape x0
n = Gather shape [1]
square = Concat n n axis=0
ones = ConstantOfShape square
low = Trilu ones upper=1
off = Add low 1.0
m = Trilu off 1
wide = Unsqueeze m [0]
y0 = Sub x0 wide
""", f32("b", "s", "s"), sizes=TOKENS)
exported("heads", """
shape = Shape x0
b = Gather shape 0
s = Gather shape 1
b1 = Unsqueeze b [0]
s1 = Unsqueeze s [0]
apart = Concat b1 s1 [4] [-1] axis=0
q = Reshape x0 apart
t = Transpose q perm=[0,2,1,3]
k = Transpose q perm=[0,2,3,1]
scores = MatMul t k
p = Softmax scores axis=-1
o = MatMul p t
back = Transpose o perm=[0,2,1,3]
whole = Concat b1 s1 [-1] axis=0
y0 = Reshape back whole
""", f32("b", "s", 12), sizes=TOKENS)
exported("expand-minus-one", """
shape = Shape x1
n = Gather shape 0
n1 = Unsqueeze n [0]
wanted = Concat n1 [-1] [-1] axis=0
r = Shape wanted
ones = ConstantOfShape r
one = Cast ones to=7
all = Add one 1
minus = Mul all -1
same = Equal wanted minus
sizes = Where same all wanted
y0 = Expand x0 sizes
""", f32(1, "s", 3), f32("b", 2), sizes=TOKENS)
exported("fpn", """
shape = Shape x1
to = Slice shape [2] [4] [0]
own = Shape x0
front = Slice own [0] [2] [0]
sizes = Concat front to axis=0
up = Resize x0 _ _ sizes mode='nearest' coordinate_transformation_mode='asymmetric' nearest_mode='floor'
y0 = Add up x1
""", f32("n", 3, "h", "w"), f32("n", 3, "p", "q"),
         sizes=[{"n": 1, "h": 2, "w": 3, "p": 4, "q": 6}, {"n": 2, "h": 3, "w": 1, "p": 7, "q": 4},
                {"n": 1, "h": 5, "w": 5, "p": 5, "q": 5}])
exported("resize-ratio", """
shape = Shape x0
hw = Slice shape [2] [4] [0]
f = Cast hw to=1
least = ReduceMin f keepdims=0
ratio = Div 8.0 least
r = Unsqueeze ratio [0]
scales = Concat [1.0,1.0] r r axis=0
y0 = Resize x0 _ scales mode='linear' coordinate_transformation_mode='half_pixel'
""", f32("n", 2, "h", "w"), sizes=[{"n": 1, "h": 4, "w": 6}, {"n": 2, "h": 16, "w": 12}, {"n": 1, "h": 8, "w": 9}],
         tolerance=1e-4)
BOXES = f32("b", "n", 4, low=0, high=4)
exported("nms", """
kept = NonMaxSuppression x0 x1 5 0.5 0.1 center_point_box=1
image = Gather kept 0 axis=1
class = Gather kept 1 axis=1
box = Gather kept 2 axis=1
i1 = Unsqueeze image [1]
b1 = Unsqueeze box [1]
at = Concat i1 b1 axis=1
boxes = GatherND x0 at
scores = GatherND x1 kept
s1 = Unsqueeze scores [1]
c = Cast class to=1
c1 = Unsqueeze c [1]
y0 = Concat boxes s1 c1 axis=1
""", BOXES, Random(np.float32, ("b", 3, "n"), 0, 1), sizes=[{"b": 1, "n": 1}, {"b": 2, "n": 9}, {"b": 1, "n": 40}])
exported("proposals", """
shape = Shape x0
n = Gather shape [1]
few = Concat n [6] axis=0
k = ReduceMin few keepdims=1
best,at = TopK x0 k axis=1
at3 = Unsqueeze at [2]
kk = Concat [1,1] [4] axis=0
wide = Expand at3 kk
y0 = GatherElements x1 wide axis=1
y1 = Sigmoid best
""", f32("b", "n"), BOXES, results=2, sizes=[{"b": 1, "n": 3}, {"b": 2, "n": 9}, {"b": 1, "n": 40}])
exported("roi-levels", """
w = Slice x1 [2] [4] [1]
o = Slice x1 [0] [2] [1]
size = Sub w o
area = ReduceProd size axes=[1] keepdims=0
large = Greater area 4.0
many = Cast large to=7
small = Sub 1 many
zeros = Mul many 0
one = NonZero many
two = NonZero small
first = Squeeze one [0]
second = Squeeze two [0]
b1 = Gather x1 first
b2 = Gather x1 second
i1 = Gather zeros first
i2 = Gather zeros second
f1 = RoiAlign x0 b1 i1 output_height=2 output_width=2 sampling_ratio=2
f2 = RoiAlign x0 b2 i2 output_height=2 output_width=2 sampling_ratio=1
f = Concat f1 f2 axis=0
order = Concat first second axis=0
shape = Shape f
empty = ConstantOfShape shape
o1 = Unsqueeze order [1]
y0 = ScatterND empty o1 f
""", f32(1, 2, "h", 6), f32("n", 4, low=0, high=6), opset=16, sizes=[{"h": 5, "n": 1}, {"h": 8, "n": 7}, {"h": 6, "n": 20}])
exported("anchors", """
shape = Shape x0
h = Gather shape 2
w = Gather shape 3
ys = Range 0 h 1
xs = Range 0 w 1
y1 = Mul ys 16
x1_ = Mul xs 16
yr = Reshape y1 [-1,1]
xr = Reshape x1_ [1,-1]
h1 = Unsqueeze h [0]
w1 = Unsqueeze w [0]
grid = Concat h1 w1 axis=0
ye = Expand yr grid
xe = Expand xr grid
yf = Reshape ye [-1]
xf = Reshape xe [-1]
yu = Unsqueeze yf [1]
xu = Unsqueeze xf [1]
shifts = Concat xu yu xu yu axis=1
sf = Cast shifts to=1
a = Unsqueeze sf [1]
b = Unsqueeze x1 [0]
both = Add a b
y0 = Reshape both [-1,4]
""", f32("n", 2, "h", "w"), weights(3, 4), sizes=[{"n": 1, "h": 1, "w": 2}, {"n": 1, "h": 5, "w": 3}, {"n": 2, "h": 7, "w": 7}])
exported("pad-to-multiple", """
shape = Shape x0
hw = Slice shape [2] [4] [0]
up = Add hw 7
parts = Div up 8
whole = Mul parts 8
more = Sub whole hw
pads = Concat [0,0,0,0,0,0] more axis=0
wide = Pad x0 pads 0.5
pooled = MaxPool wide kernel_shape=[8,8] strides=[8,8]
back = Slice wide [0,0] hw [2,3]
y0 = Identity pooled
y1 = Identity back
""", f32("n", 2, "h", "w"), results=2, sizes=[{"n": 1, "h": 5, "w": 8}, {"n": 2, "h": 17, "w": 9}, {"n": 1, "h": 16, "w": 24}])
exported("windows", """
shape = Shape x0
b = Gather shape [0]
h = Gather shape [1]
w = Gather shape [2]
hp = Div h 2
wp = Div w 2
tail = Slice x0 [1] [9223372036854775807] [1]
head = Slice x0 [0] [1] [1]
rolled = Concat tail head axis=1
apart = Concat b hp [2] wp [2] [3] axis=0
v = Reshape rolled apart
t = Transpose v perm=[0,1,3,2,4,5]
rows = Reshape t [-1,4,3]
y = Softmax rows axis=1
again = Concat b hp wp [2,2] [-1] axis=0
u = Reshape y again
tt = Transpose u perm=[0,1,3,2,4,5]
y0 = Reshape tt shape
""", f32("n", "h", "w", 3), sizes=[{"n": 1, "h": 2, "w": 2}, {"n": 2, "h": 4, "w": 6}, {"n": 1, "h": 8, "w": 2}])
exported("position-grid", """
shape = Shape x0
hw = Slice shape [2] [4] [0]
to = Div hw 4
table = Reshape x1 [1,3,3,8]
t = Transpose table perm=[0,3,1,2]
sizes = Concat [1,8] to axis=0
grid = Resize t _ _ sizes mode='cubic' coordinate_transformation_mode='half_pixel' cubic_coeff_a=-0.75
flat = Reshape grid [1,8,-1]
rows = Transpose flat perm=[0,2,1]
patches = Conv x0 x2 strides=[4,4]
p = Reshape patches [0,8,-1]
q = Transpose p perm=[0,2,1]
y0 = Add q rows
""", f32("n", 3, "h", "w"), weights(1, 9, 8), weights(8, 3, 4, 4), tolerance=1e-4,
         sizes=[{"n": 1, "h": 4, "w": 8}, {"n": 2, "h": 12, "w": 12}, {"n": 1, "h": 20, "w": 8}])
exported("mean-pool", """
m = Unsqueeze x1 [2]
shape = Shape x0
wide = Expand m shape
f = Cast wide to=1
kept = Mul x0 f
sum = ReduceSum kept [1] keepdims=0
count = ReduceSum f [1] keepdims=0
safe = Clip count 1e-9
mean = Div sum safe
norm = ReduceL2 mean axes=[1] keepdims=1
n = Clip norm 1e-12
ns = Shape mean
nw = Expand n ns
y0 = Div mean nw
""", f32("b", "s", 6), i64("b", "s", low=0, high=2), sizes=TOKENS)
exported("lstm", """
shape = Shape x0
b = Gather shape 0
b1 = Unsqueeze b [0]
state = Concat [1] b1 [5] axis=0
zeros = ConstantOfShape state
t = Transpose x0 perm=[1,0,2]
all,h,c = LSTM t x1 x2 x3 _ zeros zeros hidden_size=5
flat = Squeeze all [1]
y0 = Transpose flat perm=[1,0,2]
y1 = Gather h 0
""", f32("b", "s", 3), weights(1, 20, 3), weights(1, 20, 5), weights(1, 40), results=2, sizes=TOKENS)
exported("position-ids", """
m = Cast x0 to=7
sum = CumSum m 1
at = Sub sum 1
none = Equal m 0
ids = Where none 1 at
y0 = Gather x1 ids
""", i64("b", "s", low=0, high=2), weights(40, 4), sizes=TOKENS)
exported("rotary", """
shape = Shape x0
s = Gather shape 2
d = Gather shape [3]
half = Div d 2
past = Shape x2 start=2 end=3
p0 = Squeeze past [0]
end = Add p0 s
at = Range p0 end 1
f = Cast at to=1
column = Unsqueeze f [1]
row = Unsqueeze x1 [0]
angle = Mul column row
both = Concat angle angle axis=-1
c = Cos both
si = Sin both
front = Slice x0 [0] half [3]
rest = Slice x0 half [9223372036854775807] [3]
neg = Neg rest
turned = Concat neg front axis=-1
a = Mul x0 c
b = Mul turned si
k = Add a b
y0 = Concat x2 k axis=2
""", f32("b", 2, "s", 6), weights(3), f32("b", 2, "p", 6), tolerance=1e-4,
         sizes=[{"b": 1, "s": 1, "p": 4}, {"b": 2, "s": 5, "p": 0}, {"b": 1, "s": 3, "p": 9}])
exported("relative-bias", GRID + """
by = Sub column row
far = Abs by
after = Greater by 0
side = Cast after to=7
first = Mul side 8
near = Less far 4
safe = Max far 1
f = Cast safe to=1
q = Div f 4.0
l = Log q
scaled = Mul l 2.5
whole = Cast scaled to=7
big = Add whole 4
most = Min big 7
small = Where near far most
bucket = Add first small
bias = Gather x1 bucket
t = Transpose bias perm=[2,0,1]
wide = Unsqueeze t [0]
y0 = Add x0 wide
""", f32("b", 3, "s", "s"), weights(16, 3), sizes=TOKENS)
exported("unfold", """
shape = Shape x0
h = Gather shape 2
last = Sub h 2
at = Range 0 last 2
row = Unsqueeze at [0]
taps = Unsqueeze [0,1,2] [1]
places = Add row taps
cut = Gather x0 places axis=2
y0 = ReduceMax cut axes=[2] keepdims=0
""", f32("n", 2, "h", 5), sizes=[{"n": 1, "h": 3}, {"n": 2, "h": 8}, {"n": 1, "h": 21}])
exported("chunks", """
shape = Shape x0
n = Gather shape [1]
more = Add n 2
part = Div more 3
twice = Mul part 2
a = Slice x0 [0] part [1]
b = Slice x0 part twice [1]
c = Slice x0 twice n [1]
sa = ReduceSum a [1] keepdims=0
sb = ReduceSum b [1] keepdims=0
sc = ReduceSum c [1] keepdims=0
y0 = Concat sa sb sc axis=1
""", f32("b", "s", 4), sizes=[{"b": 1, "s": 3}, {"b": 2, "s": 7}, {"b": 5, "s": 33}])
exported("masked-scatter", """
where = NonZero x1
places = Transpose where perm=[1,0]
s = Shape places
n = Gather s [0]
rows = Concat n [3] axis=0
v = Expand x2 rows
y0 = ScatterND x0 places v
""", f32("b", "s", 3), bools("b", "s"), weights(1, 3), sizes=TOKENS)
exported("skip", """
up = ConvTranspose x0 x2 strides=[2,2]
shape = Shape x1
hw = Slice shape [2] [4] [0]
cut = Slice up [0,0] hw [2,3]
both = Concat cut x1 axis=1
y0 = Conv both x3 pads=[1,1,1,1]
""", f32("n", 3, "h", "w"), f32("n", 2, "p", "q"), weights(3, 4, 2, 2), weights(5, 6, 3, 3), tolerance=1e-4,
         sizes=[{"n": 1, "h": 2, "w": 3, "p": 4, "q": 6}, {"n": 2, "h": 4, "w": 3, "p": 7, "q": 5},
                {"n": 1, "h": 9, "w": 9, "p": 17, "q": 18}])
exported("group-norm", """
apart = Reshape x0 [0,2,-1]
n = InstanceNormalization apart x1 x2 epsilon=1e-5
shape = Shape x0
y = Reshape n shape
scaled = Mul y x3
y0 = Add scaled x3
""", f32("n", 6, "h", "w"), weights(2), weights(2), weights(6, 1, 1), tolerance=1e-3,
         sizes=[{"n": 1, "h": 2, "w": 3}, {"n": 2, "h": 4, "w": 1}, {"n": 3, "h": 9, "w": 9}])
exported("repeat-kv", """
shape = Shape x1
b = Gather shape [0]
s = Gather shape [2]
wide = Concat b [2,3] s [4] axis=0
k5 = Unsqueeze x1 [2]
ke = Expand k5 wide
flat = Concat b [6] s [4] axis=0
k = Reshape ke flat
scores = Einsum x0 k equation='bhqd,bhkd->bhqk'
p = Softmax scores axis=-1
y0 = Einsum p k equation='bhqk,bhkd->bqhd'
""", f32("b", 6, "q", 4), f32("b", 2, "s", 4), tolerance=1e-4,
         sizes=[{"b": 1, "s": 1, "q": 1}, {"b": 2, "s": 7, "q": 3}, {"b": 1, "s": 33, "q": 8}])

# Bounds of slices that are sizes of other tensors, within the dimension and behind its end; differences of sizes that
# are negative count from the end.
PARTS = [{"n": 3, "m": 5}, {"n": 9, "m": 5}, {"n": 4, "m": 1}, {"n": 2, "m": 0}]
CUT = """
shape = Shape x1
n = Gather shape [0]
front = Slice x0 [0] n [0]
tail = Slice x0 n [99] [0]
two = Sub n [7]
end = Slice x0 two [99] [0]
apart = Slice x0 [0] n [0] [2]
all = Concat front tail end apart axis=0
y0 = Mul all all
"""
exported("slice-sizes", CUT, f32("m", 3), f32("n"), sizes=PARTS)
exported("slice-sizes-table", CUT, weights(6, 3), f32("n"), sizes=PARTS)
exported("mask-table", """
shape = Shape x0
n = Gather shape [2]
part = Slice x2 [0] n [3]
rows = Slice part [0] n [2]
t = Transpose x0 perm=[0,1,3,2]
scores = MatMul x0 t
masked = Add scores rows
p = Softmax masked axis=-1
y0 = MatMul p x1
""", f32("b", 2, "s", 4), f32("b", 2, "s", 4), weights(1, 1, 8, 8), sizes=[
    {"b": 1, "s": 3}, {"b": 2, "s": 8}, {"b": 1, "s": 9, "stops": "must"}])
exported("mask-table-expand", """
shape = Shape x0
n = Gather shape [2]
b = Gather shape [0]
part = Slice x1 [0] n [3]
rows = Slice part [0] n [2]
to = Concat b [1] n n axis=0
wide = Expand rows to
t = Transpose x0 perm=[0,1,3,2]
scores = MatMul x0 t
y0 = Add scores wide
""", f32("b", 2, "s", 4), weights(1, 1, 8, 8), sizes=[
    {"b": 1, "s": 3}, {"b": 2, "s": 8}, {"b": 1, "s": 9, "stops": "'onnx.Expand'"}])
exported("squeeze-open", """
v = Squeeze x0
w = Relu v
y0 = Transpose w perm=[1,0]
""", f32("a", "b", "c"), sizes=[{"a": 2, "b": 1, "c": 3}, {"a": 1, "b": 4, "c": 2},
                               {"a": 2, "b": 2, "c": 2, "stops": "the result must have rank 2"}])
exported("squeeze-elements", """
v = Squeeze x0
w = Mul v 2.0
all = Reshape w [-1]
sum = ReduceSum v keepdims=0
y0 = Add all sum
""", f32("a", "b"), sizes=[{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 3, "b": 2}])
# An input of no declared shape: the convolution has weights of four dimensions.
exported("input-open", """
a = Relu x0
y0 = Conv a x1
""", Shapeless(f32(1, 3, 5, "w")), weights(4, 3, 2, 2), sizes=[{"w": 5}, {"w": 2}])
