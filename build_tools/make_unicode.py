"""Writes src/tokenizer/unicode.def from Python's unicodedata: make_unicode.py FILE"""

import sys
import unicodedata

CLASSES = ["Cn", "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No", "Pc", "Pd",
           "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs"]


def rows(name, entries):
    """Macro calls, as many a line as fit."""
    out, line = [], ""
    for entry in entries:
        item = f"{name}({entry})"
        if len(line) + 1 + len(item) > 118:
            out.append(line)
            line = ""
        line += (" " if line else "") + item
    return "\n".join(out + [line]) + "\n"


def categories():
    """Where a run of one category starts."""
    last = None
    for code in range(0x110000):
        now = unicodedata.category(chr(code))
        if now != last:
            yield f"{code:#x}, {now}"
            last = now


def lower():
    for code in range(0x110000):
        text = chr(code).lower()
        if text != chr(code):
            yield f"{code:#x}, {ord(text[0]):#x}, {ord(text[1]) if len(text) > 1 else 0:#x}"


def classes():
    last = 0
    for code in range(0x110000):
        now = unicodedata.combining(chr(code))
        if now != last:
            yield f"{code:#x}, {now}"
            last = now


def decompositions(compatible):
    for code in range(0x110000):
        mapping = unicodedata.decomposition(chr(code))
        if not mapping or mapping.startswith("<") != compatible:
            continue
        text = unicodedata.normalize("NFKD" if compatible else "NFD", chr(code))
        numbers = [f"{ord(c):#x}" for c in text]
        yield f"{code:#x}, {len(numbers)}, {', '.join(numbers)}"


def compositions():
    for code in range(0x110000):
        mapping = unicodedata.decomposition(chr(code))
        if not mapping or mapping.startswith("<") or 0xAC00 <= code < 0xD7A4:
            continue
        parts = mapping.split()
        if len(parts) == 2 and unicodedata.normalize("NFC", chr(code)) == chr(code):
            yield (int(parts[0], 16), int(parts[1], 16), code)


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(f"// Facts of Unicode {unicodedata.unidata_version}, made by build_tools/make_unicode.py; ")
        file.write("""each table is sorted.
//
//   CATEGORY(first, category)         code points from here to the next row's have it
//   COMBINING(first, class)           the same for canonical combining classes
//   LOWER(code, first, second)        the small letter; second is 0 for all but one
//   CANONICAL(code, count, codes...)  the whole canonical decomposition; Hangul's is computed
//   COMPATIBLE(code, count, codes...) the whole compatible one, of those that have no canonical one
//   COMPOSED(first, second, code)     two code points that compose
// clang-format off
#ifndef CATEGORY
#define CATEGORY(first, category)
#endif
#ifndef COMBINING
#define COMBINING(first, class)
#endif
#ifndef LOWER
#define LOWER(code, first, second)
#endif
#ifndef CANONICAL
#define CANONICAL(code, count, ...)
#endif
#ifndef COMPATIBLE
#define COMPATIBLE(code, count, ...)
#endif
#ifndef COMPOSED
#define COMPOSED(first, second, code)
#endif
""")
        file.write(rows("CATEGORY", categories()) + rows("COMBINING", classes()) + rows("LOWER", lower()))
        file.write(rows("CANONICAL", decompositions(False)) + rows("COMPATIBLE", decompositions(True)))
        file.write(rows("COMPOSED", (f"{a:#x}, {b:#x}, {c:#x}" for a, b, c in sorted(compositions()))))
        file.write("".join(f"#undef {name}\n" for name in
                           ("CATEGORY", "COMBINING", "LOWER", "CANONICAL", "COMPATIBLE", "COMPOSED")))


if __name__ == "__main__":
    main()
