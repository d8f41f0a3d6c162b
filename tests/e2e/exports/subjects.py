"""What PyTorch's users export: torchvision's models, transformers' architectures with small configurations, and the
operators that PyTorch itself tests. A subject is a module, example arguments, and which of their sizes are left open.

Needs torch, torchvision and transformers; what one of them cannot build is said and left out by the runner.
"""

import functools
import inspect

import torch
from torch import nn

TOKENS = 12
VOCABULARY = 1000
MOST_PARAMETERS = 120_000_000
SMALL = {
    64: "hidden_size d_model n_embd dim embedding_size emb_dim model_dim hidden_dim projection_dim encoder_hidden_size "
        "decoder_hidden_size embed_dim",
    2: "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers num_encoder_layers "
       "num_decoder_layers num_blocks depth num_hidden_layers_decoder",
    4: "num_attention_heads n_head n_heads encoder_attention_heads decoder_attention_heads num_key_value_heads "
       "num_experts num_local_experts n_routed_experts attention_heads",
    16: "head_dim d_kv d_head",
    128: "intermediate_size encoder_ffn_dim decoder_ffn_dim d_ff ffn_dim mlp_dim d_inner moe_intermediate_size "
         "shared_expert_intermediate_size",
}
# Random numbers, and results that say nothing about values.
LEFT_OUT = {"bernoulli", "normal", "rand", "randn", "randint", "multinomial", "dropout", "alpha_dropout", "uniform",
            "exponential", "geometric", "cauchy", "log_normal", "empty", "random", "rrelu", "randperm", "empty_like",
            "empty_strided", "new_empty", "empty_permuted", "new_empty_strided", "rand_like", "randn_like",
            "randint_like", "normal_like", "feature_alpha_dropout", "dropout2d", "dropout3d", "fractional_max_pool2d",
            "fractional_max_pool3d", "resize_", "resize_as_"}


class Subject:
    """A module in evaluation mode, its arguments, and for each argument the dimensions whose size stays open."""

    def __init__(self, module, arguments, open_dimensions=()):
        self.module, self.arguments = module.eval(), tuple(arguments)
        self.open_dimensions = tuple(open_dimensions) or ((),) * len(self.arguments)


def tensors_of(value):
    """Every tensor in what a model returned, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    if not isinstance(value, (list, tuple)) and not hasattr(value, "__iter__"):
        return []
    return [tensor for part in value for tensor in tensors_of(part)] if not isinstance(value, str) else []


class Named(nn.Module):
    """A model that is called with its arguments by name, and returns a tuple of tensors."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *arguments):
        return tuple(tensors_of(self.model(**dict(zip(self.names, arguments))))[:6])


class Detector(nn.Module):
    """A detection model of a list of images."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *images):
        return tuple(tensors_of(self.model(list(images))))


class Tuple(nn.Module):
    """A function, or a model of positional arguments, whose result is a tuple of tensors."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return tuple(tensors_of(self.function(*arguments)))


# torchvision


def torchvision_names():
    import torchvision

    return [name for name in torchvision.models.list_models() if not name.startswith("quantized_")]


def torchvision_subject(name):
    import torchvision

    options = {"weights": None}
    builder = torchvision.models.get_model_builder(name)
    if "weights_backbone" in inspect.signature(builder).parameters:
        options["weights_backbone"] = None
    model = builder(**options)
    if sum(p.numel() for p in model.parameters()) > MOST_PARAMETERS:
        raise ValueError("too large")
    module = type(model).__module__
    if ".detection" in module:
        return Subject(Detector(model), [torch.rand(3, 320, 320)], [(1, 2)])
    if ".optical_flow" in module:
        return Subject(Tuple(model), [torch.rand(1, 3, 128, 136), torch.rand(1, 3, 128, 136)], [(0,), (0,)])
    if ".video" in module:
        size = 112 if name.startswith("r") else 224
        return Subject(Tuple(model), [torch.rand(1, 3, 16, size, size)], [(0,)])
    size = 299 if name == "inception_v3" else 224
    return Subject(Tuple(model), [torch.rand(2, 3, size, size)], [(0,)])


# transformers


def transformers_names():
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return list(MODEL_MAPPING_NAMES)


def shrink(config, attributes):
    """Sets what makes a model large, in nested configurations too."""
    for name, value in list(vars(config).items()):
        if hasattr(value, "to_dict") and hasattr(value, "model_type"):
            shrink(value, attributes)
        elif name in attributes and isinstance(value, int) and not isinstance(value, bool):
            setattr(config, name, min(value, attributes[name]))
        elif name == "vocab_size" and isinstance(value, int):
            setattr(config, name, min(value, VOCABULARY))
        elif name.endswith("token_id") and isinstance(value, int) and value >= VOCABULARY:
            setattr(config, name, 1)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    return config


def small_model(config_class, attributes):
    from transformers import AutoModel

    # What exporters know: experts as products of the weights that tokens chose.
    options = {"attn_implementation": "eager", "experts_implementation": "batched_mm"}
    with torch.device("meta"):  # Without memory, which a large one would take all of.
        model = AutoModel.from_config(shrink(config_class(), attributes), **options)
    if sum(p.numel() for p in model.parameters()) > MOST_PARAMETERS:
        raise ValueError("too large")
    return AutoModel.from_config(shrink(config_class(), attributes), **options)


