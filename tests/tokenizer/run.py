"""Tokenizers of every kind against Hugging Face's `tokenizers`, on random text: run.py --tools DIR [--count N] [--seed N]

Each is trained here, on text of the same random words, and written as tokenizer.json. Numbers of tokens, and the text
that is made of them again, must be the same; so must those of texts with special tokens in them. Files that are cut off
or changed somewhere must be refused, or read, without harm.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "so", "ti", "the", "ing", "é", "ß", "ка", "не", "中", "文", "한", "글", "ñ"]
OTHERS = [" ", "  ", "\n", "\t", "1", "42", "2024", ".", ",", "!", "?", "'s", "n't", "don't", "-", "_", "(", ")", "…", "€", "½",
          "ﬁ", "Å", "A\u030a", "e\u0301", "İ", "Σ", "ﷺ", "\u00a0", "\u3000", "🙂", "👩\u200d🚀", "\u0e01\u0e33", "▁", "Ġ",
          "<s>", "</s>", "[CLS]", "<mask>", "\r\n", "#", "##", "\u00ad", "\u200b"]
SPECIAL = ["<s>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]"]
GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
        r"\s+(?!\S)|\s+")


def random_text(source, most):
    out = []
    for _ in range(source.randrange(most)):
        if source.random() < 0.6:
            word = "".join(source.choice(SYLLABLES) for _ in range(source.randint(1, 4)))
            out.append(source.choice([word, word.capitalize(), word.upper()]) + " " * (source.random() < 0.7))
        else:
            out.append(source.choice(OTHERS))
    return "".join(out).replace("\0", "")


def template():
    return processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1",
                                         special_tokens=[("<s>", 0), ("</s>", 1)])


def bpe(**options):
    return models.BPE(unk_token="<unk>", **options), trainers.BpeTrainer(vocab_size=400, special_tokens=SPECIAL,
                                                                          show_progress=False)


def cases():
    """Yields name, model and trainer, normalizer, pre-tokenizer, decoder, post-processor."""
    levels = trainers.BpeTrainer(vocab_size=600, special_tokens=SPECIAL, show_progress=False,
                                 initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    yield ("byte_level", (models.BPE(), levels), None, pre_tokenizers.ByteLevel(add_prefix_space=False),
           decoders.ByteLevel(), template())
    yield ("byte_level_space", (models.BPE(), levels), normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=True),
           decoders.ByteLevel(), processors.RobertaProcessing(("</s>", 1), ("<s>", 0)))
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(GPT4), "isolated"),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    yield ("llama3", (models.BPE(ignore_merges=True), levels), None, split, decoders.ByteLevel(),
           processors.Sequence([processors.ByteLevel(), template()]))
    yield ("bpe_whitespace", bpe(fuse_unk=True), normalizers.NFKC(), pre_tokenizers.Whitespace(), None, None)
    yield ("bpe_suffix", (models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, end_of_word_suffix="</w>", show_progress=False)),
           normalizers.Lowercase(), pre_tokenizers.WhitespaceSplit(), decoders.BPEDecoder(), None)
    yield ("wordpiece", (models.WordPiece(unk_token="<unk>"), trainers.WordPieceTrainer(
        vocab_size=400, special_tokens=SPECIAL, show_progress=False)), normalizers.BertNormalizer(),
           pre_tokenizers.BertPreTokenizer(), decoders.WordPiece(), processors.BertProcessing(("[SEP]", 5), ("[CLS]", 4)))
    yield ("wordpiece_cased", (models.WordPiece(unk_token="<unk>", max_input_chars_per_word=8), trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=SPECIAL, show_progress=False)),
           normalizers.BertNormalizer(lowercase=False, strip_accents=True), pre_tokenizers.BertPreTokenizer(),
           decoders.WordPiece(cleanup=False), None)
    unigram = trainers.UnigramTrainer(vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    yield ("unigram", (models.Unigram(), unigram), normalizers.NFKC(), pre_tokenizers.Metaspace(), decoders.Metaspace(),
           template())
    yield ("unigram_first", (models.Unigram(), unigram), normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
           pre_tokenizers.Metaspace(prepend_scheme="first", split=False), decoders.Metaspace(prepend_scheme="first"), None)
    yield ("word_level", (models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(
        vocab_size=200, special_tokens=SPECIAL, show_progress=False)),
           normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.NFKD()]),
           pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True),
                                    pre_tokenizers.Punctuation("contiguous")]), None, None)
    for behavior in ["removed", "merged_with_previous", "merged_with_next", "contiguous"]:
        yield (f"split_{behavior}", bpe(), None,
               pre_tokenizers.Sequence([pre_tokenizers.Punctuation(behavior), pre_tokenizers.Split(" ", behavior)]), None, None)


def with_fallback(tokenizer):
    """The same with a token for each byte, as Llama's first tokenizers have them."""
    data = json.loads(tokenizer.to_str())
    model = data["model"]
    for byte in range(256):
        model["vocab"].setdefault(f"<0x{byte:02X}>", len(model["vocab"]))
    model["byte_fallback"] = True
    model["fuse_unk"] = True
    data["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
    data["pre_tokenizer"] = None
    data["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    return Tokenizer.from_str(json.dumps(data))


def build(case, texts):
    _, (model, trainer), normalizer, splitter, decoder, processor = case
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizer or tokenizer.normalizer
    tokenizer.pre_tokenizer = splitter
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken("baba", single_word=True), AddedToken("KELO", normalized=False)])
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True)])
    if decoder:
        tokenizer.decoder = decoder
    if processor:
        tokenizer.post_processor = processor
    return tokenizer


