"""Cases of run_assembly.py: code, targets, and what it must give."""

import random
import re
import struct

import numpy as np

# Last word of a buffer's descriptor: raw, 32 bits.
RAW = {**dict.fromkeys(["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"], 0x00027000),
       **dict.fromkeys(["gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201"], 0x30016000)}
IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9
SINGLES = 2048  # from here on the input holds f32 from -3 to 3
ANY = None      # a word of the results that may be anything

KINDS = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"]
ALL, NO_FLOAT, WIDE = KINDS, KINDS[:6], KINDS[4:]
# Formats and their kinds; what gfx11 and gfx12 have left of them, where that is less.
FORMATS = [("8", NO_FLOAT, None), ("16", ALL, None), ("8_8", NO_FLOAT, None), ("32", WIDE, None), ("16_16", ALL, None),
           ("10_11_11", ALL, ["FLOAT"]), ("11_11_10", ALL, ["FLOAT"]),
           ("10_10_10_2", NO_FLOAT, ["UNORM", "SNORM", "UINT", "SINT"]), ("2_10_10_10", NO_FLOAT, None),
           ("8_8_8_8", NO_FLOAT, None), ("32_32", WIDE, None), ("16_16_16_16", ALL, None), ("32_32_32", WIDE, None),
           ("32_32_32_32", WIDE, None)]


