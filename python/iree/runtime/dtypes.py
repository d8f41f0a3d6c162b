"""Element types of the runtime as NumPy's. Types that NumPy lacks are those of ml_dtypes, where that is installed."""

import dataclasses

import numpy as np

from .enums import HalElementType as E

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# (NumPy's name, element type that arrays become, others that become such arrays, MLIR's name)
_NUMPY = [
    ("bool", E.BOOL_8, [], "i1"),
    ("int8", E.SINT_8, [E.INT_8], "i8"),
    ("int16", E.SINT_16, [E.INT_16], "i16"),
    ("int32", E.SINT_32, [E.INT_32], "i32"),
    ("int64", E.SINT_64, [E.INT_64], "i64"),
    ("uint8", E.UINT_8, [E.OPAQUE_8], "ui8"),
    ("uint16", E.UINT_16, [E.OPAQUE_16], "ui16"),
    ("uint32", E.UINT_32, [E.OPAQUE_32], "ui32"),
    ("uint64", E.UINT_64, [E.OPAQUE_64], "ui64"),
    ("float16", E.FLOAT_16, [], "f16"),
    ("float32", E.FLOAT_32, [], "f32"),
    ("float64", E.FLOAT_64, [], "f64"),
    ("complex64", E.COMPLEX_FLOAT_64, [], "complex<f32>"),
    ("complex128", E.COMPLEX_FLOAT_128, [], "complex<f64>"),
]
_ML = [
    ("bfloat16", E.BFLOAT_16, [], "bf16"),
    ("float8_e5m2", E.FLOAT_8_E5M2, [], "f8E5M2"),
    ("float8_e4m3fn", E.FLOAT_8_E4M3_FN, [], "f8E4M3FN"),
    ("float8_e5m2fnuz", E.FLOAT_8_E5M2_FNUZ, [], "f8E5M2FNUZ"),
    ("float8_e4m3fnuz", E.FLOAT_8_E4M3_FNUZ, [], "f8E4M3FNUZ"),
    ("float8_e8m0fnu", E.FLOAT_8_E8M0_FNU, [], "f8E8M0FNU"),
    ("float8_e3m4", E.FLOAT_8_E3M4, [], "f8E3M4"),
    ("float8_e4m3", E.FLOAT_8_E4M3, [], "f8E4M3"),
    ("float8_e4m3b11fnuz", E.FLOAT_8_E4M3_B11_FNUZ, [], "f8E4M3B11FNUZ"),
    ("float6_e3m2fn", E.FLOAT_6_E3M2_FN, [], "f6E3M2FN"),
    ("float6_e2m3fn", E.FLOAT_6_E2M3_FN, [], "f6E2M3FN"),
    ("float4_e2m1fn", E.FLOAT_4_E2M1_FN, [], "f4E2M1FN"),
    ("int4", E.INT_4, [E.SINT_4], "i4"),
    ("uint4", E.UINT_4, [], "ui4"),
    ("int2", 0x10000002, [0x11000002], "i2"),  # no name of theirs
    ("uint2", 0x12000002, [], "ui2"),
]

_dtypes, _element_types, _mlir = {}, {}, {}


def _add(dtype, element_type, others, name):
    _element_types[dtype] = element_type
    _mlir[name] = dtype
    for each in [element_type, *others]:
        _dtypes[int(each)] = dtype


for _name, *_rest in _NUMPY:
    _add(np.dtype(_name), *_rest)
for _name, *_rest in _ML if ml_dtypes else []:
    if hasattr(ml_dtypes, _name):
        _add(np.dtype(getattr(ml_dtypes, _name)), *_rest)
for _name, _signed in (("si8", "int8"), ("si16", "int16"), ("si32", "int32"), ("si64", "int64")):
    _mlir[_name] = np.dtype(_signed)


def to_dtype(element_type):
    """NumPy's type of an element type. TypeError when there is none."""
    try:
        return _dtypes[int(element_type)]
    except KeyError:
        hint = "" if ml_dtypes else "; the package ml_dtypes has more types"
        raise TypeError(f"NumPy has no type for elements of type {int(element_type):#x}{hint}") from None


def to_element_type(dtype):
    """The element type that arrays of NumPy's type become. TypeError when there is none."""
    try:
        return _element_types[np.dtype(dtype)]
    except KeyError:
        raise TypeError(f"devices have no elements of type {np.dtype(dtype)}") from None


def of_mlir(name):
    """NumPy's type of MLIR's name (`f32`), or None."""
    return _mlir.get(name)


#
# The same as records, by IREE's names
#


@dataclasses.dataclass(frozen=True)
class DTypeInfo:
    """A type of NumPy's: its name, that of signless MLIR types (uint8: i8), and the element type of its arrays."""

    dtype: np.dtype
    name: str
    abi_type: str
    hal_type: E

    is_complex = property(lambda self: self.dtype.kind == "c")
    is_floating_point = property(lambda self: self.dtype.kind == "f")
    is_integer = property(lambda self: self.dtype.kind in "iu")
    is_signed = property(lambda self: self.dtype.kind == "i")


_INFOS = {name: DTypeInfo(np.dtype(name), name, mlir.removeprefix("u"), element_type)
          for name, element_type, _, mlir in _NUMPY}
DTYPE_TO_ABI_TYPE = {info.dtype: info.abi_type for info in _INFOS.values()}


def map_name_to_dtype_info(name):
    """The DTypeInfo of a type's name. KeyError when there is none."""
    return _INFOS[name]


def map_dtype_to_dtype_info(dtype):
    """The DTypeInfo of a type of NumPy's own. KeyError for others."""
    return _INFOS[np.dtype(dtype).name]


def map_abi_type_to_dtype_info(abi_type):
    """The DTypeInfo of a signless MLIR type, whose integers are taken as signed. KeyError when there is none."""
    for info in _INFOS.values():
        if info.abi_type == abi_type and info.dtype.kind != "u":
            return info
    raise KeyError(abi_type)


def map_dtype_to_hal_element_type(dtype):
    """The element type of a type of NumPy's or of ml_dtypes', or None."""
    try:
        return _element_types.get(np.dtype(dtype))
    except TypeError:
        return None


def pack(array, bits):
    """Elements of less than a byte as the runtime has them: side by side from the lowest bit on."""
    codes = np.unpackbits(array.reshape(-1, 1).view(np.uint8), axis=1, count=bits, bitorder="little")
    return np.packbits(codes, bitorder="little")


def unpack(data, dtype, bits, count):
    """The inverse of pack; signed integers get their sign."""
    codes = np.unpackbits(data, bitorder="little")[:count * bits].reshape(count, bits)
    codes = np.packbits(codes, axis=1, bitorder="little").reshape(-1)
    if dtype.name.startswith("int"):
        sign = 1 << (bits - 1)
        codes = (codes.astype(np.int16) ^ sign) - sign
        codes = codes.astype(np.int8).view(np.uint8)
    return codes.view(dtype)


def _map_to_dtype(element_type):
    return to_dtype(element_type)


def _dense_byte_count(element_type):
    return (int(element_type) % 256 + 7) // 8


def _is_byte_aligned(element_type):
    return int(element_type) % 8 == 0


E.map_to_dtype = staticmethod(_map_to_dtype)
E.dense_byte_count = staticmethod(_dense_byte_count)
E.is_byte_aligned = staticmethod(_is_byte_aligned)