def image_of(config):
    for part in (config, getattr(config, "vision_config", None), getattr(config, "backbone_config", None)):
        size = getattr(part, "image_size", None)
        if size:
            size = size if isinstance(size, (list, tuple)) else (size, size)
            return getattr(part, "num_channels", 3) or 3, int(size[0]), int(size[1])
    return 3, 224, 224


def argument_of(name, config):
    """An example of a model's argument, and the dimensions to leave open; None for what has a default."""
    tokens = (torch.randint(5, VOCABULARY - 5, (2, TOKENS)), (0, 1))
    if name in ("input_ids", "decoder_input_ids"):
        return tokens
    if name == "attention_mask":
        return torch.tensor([[1] * TOKENS, [1] * (TOKENS - 3) + [0] * 3]), (0, 1)
    if name == "pixel_values":
        frames = getattr(config, "num_frames", None)
        shape = (2, frames) if isinstance(frames, int) else (2,)
        return torch.rand(*shape, *image_of(config)), (0,)
    if name == "input_values":
        return torch.rand(2, 8000), (0, 1)
    if name == "input_features":
        bins = getattr(config, "num_mel_bins", None) or getattr(config, "feature_size", 80)
        positions = getattr(config, "max_source_positions", None)
        return (torch.rand(2, bins, 2 * positions), (0,)) if positions else (torch.rand(2, 100, bins), (0, 1))
    if name == "bbox":
        return torch.zeros(2, TOKENS, 4, dtype=torch.int64), (0, 1)
    return None


def example_of(model):
    parameters = inspect.signature(model.forward).parameters
    wanted = [model.main_input_name] + [extra for extra in ("input_ids", "attention_mask", "pixel_values", "bbox")
                                        if extra in parameters]
    if model.config.is_encoder_decoder and "decoder_input_ids" in parameters:
        wanted.append("decoder_input_ids")
    wanted = [key for key in dict.fromkeys(wanted)
              if not (key == "attention_mask" and "input_ids" not in wanted)]
    examples = [(key, argument_of(key, model.config)) for key in wanted]
    examples = [(key, example) for key, example in examples if example is not None]
    return Subject(Named(model, [key for key, _ in examples]), [example[0] for _, example in examples],
                   [example[1] for _, example in examples])


def transformers_subject(name):
    """The model with all sizes small or, where that does not fit together, with its own heads, or with few layers."""
    from transformers import CONFIG_MAPPING

    everything = {key: size for size, keys in SMALL.items() for key in keys.split()}
    own_heads = {key: size for key, size in everything.items() if key not in SMALL[16].split() + SMALL[4].split()}
    problems = []
    for attributes in (everything, own_heads, dict.fromkeys(SMALL[2].split(), 2)):
        try:
            subject = example_of(small_model(CONFIG_MAPPING[name], attributes))
            with torch.no_grad():
                subject.module(*subject.arguments)
            return subject
        except Exception as error:  # Any: a configuration that does not fit together fails in its own way.
            problems.append(f"{type(error).__name__}: {str(error)[:150]}")
    raise ValueError("; ".join(problems))


# PyTorch's operators


@functools.cache
def operators():
    from torch.testing._internal.common_methods_invocations import op_db

    found = {}
    for operator in op_db:
        plain = operator.name.split(".")[-1]
        if plain in LEFT_OUT or operator.name.startswith("_refs"):
            continue
        found[f"{operator.name}{'_' + operator.variant_test_name if operator.variant_test_name else ''}"] = operator
    return found


def operator_names(samples):
    return [f"{name}#{index}" for name in operators() for index in range(samples)]


class Operator(nn.Module):
    """An operator whose tensors among its arguments are the module's, all others constants."""

    def __init__(self, operator, sample):
        super().__init__()
        self.operator, self.sample = operator, sample
        leaves, self.structure = torch.utils._pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.examples = [leaves[place].detach() for place in self.places]

    def forward(self, *arguments):
        leaves = list(self.leaves)
        for place, argument in zip(self.places, arguments):
            leaves[place] = argument
        first, rest, named = torch.utils._pytree.tree_unflatten(leaves, self.structure)
        return tuple(tensors_of(self.operator(first, *rest, **named)))


def operator_subject(name):
    """Sample number `#n` of an operator, spread over all of its samples, of floats where it has them."""
    key, index = name.rsplit("#", 1)
    operator = operators()[key]
    kinds = [kind for kind in (torch.float32, torch.int64, torch.bool) if kind in operator.dtypes]
    if not kinds:
        raise ValueError("no type of ours")
    samples = list(operator.sample_inputs("cpu", kinds[0], requires_grad=False))
    step = (0, len(samples) // 2, len(samples) - 1)[int(index) % 3]
    if step >= len(samples) or (int(index) and step == 0):
        raise ValueError("no such sample")
    module = Operator(operator.op, samples[step])
    dimensions = [tuple(d for d, size in enumerate(t.shape) if size > 1) for t in module.examples]
    return Subject(module, module.examples, dimensions)


SUITES = {
    "torchvision": (torchvision_names, torchvision_subject),
    "transformers": (transformers_names, transformers_subject),
    "operators": (functools.partial(operator_names, 3), operator_subject),
}
