"""Draws classified digits in the terminal: show.py IMAGES LABELS PROBABILITIES (NumPy files). Standard library only."""

import ast
import struct
import sys

SHADES = " ░▒▓█"
SHOWN = 10
PER_ROW = 5


def read_npy(path):
    """Returns the shape and the flat values of a little-endian f32 or i32 array of format version 1."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x93NUMPY\x01\x00":
        sys.exit(f"{path}: not a NumPy file of version 1.0")
    end = 10 + struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:end].decode("latin1"))
    codes = {"<f4": "f", "<i4": "i"}
    if header["descr"] not in codes or header["fortran_order"]:
        sys.exit(f"{path}: expected little-endian f32 or i32 in row-major order, not {header['descr']}")
    count = 1
    for size in header["shape"]:
        count *= size
    return header["shape"], struct.unpack_from(f"<{count}{codes[header['descr']]}", data, end)


def picture(pixels):
    """Eight lines of sixteen characters, two characters to a pixel from 0 to 1."""
    cells = [SHADES[min(int(value * len(SHADES)), len(SHADES) - 1)] * 2 for value in pixels]
    return ["".join(cells[row * 8:row * 8 + 8]) for row in range(8)]


def choose(guesses, labels):
    """Ten images to show: the first of each digit, but where there is a mistake, the first mistake of all."""
    chosen = {}
    for index, label in enumerate(labels):
        chosen.setdefault(label, index)
    mistakes = [index for index, label in enumerate(labels) if guesses[index] != label]
    if mistakes:
        chosen[labels[mistakes[0]]] = mistakes[0]
    return [chosen[digit] for digit in sorted(chosen)][:SHOWN]


def main():
    _, images = read_npy(sys.argv[1])
    _, labels = read_npy(sys.argv[2])
    (count, classes), probabilities = read_npy(sys.argv[3])
    guesses = [max(range(classes), key=lambda c, row=i * classes: probabilities[row + c]) for i in range(count)]
    shown = choose(guesses, labels)
    for start in range(0, len(shown), PER_ROW):
        row = shown[start:start + PER_ROW]
        for line in zip(*(picture(images[i * 64:i * 64 + 64]) for i in row)):
            print("".join(line).rstrip())
        captions = []
        for i in row:
            sure = 100 * probabilities[i * classes + guesses[i]]
            captions.append(f" {guesses[i]} ({sure:.0f}%) true {labels[i]}".ljust(16))
        print("".join(captions).rstrip(), end="\n\n")
    print("Under each image: the predicted digit, how sure the model is, and the true digit.")
    right = sum(guess == label for guess, label in zip(guesses, labels))
    print(f"{right} of {count} images that the model has never seen are right: {100 * right / count:.1f}%.")
    sys.exit(0 if right >= 0.97 * count else 1)


if __name__ == "__main__":
    main()