def input_values(size):
    source = random.Random(7)
    singles = np.array([source.uniform(-3, 3) for _ in range((size - SINGLES) // 4)], np.float32)
    singles[5::16] *= np.float32(1e-5)
    return source.randbytes(SINGLES) + singles.tobytes()


def word_at(values, at):
    return struct.unpack_from("<I", values, at)[0] if 0 <= at <= len(values) - 4 else 0


class Case:
    """`code` and `expect` may be functions: of the target; of target, lanes, input and output."""

    def __init__(self, name, targets, code, expect, waves=1, groups=1):
        self.name, self.targets, self.text, self.result = name, targets, code, expect
        self.waves, self.groups = waves, groups

    def lanes(self, lanes):
        """Work-items of a workgroup, and of all."""
        return lanes * self.waves, lanes * self.waves * self.groups

    def is_for(self, target):
        return re.fullmatch(self.targets, target) is not None

    def code(self, target):
        return self.text(target) if callable(self.text) else self.text

    def expect(self, target, lanes, values, out):
        return self.result(target, lanes, values, out)


def is_newer(target):
    return target.startswith(("gfx11", "gfx12"))


def bits_of(format_name):
    """Bits of x, y, z, w."""
    return [int(bits) for bits in format_name.split("_")][::-1]


def bytes_of(format_name):
    return sum(bits_of(format_name)) // 8


def single(value):
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32))


def half(value):
    with np.errstate(over="ignore"):
        return int(np.float16(value).view(np.uint16))


def float_of(bits, count):
    if count == 32:
        return float(np.uint32(bits).view(np.float32))
    return float(np.uint16(bits if count == 16 else bits << (15 - count)).view(np.float16))


def signed(bits, count):
    return bits - (1 << count) if bits >> (count - 1) & 1 else bits


def component(bits, count, kind, to_half):
    """A component as it is loaded into a register."""
    if kind in ("UINT", "SINT"):
        value = signed(bits, count) if kind == "SINT" else bits
        return value & (0xffff if to_half else 0xffffffff)
    if kind == "FLOAT":
        value = float_of(bits, count)
        if count == 32 and not to_half:
            return bits
        if value != value:
            return ANY
    elif kind in ("UNORM", "USCALED"):
        value = bits / ((1 << count) - 1) if kind == "UNORM" else bits
    else:
        value = signed(bits, count)
        value = max(value / ((1 << (count - 1)) - 1), -1.0) if kind == "SNORM" else value
    return half(value) if to_half else single(value)


def stored(word, count, kind, of_half):
    """Bits of a component that is stored from a register."""
    if kind in ("UINT", "SINT"):
        if of_half and kind == "SINT":
            word = signed(word & 0xffff, 16)
        return word & ((1 << count) - 1)
    value = float(np.uint16(word & 0xffff).view(np.float16)) if of_half else float(np.uint32(word).view(np.float32))
    if kind == "FLOAT":
        if count == 32:
            return single(value)
        if count == 16:
            return half(value)
        # Without a sign; rounded to a number of 5 bits of exponent and count - 5 of mantissa.
        if value <= 0:
            return 0
        scaled = [(abs(float_of(bits, count) - value), bits & 1, bits) for bits in range(31 << (count - 5))]
        return min(scaled)[2]
    sign = kind in ("SNORM", "SSCALED")
    most = (1 << (count - sign)) - 1
    least = (-most - (kind == "SSCALED")) if sign else 0
    value = value * most if kind.endswith("NORM") else value
    return int(np.rint(min(max(value, least), most))) & ((1 << count) - 1)


def unpack(data, format_name, kind, to_half=False, select=(4, 5, 6, 7)):
    """The four components of an element, or of what is outside of a buffer where `data` is None."""
    one = {True: 1, False: half(1) if to_half else single(1)}[kind in ("UINT", "SINT")]
    element, values = int.from_bytes(data or b"", "little"), []
    for bits in bits_of(format_name):
        values.append(component(element & ((1 << bits) - 1), bits, kind, to_half))
        element >>= bits
    values += [0, 0, 0, one][len(values):]
    if data is None:
        values = [0, 0, 0, 0]
    return [{0: 0, 1: one}[which] if which < 2 else values[which - 4] for which in select]


def spelled(target, format_name, kind):
    if target.startswith("gfx9"):
        return f"format:[BUF_DATA_FORMAT_{format_name},BUF_NUM_FORMAT_{kind}]"
    return f"format:[BUF_FMT_{format_name}_{kind}]"


def targets_of(kind, newer):
    return "gfx.*" if newer is None or kind in newer else "gfx9.*|gfx10.*"


def typed_load(format_name, kind, newer):
    size = bytes_of(format_name)

    def code(target):
        return f"""v_mul_u32_u24 v1, {size}, v0
  tbuffer_load_format_xyzw v[10:13], v1, s[8:11], 0 {spelled(target, format_name, kind)} offen offset:16"""

    def expect(target, lanes, values, out):
        return [unpack(values[16 + size * lane:16 + size * lane + size], format_name, kind) for lane in range(lanes)]

    return Case(f"typed_load_{format_name}_{kind.lower()}", targets_of(kind, newer), code, expect)


def typed_load_half(format_name, kind, newer):
    size = bytes_of(format_name)

    def code(target):
        name = "tbuffer_load_d16_format_xyzw" if is_newer(target) else "tbuffer_load_format_d16_xyzw"
        return f"""v_mul_u32_u24 v1, {size}, v0
  {name} v[10:11], v1, s[8:11], 0 {spelled(target, format_name, kind)} offen offset:{SINGLES}"""

    def expect(target, lanes, values, out):
        results = []
        for lane in range(lanes):
            at = SINGLES + size * lane
            x, y, z, w = unpack(values[at:at + size], format_name, kind, True)
            results.append([ANY if ANY in (x, y) else x | y << 16, ANY if ANY in (z, w) else z | w << 16, 0, 0])
        return results

    return Case(f"typed_load_d16_{format_name}_{kind.lower()}", targets_of(kind, newer), code, expect)


def typed_store(format_name, kind, newer, of_half=False):
    size = bytes_of(format_name)

    def code(target):
        name = "tbuffer_store_format_xyzw v[20:23]"
        if of_half:
            name = f"tbuffer_store_{'d16_format' if is_newer(target) else 'format_d16'}_xyzw v[20:21]"
        return f"""v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[20:23], v1, s[8:11], 0 offen offset:{SINGLES}
  WAIT_LOAD
  {HALVES if of_half else ''}
  v_lshlrev_b32 v1, 4, v0
  {name}, v1, s[12:15], 0 {spelled(target, format_name, kind)} offen offset:1024"""

    def expect(target, lanes, values, out):
        for lane in range(lanes):
            element, at = 0, 0
            for k, bits in enumerate(bits_of(format_name)):
                word = word_at(values, SINGLES + 16 * lane + 4 * k)
                if of_half:
                    word = half(np.uint32(word).view(np.float32))
                element |= stored(word, bits, kind, of_half) << at
                at += bits
            out[1024 + 16 * lane:1024 + 16 * lane + size] = element.to_bytes(size, "little")
        return [[0, 0, 0, 0]] * lanes

    name = f"typed_store_{'d16_' if of_half else ''}{format_name}_{kind.lower()}"
    return Case(name, targets_of(kind, newer), code, expect)


# v[20:23] to halves in v[20:21].
HALVES = """v_cvt_f16_f32 v24, v20
  v_cvt_f16_f32 v25, v21
  v_cvt_f16_f32 v26, v22
  v_cvt_f16_f32 v27, v23
  v_and_b32 v24, 0xffff, v24
  v_and_b32 v26, 0xffff, v26
  v_lshl_or_b32 v20, v25, 16, v24
  v_lshl_or_b32 v21, v27, 16, v26"""


def described(target, format_name, kind, select):
    """Last word of a descriptor with a format."""
    low = sum(which << 3 * k for k, which in enumerate(select))
    if target.startswith("gfx9"):
        row = 1 + [name for name, *_ in FORMATS].index(format_name)
        return low | row << 15 | (KINDS.index(kind) + (kind == "FLOAT")) << 12
    number = 1
    for name, kinds, newer in FORMATS:
        for each in newer if newer and is_newer(target) else kinds:
            if (name, each) == (format_name, kind):
                return low | number << 12 | 3 << 28
            number += 1
    raise KeyError(format_name)


def untyped_load(format_name, kind, select, records):
    """The format and the selection are the descriptor's; lanes past its end give zero, or what is selected."""
    size = bytes_of(format_name)

    def code(target):
        return f"""v_mul_u32_u24 v1, {size}, v0
  s_mov_b32 s10, {records}
  s_mov_b32 s11, {described(target, format_name, kind, select)}
  buffer_load_format_xyzw v[10:13], v1, s[8:11], 0 offen"""

    def expect(target, lanes, values, out):
        return [unpack(values[size * lane:size * lane + size] if size * lane + size <= records else None, format_name,
                       kind, False, select) for lane in range(lanes)]

    return Case(f"untyped_load_{format_name}_{kind.lower()}_{''.join(map(str, select))}", "gfx.*", code, expect)


def wide_load_bounded():
    """Each dword of a wide load is inside or not."""

    def expect(target, lanes, values, out):
        return [[word_at(values, 16 * lane + 4 * k) if 16 * lane + 4 * k + 4 <= 200 else 0 for k in range(4)]
                for lane in range(lanes)]

    return Case("wide_load_bounded", "gfx.*", lambda target: f"""v_lshlrev_b32 v1, 4, v0
  s_mov_b32 s10, 200
  buffer_load_dwordx4 v[10:13], v1, s[8:11], 0 offen""", expect)


def wide_store_bounded():
    def expect(target, lanes, values, out):
        for at in range(0, 2024, 4):
            if 1024 <= at < 1024 + 16 * lanes:
                struct.pack_into("<I", out, at, at % 16)
        return [[0, 0, 0, 0]] * lanes

    return Case("wide_store_bounded", "gfx.*", """v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v20, 0
  v_mov_b32 v21, 4
  v_mov_b32 v22, 8
  v_mov_b32 v23, 12
  s_mov_b32 s14, 2024
  buffer_store_dwordx4 v[20:23], v1, s[12:15], 0 offen offset:1024""", expect)


def swizzled(target, index, offset, stride, index_stride, element):
    return ((index // index_stride * stride + offset // element * element) * index_stride +
            index % index_stride * element + offset % element)


def swizzle_words(target, stride):
    """Second and last word of a descriptor that interleaves elements of 4 bytes of 16 indices."""
    raw = RAW[target] & 0x0fffffff
    if target.startswith("gfx9"):
        return f"s_or_b32 s{{}}, s{{}}, {stride << 16 | 1 << 31:#x}", raw | 1 << 21 | 1 << 19
    return f"s_or_b32 s{{}}, s{{}}, {stride << 16 | (1 << 30 if is_newer(target) else 1 << 31):#x}", raw | 1 << 21


def swizzled_load(name, size):
    """A load of `size` bytes of a swizzled buffer with 32 bytes of each index: the parts lie apart."""

    def code(target):
        second, last = swizzle_words(target, 32)
        return f"""{second.format(9, 9)}
  s_mov_b32 s10, 60
  s_mov_b32 s11, {last}
  {name.format('d16_format' if is_newer(target) else 'format_d16')}, v0, s[8:11], 0 idxen offset:8"""

    def expect(target, lanes, values, out):
        results = []
        for lane in range(lanes):
            words = [word_at(values, swizzled(target, lane, 8 + 4 * k, 32, 16, 4)) if lane < 60 and 4 * k < size else 0
                     for k in range(4)]
            results.append(words)
        return results

    return Case(f"swizzled_{name.split()[0]}", "gfx.*", code, expect)


def swizzled_store():
    def code(target):
        second, last = swizzle_words(target, 32)
        return f"""v_lshlrev_b32 v1, 4, v0
  LOAD4 v[20:23], v1, s[4:5]
  WAIT_LOAD
  {second.format(13, 13)}
  s_mov_b32 s14, 60
  s_mov_b32 s15, {last}
  s_movk_i32 s16, 0x400
  buffer_store_dwordx4 v[20:23], v0, s[12:15], s16 idxen offset:12"""

    def expect(target, lanes, values, out):
        for lane in range(min(lanes, 60)):
            for k in range(4):
                at = 1024 + swizzled(target, lane, 12 + 4 * k, 32, 16, 4)
                struct.pack_into("<I", out, at, word_at(values, 16 * lane + 4 * k))
        return [[0, 0, 0, 0]] * lanes

    return Case("swizzled_store", "gfx.*", code, expect)


def format_cases():
    for format_name, kinds, newer in FORMATS:
        for kind in kinds:
            yield typed_load(format_name, kind, newer)
            yield typed_store(format_name, kind, newer)
            if kind not in ("UINT", "SINT") and max(bits_of(format_name)) >= 10:
                yield typed_load_half(format_name, kind, newer)
                yield typed_store(format_name, kind, newer, True)
    yield untyped_load("8_8_8_8", "UNORM", (6, 5, 4, 7), 100)
    yield untyped_load("16_16", "SINT", (4, 5, 0, 1), 50)
    yield untyped_load("32", "FLOAT", (4, 1, 0, 7), 60)
    yield untyped_load("32_32_32", "FLOAT", (4, 5, 6, 1), 200)
    yield untyped_load("2_10_10_10", "SNORM", (7, 6, 5, 4), 32)
    yield wide_load_bounded()
    yield wide_store_bounded()
    yield swizzled_load("buffer_load_dwordx4 v[10:13]", 16)
    yield swizzled_load("buffer_load_dwordx3 v[10:12]", 12)
    yield swizzled_store()


def scalar_stores():
    def expect(target, lanes, values, out):
        for at, word in ((1024, 0x1234), (1028, 0x5678), (1040, 0x1234), (1088 + 8, 0x5678), (1152, 0x1234),
                         (8184, 0x1234), (8188, 0x5678)):
            struct.pack_into("<I", out, at, word)
        return [[0x1234, 0x5678, 0x5678, 0]] * lanes

    return Case("scalar_stores", "gfx9.*", """s_movk_i32 s20, 0x1234
  s_movk_i32 s21, 0x5678
  s_movk_i32 s22, 0x410
  s_movk_i32 s23, 17
  s_store_dwordx2 s[20:21], s[6:7], 0x400
  s_buffer_store_dword s20, s[12:15], s22
  s_buffer_store_dwordx4 s[20:23], s[12:15], 0x1ff8
  s_scratch_store_dword s21, s[6:7], s23 offset:0x8
  s_scratch_store_dword s20, s[6:7], 0x480
  WAIT_SCALAR
  s_dcache_wb
  s_load_dwordx2 s[24:25], s[6:7], 0x400
  s_scratch_load_dword s26, s[6:7], s23 offset:0x8
  WAIT_SCALAR
  v_mov_b32 v10, s24
  v_mov_b32 v11, s25
  v_mov_b32 v12, s26""", expect)


SCALAR_ATOMICS = {
    "swap": lambda old, data, compare, bits: data,
    "cmpswap": lambda old, data, compare, bits: data if old == compare else old,
    "add": lambda old, data, compare, bits: old + data,
    "sub": lambda old, data, compare, bits: old - data,
    "smin": lambda old, data, compare, bits: min(signed(old, bits), signed(data, bits)),
    "umin": lambda old, data, compare, bits: min(old, data),
    "smax": lambda old, data, compare, bits: max(signed(old, bits), signed(data, bits)),
    "umax": lambda old, data, compare, bits: max(old, data),
    "and": lambda old, data, compare, bits: old & data,
    "or": lambda old, data, compare, bits: old | data,
    "xor": lambda old, data, compare, bits: old ^ data,
    "inc": lambda old, data, compare, bits: 0 if old >= data else old + 1,
    "dec": lambda old, data, compare, bits: data if old == 0 or old > data else old - 1,
}


def scalar_atomic(name, bits, buffer):
    """Three operations with and without the old value, on values that have the sign set or not."""
    values_of = [(0xfffffffb00000007, 0x9, 0xfffffffb00000007), (0x5, 0x8000000000000001, 0x5), (0, 0x7fffffff, 1)]
    size, mask = bits // 8, (1 << bits) - 1
    last = 20 + bits // 16 - 1 if name == "cmpswap" else 20 + bits // 32 - 1
    data = f"s[20:{last}]" if last > 20 else "s20"
    place = "s[12:15]" if buffer else "s[6:7]"
    store = "s_store_dword" + ("x2 s[28:29]" if bits == 64 else " s28") + ", s[6:7], {at}"

    def code(target):
        lines = []
        for number, (old, new, compare) in enumerate(values_of):
            words = [new & mask, compare & mask] if name == "cmpswap" else [new & mask]
            registers = [word >> 32 * k & 0xffffffff for word in words for k in range(bits // 32)]
            for keeps in (" glc", ""):
                at = 1024 + 16 * number + (8 if keeps else 0)
                lines += [f"s_mov_b32 s{28 + k}, {old >> 32 * k & 0xffffffff}" for k in range(2)]
                lines += [store.format(at=at), "WAIT_SCALAR"]
                lines += [f"s_mov_b32 s{20 + k}, {word}" for k, word in enumerate(registers)]
                lines += [f"s_{'buffer_' if buffer else ''}atomic_{name}{'_x2' if bits == 64 else ''} {data}, {place}, {at}{keeps}",
                          "WAIT_SCALAR"]
                if keeps:
                    lines.append(f"v_mov_b32 v{10 + number}, s{20 + bits // 32 - 1}")
        return "\n  ".join(lines)

    def expect(target, lanes, values, out):
        olds = []
        for number, (old, new, compare) in enumerate(values_of):
            result = SCALAR_ATOMICS[name](old & mask, new & mask, compare & mask, bits) & mask
            olds.append((old & mask) >> (bits - 32))
            for at in (1024 + 16 * number, 1024 + 16 * number + 8):
                out[at:at + size] = result.to_bytes(size, "little")
        return [[*olds, 0]] * lanes

    return Case(f"scalar_atomic_{name}_{bits}{'_buffer' if buffer else ''}", "gfx9.*", code, expect)


def scalar_cases():
    yield scalar_stores()
    for name in SCALAR_ATOMICS:
        for bits in (32, 64):
            for buffer in (False, True):
                yield scalar_atomic(name, bits, buffer)


def same(*words):
    """Every lane gives these."""
    return lambda target, lanes, values, out: [[*words, 0, 0, 0][:4]] * lanes


def forks():
    """Lanes below 40 and the others take both ways, one after the other; join brings them together."""

    def expect(target, lanes, values, out):
        return [[5 if lane < 40 else 7, 1, lanes, 0] for lane in range(lanes)]

    return Case("forks", "gfx9.*", """v_cmp_gt_u32 s[20:21], 40, v0
  s_mov_b32 s30, 0
  s_cbranch_i_fork s[20:21], forks_below
  v_mov_b32 v10, 7
  s_bcnt1_i32_b64 s31, exec
  s_add_u32 s30, s30, s31
  s_branch forks_together
forks_below:
  v_mov_b32 v10, 5
  s_bcnt1_i32_b64 s31, exec
  s_add_u32 s30, s30, s31
forks_together:
  s_mov_b32 s28, 0
  s_cbranch_join s28
  s_mov_b64 exec, -1
  v_mov_b32 v11, 1
  v_mov_b32 v12, s30""", expect)


def blocks(space):
    """Registers by the bits of M0; the others keep what they hold."""
    chosen = 0b1011

    def expect(target, lanes, values, out):
        results = []
        for lane in range(lanes):
            words = [word_at(values, 64 * lane + 4 * k) if chosen >> k & 1 else 9 for k in range(4)]
            results.append(words)
            for k in range(4):
                if space == "global" and chosen >> k & 1:
                    struct.pack_into("<I", out, 1024 + 64 * lane + 4 * k, words[k])
        return results

    keep = "\n  ".join(f"v_mov_b32 v{k}, 9" for k in range(10, 14))
    if space == "global":
        code = f"""v_lshlrev_b32 v1, 6, v0
  {keep}
  s_mov_b32 m0, {chosen}
  global_load_block v[10:41], v1, s[4:5]
  WAIT_LOAD
  global_store_block v1, v[10:41], s[6:7] offset:1024"""
    else:
        code = f"""v_lshlrev_b32 v1, 6, v0
  {keep}
  global_load_b128 v[10:13], v1, s[4:5]
  WAIT_LOAD
  s_mov_b32 m0, {chosen}
  scratch_store_block off, v[10:41], off
  {keep}
  s_wait_storecnt 0x0
  scratch_load_block v[10:41], off, off
  WAIT_LOAD"""
    return Case(f"block_{space}", "gfx12.*", code, expect)


def apertures():
    """Where flat addresses are of workgroup memory and of scratch, as older compilers ask for it."""
    code = "".join(f"""s_getreg_b32 s20, hwreg(HW_REG_SH_MEM_BASES, {offset}, 16)
  s_lshl_b32 s20, s20, 16
  s_mov_b64 s[22:23], src_{space}_base
  s_xor_b32 s20, s20, s23
  v_mov_b32 v{register}, s20
  v_mov_b32 v{register + 1}, s22
  """ for offset, space, register in ((16, "shared", 10), (0, "private", 12)))
    return Case("apertures", "gfx9.*|gfx10.*|gfx11.*", code, same(0, 0, 0, 0))


def stale_compare(target):
    """v_cmpx_gt_u32 s19, v0 as LLVM before version 16 wrote it: its field of the result is 0, not EXEC."""
    word = 0xd4cc0000 if is_newer(target) else 0xd4d40000
    return f"""s_mov_b64 s[20:21], exec
  s_mov_b32 s19, 5
  .long {word:#x}, 0x20013
  v_mov_b32 v10, 1
  s_mov_b64 exec, s[20:21]"""


def other_cases():
    yield apertures()
    yield Case("stale_compare", "gfx1.*", stale_compare,
               lambda target, lanes, values, out: [[int(lane < 5), 0, 0, 0] for lane in range(lanes)])
    # Halves of scalar registers, which only op_sel tells, and assemblers do not take: v_max_u16 v10.l, v11.l, s20 with
    # op_sel:[0,1,0], and v11.h with op_sel:[0,1,1].
    yield Case("scalar_halves", "gfx1[12].*", """s_mov_b32 s20, 0x00030005
  v_mov_b32 v10, 0x00010002
  v_mov_b32 v11, 0
  .long 0xd709100a, 0x0000290b
  .long 0xd709500b, 0x0000290b
  s_nop 1""", same(0x00010003, 0x00030000))
    yield Case("movrelsd_2", "gfx1[012].*", """s_mov_b32 s20, 11
  s_mov_b32 s23, 33
  s_mov_b32 s26, 44
  s_mov_b32 m0, 0x60003
  s_movrelsd_2_b32 s20, s20
  v_mov_b32 v10, s20
  v_mov_b32 v11, s26""", same(11, 33))
    yield Case("cvt_pk_rtz", "gfx12.*", """s_mov_b32 s20, 0x3f801fff
  s_mov_b32 s21, 0xbf803fff
  s_mov_b32 s22, 0x7f7fffff
  s_mov_b32 s23, 0x7f800000
  s_mov_b32 s24, 0x33ffffff
  s_cvt_pk_rtz_f16_f32 s25, s20, s21
  s_cvt_pk_rtz_f16_f32 s26, s22, s23
  s_cvt_pk_rtz_f16_f32 s27, s24, 0
  v_mov_b32 v10, s25
  v_mov_b32 v11, s26
  v_mov_b32 v12, s27""", same(0xbc013c00, 0x7c007bff, 0x00000001))
    yield Case("subvector_loop", "gfx10.*|gfx11.*", """s_mov_b32 s21, 0
  s_subvector_loop_begin s20, subvector_out
subvector_in:
  s_add_u32 s21, s21, 1
  v_mov_b32 v10, s21
  s_subvector_loop_end s20, subvector_in
subvector_out:
  v_mov_b32 v11, s20""", same(1, 0))
    yield Case("alloc_vgpr", "gfx12.*", """s_mov_b32 s20, 64
  s_cmp_eq_u32 s20, 1
  s_alloc_vgpr s20
  s_cselect_b32 s21, 1, 0
  s_mov_b32 s20, 0xffff
  s_alloc_vgpr s20
  s_cselect_b32 s22, 1, 2
  v_mov_b32 v10, s21
  v_mov_b32 v11, s22""", same(1, 2))
    yield Case("rfe", "gfx9.*|gfx10.*|gfx11.*", """s_getpc_b64 s[20:21]
rfe_from:
  s_add_u32 s20, s20, rfe_there-rfe_from
  s_addc_u32 s21, s21, 0
  v_mov_b32 v10, 1
  s_rfe_b64 s[20:21]
  v_mov_b32 v10, 2
rfe_there:
  v_mov_b32 v11, 3""", same(1, 3))
    yield Case("store_lds", "gfx90a", """v_lshlrev_b32 v1, 2, v0
  v_add_u32 v2, 100, v0
  ds_write_b32 v1, v2 offset:528
  WAIT_LDS
  s_mov_b32 m0, 16
  s_mov_b64 exec, 4
  s_movk_i32 s20, 0x400
  s_nop 4
  buffer_store_lds_dword s[12:15], s20 offset:512 lds
  s_mov_b64 exec, -1""", store_lds_expected)
    yield forks()
    yield blocks("global")
    yield blocks("scratch")


def store_lds_expected(target, lanes, values, out):
    """Lane 2 alone is on."""
    struct.pack_into("<I", out, 1024 + 512, 102)
    return [[0, 0, 0, 0]] * lanes


# Bits of exponent and mantissa, bias, largest magnitude.
NARROW = {"fp4": (2, 1, 1, 0x7), "fp6": (2, 3, 1, 0x1f), "bf6": (3, 2, 3, 0x1f), "fp8": (4, 3, 7, 0x7e),
          "bf8": (5, 2, 15, 0x7b)}


def narrow_value(name, code):
    exponent_bits, mantissa_bits, bias, most = NARROW[name]
    magnitude = code & ((1 << (exponent_bits + mantissa_bits)) - 1)
    if magnitude > most:
        return float("inf") if name == "bf8" and magnitude == 0x7c else float("nan")
    exponent, fraction = magnitude >> mantissa_bits, magnitude & ((1 << mantissa_bits) - 1)
    value = (fraction + (1 << mantissa_bits if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - mantissa_bits)
    return -value if code != magnitude else value


def narrowed(name, value, downward=False):
    """Code of the nearest number, of even ones in the middle; or of the nearest below."""
    exponent_bits, mantissa_bits, _, most = NARROW[name]
    codes = [code for code in range(most + 1) if not downward or narrow_value(name, code) <= abs(value)]
    code = min(codes, key=lambda code: (abs(narrow_value(name, code) - abs(value)), code & 1))
    return code | (1 << (exponent_bits + mantissa_bits) if value < 0 else 0)


def lane_singles(values, lane):
    return [float(x) for x in np.frombuffer(values, np.float32, 4, SINGLES + 16 * lane)]


def scaled_narrow(target, lanes, values, out):
    results = []
    for lane in range(lanes):
        x = [value * 4 for value in lane_singles(values, lane)]
        halves = [float(np.float16(value / 4)) * 4 for value in x]
        results.append([
            sum(narrowed("fp8", x[k]) << 8 * k for k in range(4)),
            sum(narrowed("bf8", value) << 8 * k for k, value in enumerate((halves[1], halves[3], x[0], x[1]))),
            sum(narrowed("fp4", value) << 4 * k for k, value in
                enumerate((x[0], x[1], x[2], x[3], halves[1], halves[3], x[3], x[0]))),
            sum(narrowed("fp8", x[k], True) << 8 * k for k in range(4))])
    return results


def scaled_widen(target, lanes, values, out):
    results = []
    for lane in range(lanes):
        data = values[16 * lane:16 * lane + 16]
        eight, four = (narrow_value("bf8", data[k]) / 4 for k in (2, 3)), (data[6] & 15, data[6] >> 4)
        results.append([*(ANY if x != x else single(x) for x in eight),
                        *(single(narrow_value("fp4", code) / 4) for code in four)])
    return results


def scaled_both_ways(name):
    """32 numbers of 6 bits to f16 and back, and f32 in between."""

    def expect(target, lanes, values, out):
        results = []
        for lane in range(lanes):
            data = int.from_bytes(values[32 * lane:32 * lane + 24], "little")
            codes = [data >> 6 * k & 63 for k in range(32)]
            numbers = [half(narrow_value(name, code) / 4) for code in codes]
            results.append([numbers[0] | numbers[1] << 16, numbers[30] | numbers[31] << 16, data & 0xffffffff,
                            data >> 160])
        return results

    return Case(f"scaled_{name}", "gfx950", f"""v_lshlrev_b32 v1, 5, v0
  global_load_dwordx4 v[32:35], v1, s[4:5]
  global_load_dwordx2 v[36:37], v1, s[4:5] offset:16
  v_mov_b32 v50, 0x3ea00000
  WAIT_LOAD
  v_cvt_scalef32_pk32_f16_{name} v[14:29], v[32:37], v50
  s_nop 1
  v_cvt_scalef32_pk32_{name}_f16 v[40:45], v[14:29], v50
  s_nop 1
  v_mov_b32 v10, v14
  v_mov_b32 v11, v29
  v_mov_b32 v12, v40
  v_mov_b32 v13, v45""", expect)


def gfx950_cases():
    load = f"""v_lshlrev_b32 v1, 4, v0
  buffer_load_dwordx4 v[20:23], v1, s[8:11], 0 offen offset:{{}}
  v_mov_b32 v24, 0x3ea00000
  v_mov_b32 v25, 0
  WAIT_LOAD
"""
    yield Case("scaled_narrow", "gfx950", load.format(SINGLES) + """  v_cvt_f16_f32 v26, v21
  v_cvt_f16_f32 v27, v23
  v_lshl_or_b32 v26, v27, 16, v26
  v_cvt_scalef32_pk_fp8_f32 v10, v20, v21, v24
  v_cvt_scalef32_pk_fp8_f32 v10, v22, v23, v24 op_sel:[0,0,0,1]
  v_cvt_scalef32_pk_bf8_f16 v11, v26, v24
  v_cvt_scalef32_pk_bf8_f32 v11, v20, v21, v24 op_sel:[0,0,0,1]
  v_cvt_scalef32_pk_fp4_f32 v12, v20, v21, v24
  v_cvt_scalef32_pk_fp4_f32 v12, v22, v23, v24 op_sel:[0,0,1,0]
  v_cvt_scalef32_pk_fp4_f16 v12, v26, v24 op_sel:[0,0,0,1]
  v_cvt_scalef32_pk_fp4_f32 v12, v23, v20, v24 op_sel:[0,0,1,1]
  v_cvt_scalef32_sr_fp8_f32 v13, v20, v25, v24
  v_cvt_scalef32_sr_fp8_f32 v13, v21, v25, v24 op_sel:[0,0,1,0]
  v_cvt_scalef32_sr_fp8_f32 v13, v22, v25, v24 op_sel:[0,0,0,1]
  v_cvt_scalef32_sr_fp8_f32 v13, v23, v25, v24 op_sel:[0,0,1,1]
  s_nop 1""", scaled_narrow)
    yield Case("scaled_widen", "gfx950", load.format(0) + """  v_cvt_scalef32_pk_f32_bf8 v[10:11], v20, v24 op_sel:[1,0,0]
  v_cvt_scalef32_pk_f32_fp4 v[12:13], v21, v24 op_sel:[0,1,0]
  s_nop 1""", scaled_widen)
    yield scaled_both_ways("fp6")
    yield scaled_both_ways("bf6")
    yield Case("shift_bytes", "gfx950", """v_mov_b32 v20, 0x12345
  v_mov_b32 v21, 0xffff8000
  v_mov_b32 v10, -1
  v_mov_b32 v11, -1
  v_ashr_pk_i8_i32 v10, v20, v21, 10
  v_ashr_pk_u8_i32 v10, v20, v21, 9 op_sel:[0,0,0,1]
  v_ashr_pk_i8_i32 v11, v20, v21, 8
  s_nop 1""", same(0x91 << 16 | (0xe0 << 8 | 0x48), 0xffff0000 | 0x80 << 8 | 0x7f))


CASES = [*format_cases(), *scalar_cases(), *other_cases(), *gfx950_cases()]