def call(tool, *arguments, text=None):
    result = subprocess.run([tool, *arguments], input=text, capture_output=True, check=False, timeout=60)
    return result.returncode, result.stdout, result.stderr.decode(errors="replace")


def compare(tool, name, tokenizer, texts, folder):
    """Returns how many texts differ."""
    path = folder / f"{name}.json"
    tokenizer.save(str(path))
    wrong = 0
    for text in texts:
        for special in [True, False]:
            wanted = tokenizer.encode(text, add_special_tokens=special).ids
            code, out, error = call(tool, f"--tokenizer={path}", f"--special={str(special).lower()}", "--json",
                                    text=text.encode())
            got = json.loads(out)["ids"] if code == 0 else error
            if got != wanted:
                wrong += 1
                print(f"FAILED {name}: {text!r}\n  wanted {wanted}\n  got    {got}")
        ids = ",".join(map(str, wanted))
        back = tokenizer.decode(wanted, skip_special_tokens=True)
        code, out, error = call(tool, f"--tokenizer={path}", "--decode", text=ids.encode())
        if code != 0 or out.decode() != back + "\n":
            wrong += 1
            print(f"FAILED {name}: decoding {ids}\n  wanted {back!r}\n  got    {out!r} {error}")
    return wrong


def damage(source, data):
    """A file with something wrong in it, or cut off."""
    data = bytearray(data)
    if source.random() < 0.3:
        return bytes(data[:source.randrange(len(data))])
    for _ in range(source.randint(1, 8)):
        place = source.randrange(len(data))
        data[place:place + source.choice([0, 1, 9])] = source.choice([b"", b'"', b"{", b"]", b"-1", b"1e99", b"\\u", b"\xff",
                                                                     b"null", b"[" * 200])
    return bytes(data)


def check_damaged(tool, source, folder, count):
    wrong = 0
    files = sorted(folder.glob("*.json"))
    for _ in range(count):
        path = folder / "damaged"
        path.write_bytes(damage(source, source.choice(files).read_bytes()))
        code, _, error = call(tool, f"--tokenizer={path}", text="Some text, <s>.".encode())
        if code not in (0, 1) or code == 1 and not error:
            wrong += 1
            print(f"FAILED damaged file: exit {code}: {error[-500:]}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10, help="texts of each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    source = random.Random(arguments.seed)
    training = [random_text(source, 60) for _ in range(300)]
    texts = ["", " ", "<s>", "  baba ababa baba", " <mask>  ke"] + [random_text(source, 40) for _ in range(arguments.count)]
    passed = failed = 0
    tool = arguments.tools / "iree-tokenize"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for case in cases():
            tokenizer = build(case, training)
            variants = [(case[0], tokenizer)]
            if case[0] == "bpe_whitespace":
                variants.append(("byte_fallback", with_fallback(tokenizer)))
            for name, variant in variants:
                wrong = compare(tool, name, variant, texts, folder)
                passed, failed = passed + (not wrong), failed + bool(wrong)
        wrong = check_damaged(tool, source, folder, 5 * arguments.count)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
