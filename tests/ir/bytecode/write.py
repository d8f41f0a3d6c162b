"""Writes the programs that bytecode_test.c reads: write.py [FOLDER]

Needs the packages jax and jaxlib. Each program is written as text and, by jaxlib, as bytecode: as portable artifacts of
several StableHLO versions (NAME.1.0.0.mlirbc) and as StableHLO itself in several versions of the format
(NAME.b6.mlirbc). The text is what jaxlib reads back from an artifact, so that both say the same.
"""

import io
import pathlib
import sys

import jax
import jax.numpy as jnp
import jaxlib.mlir.ir as ir
import numpy as np
from jax import export, lax
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir.dialects import stablehlo

HERE = pathlib.Path(__file__).parent
VERSIONS = ["0.9.0", "0.14.0", "0.18.0", "1.0.0", "1.5.0", "1.9.0", "1.12.0", "1.17.0"]
FORMATS = [0, 1, 2, 3, 4, 5, 6]


def shape(*dims, dtype=np.float32):
    return jax.ShapeDtypeStruct(dims, dtype)


INT = shape(dtype=np.int32)
PROGRAMS = {
    "mlp": (lambda x,w,v: jnp.tanh(x@w)@v, [shape(4,8),shape(8,16),shape(16,3)]),
    "grad": (jax.grad(lambda x,w: jnp.sum(jax.nn.softmax(x@w)**2),argnums=(0,1)), [shape(4,8),shape(8,5)]),
    "conv": (lambda x,w: lax.conv_general_dilated(x,w,(2,2),'SAME',dimension_numbers=('NHWC','HWIO','NHWC'),rhs_dilation=(1,2)), [shape(1,9,9,3),shape(3,3,3,4)]),
    "pool": (lambda x: lax.reduce_window(x,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID'), [shape(1,8,8,2)]),
    "poolgrad": (jax.grad(lambda x: lax.reduce_window(x,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID').sum()), [shape(1,8,8,2)]),
    "while": (lambda x: lax.while_loop(lambda c: jnp.sum(c[0])<100., lambda c:(c[0]*2,c[1]+1),(x,0)), [shape(4)]),
    "fori": (lambda x: lax.fori_loop(0,5,lambda i,c: c*1.5+i,x), [shape(3)]),
    "scan": (lambda x: lax.scan(lambda c,a:(c+a,c*a),jnp.zeros((3,)),x), [shape(5,3)]),
    "cond": (lambda p,x: lax.cond(p>0,lambda y:y*2,lambda y:jnp.sin(y),x), [shape(dtype=np.int32),shape(4)]),
    "switch": (lambda i,x: lax.switch(i,[lambda y:y+1,lambda y:y*2,lambda y:-y],x), [shape(dtype=np.int32),shape(4)]),
    "sort": (lambda x: lax.sort((x,jnp.arange(10,dtype=jnp.int32)),num_keys=1), [shape(10)]),
    "argmax": (lambda x: jnp.argmax(x,axis=1), [shape(3,7)]),
    "topk": (lambda x: lax.top_k(x,3), [shape(2,10)]),
    "gather": (lambda x,i: x[i], [shape(5,4),shape(3,dtype=np.int32)]),
    "gatherb": (lambda x,i: jnp.take_along_axis(x,i,axis=1), [shape(5,4),shape(5,2,dtype=np.int32)]),
    "scatter": (lambda x,i,u: x.at[i].add(u), [shape(5,4),shape(3,dtype=np.int32),shape(3,4)]),
    "scatterset": (lambda x,i,u: x.at[i].set(u,unique_indices=True), [shape(5),shape(3,dtype=np.int32),shape(3)]),
    "dus": (lambda x,u,i: lax.dynamic_update_slice(x,u,(i,0)), [shape(5,4),shape(2,4),shape(dtype=np.int32)]),
    "ds": (lambda x,i: lax.dynamic_slice(x,(i,0),(2,3)), [shape(5,4),shape(dtype=np.int32)]),
    "complex": (lambda x,y: (lax.complex(x,y)*(1+2j)).real + jnp.abs(lax.complex(x,y)), [shape(4),shape(4)]),
    "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)), [shape(2,16)]),
    "rng": (lambda s: jax.random.uniform(jax.random.key(s),(4,)), [shape(dtype=np.uint32)]),
    "ints": (lambda a,b: (a//b, a%b, a<<1, a>>1, a&b, a|b, a^b, ~a, lax.population_count(a), lax.clz(a)), [shape(6,dtype=np.int32),shape(6,dtype=np.int32)]),
    "uints": (lambda a,b: (a//b, a%b, a>>1), [shape(6,dtype=np.uint8),shape(6,dtype=np.uint8)]),
    "bools": (lambda a,b: jnp.where((a>b)&(a<3),jnp.array([True,False,True,True,False,True,False,False,True,True]),False), [shape(10),shape(10)]),
    "half": (lambda a: (a.astype(jnp.bfloat16)*jnp.bfloat16(1.5)).astype(jnp.float32)+a.astype(jnp.float16).astype(np.float32), [shape(5)]),
    "consts": (lambda a: a+jnp.array(np.arange(12).reshape(3,4),np.float32)*np.float32(2.5)+jnp.ones((3,4)), [shape(3,4)]),
    "pad": (lambda a: lax.pad(a,0.,[(1,2,0),(0,1,1)]), [shape(3,4)]),
    "concat": (lambda a,b: jnp.concatenate([a[::-1],b.T.reshape(2,3)],0)[::2,1:], [shape(3,3),shape(3,2)]),
    "cumsum": (lambda a: (jnp.cumsum(a),jnp.cumprod(a)), [shape(9)]),
    "attn": (lambda q,k,v: jax.nn.softmax(jnp.einsum('bhqd,bhkd->bhqk',q,k)/2.)@v, [shape(1,2,4,8)]*3),
    "norm": (lambda x: (x-x.mean(-1,keepdims=True))*lax.rsqrt(x.var(-1,keepdims=True)+1e-5), [shape(3,8)]),
    "special": (lambda x: (lax.erf(x),lax.lgamma(x+2),jnp.arctan2(x,x+1),jnp.cbrt(x),jnp.log1p(x+2),jnp.expm1(x),jax.nn.gelu(x),lax.nextafter(x,x+1),jnp.round(x),jnp.sign(x)), [shape(7)]),
    "nested": (lambda x: lax.fori_loop(0,3,lambda i,c: lax.cond(i%2==0,lambda y:y+1,lambda y:lax.while_loop(lambda z:z[0]<10,lambda z:z*2,y),c),x), [shape(2)]),
    "selscatter": (lambda x: jax.vmap(lambda y: jnp.sort(y)[-2:])(x), [shape(4,6)]),
    "reduceprec": (lambda x: lax.reduce_precision(x,5,7), [shape(5)]),
    "bitcast": (lambda x: lax.bitcast_convert_type(x,jnp.int32), [shape(5)]),
}


def program(function, arguments):
    """The module of a JAX function, without the places in files that it came from."""
    text = export.export(jax.jit(function))(*arguments).mlir_module()
    with jax_mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=False)


def write(folder, name, text, number):
    context = jax_mlir.make_ir_context()
    with context, ir.Location.unknown():
        # Reading an artifact loads the dialects that StableHLO depends on, among them quant.
        empty = stablehlo.serialize_portable_artifact(ir.Module.parse("module {}"), VERSIONS[-1])
        stablehlo.deserialize_portable_artifact(context, empty)
        module = ir.Module.parse(text)
        artifacts = {}
        for version in VERSIONS if "// plain" not in text else []:
            try:
                artifacts[version] = stablehlo.serialize_portable_artifact(module, version)
            except ValueError:  # what the version does not have yet
                continue
        if artifacts:
            newest = list(artifacts)[-1]
            module = stablehlo.deserialize_portable_artifact(context, artifacts[newest])
            chosen = list(artifacts)[number % len(artifacts)]
            for version in {newest, chosen}:
                (folder / f"{name}.{version}.mlirbc").write_bytes(artifacts[version])
        for version in FORMATS if "// plain" in text else [FORMATS[number % len(FORMATS)]]:
            data = io.BytesIO()
            module.operation.write_bytecode(data, desired_version=version)
            (folder / f"{name}.b{version}.mlirbc").write_bytes(data.getvalue())
        if name != "sharded":  # what is read of it has no shardings
            (folder / f"{name}.mlir").write_text(str(module))


def programs():
    """Texts by name."""
    texts = {name: program(*parts) for name, parts in PROGRAMS.items()}
    return texts | {file.stem: file.read_text() for file in sorted((HERE / "sources").glob("*.mlir"))}


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "files"
    folder.mkdir(exist_ok=True)
    for number, (name, text) in enumerate(programs().items()):
        write(folder, name, text, number)


if __name__ == "__main__":
    main()
