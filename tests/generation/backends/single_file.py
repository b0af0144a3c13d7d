"""A tiny pipeline as one file, with the names that the original Stable Diffusion gave its layers."""

import re
from pathlib import Path

_RESNET = {
    "norm1": "in_layers.0",
    "conv1": "in_layers.2",
    "time_emb_proj": "emb_layers.1",
    "norm2": "out_layers.0",
    "conv2": "out_layers.3",
    "conv_shortcut": "skip_connection",
}
_UNET = {
    "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2",
    "conv_in": "input_blocks.0.0",
    "conv_norm_out": "out.0",
    "conv_out": "out.2",
}
_ATTENTION = {"group_norm": "norm", "to_q": "q", "to_k": "k", "to_v": "v", "to_out.0": "proj_out"}


def save_single_file(folder: Path, to: Path) -> Path:
    """Write all weights of the pipeline in `folder` into one file."""
    from diffusers import StableDiffusionPipeline
    from safetensors.torch import save_file

    pipeline = StableDiffusionPipeline.from_pretrained(folder)
    weights = {}
    for name, value in pipeline.unet.state_dict().items():
        weights[f"model.diffusion_model.{_unet(name, pipeline.unet)}"] = value
    for name, value in pipeline.vae.state_dict().items():
        known = _vae(name, len(pipeline.vae.config.block_out_channels))
        # The original attention layers are convolutions.
        is_matrix = ".attn_1." in known and value.ndim == 2
        weights[f"first_stage_model.{known}"] = value[:, :, None, None] if is_matrix else value
    for name, value in pipeline.text_encoder.state_dict().items():
        weights[f"cond_stage_model.transformer.text_model.{name.removeprefix('text_model.')}"] = value
    save_file({name: value.contiguous() for name, value in weights.items()}, to)
    return to


def _unet(name: str, unet) -> str:
    layers = unet.config.layers_per_block + 1
    for known, original in _UNET.items():
        if name.startswith(f"{known}."):
            return name.replace(known, original, 1)
    if found := re.match(r"mid_block\.(resnets|attentions)\.(\d)\.(.*)", name):
        number = 1 if found[1] == "attentions" else 2 * int(found[2])
        return f"middle_block.{number}.{_inside(found[1], found[3])}"
    found = re.match(r"(down|up)_blocks\.(\d)\.(\w+)\.(\d)\.(.*)", name)
    assert found is not None, name
    side, block, kind, layer, rest = found[1], int(found[2]), found[3], int(found[4]), found[5]
    if kind == "downsamplers":
        return f"input_blocks.{(block + 1) * layers}.0.{rest.replace('conv', 'op', 1)}"
    if kind == "upsamplers":
        place = 2 if hasattr(unet.up_blocks[block], "attentions") else 1
        return f"output_blocks.{(block + 1) * layers - 1}.{place}.{rest}"
    number = block * layers + layer + (1 if side == "down" else 0)
    blocks = "input_blocks" if side == "down" else "output_blocks"
    return f"{blocks}.{number}.{int(kind == 'attentions')}.{_inside(kind, rest)}"


def _inside(kind: str, rest: str) -> str:
    if kind == "attentions":
        return rest
    part, _, last = rest.rpartition(".")
    return f"{_RESNET[part]}.{last}"


def _vae(name: str, blocks: int) -> str:
    name = name.replace("conv_norm_out", "norm_out").replace("conv_shortcut", "nin_shortcut")
    if "mid_block" in name:
        name = re.sub(r"mid_block\.resnets\.(\d)", lambda found: f"mid.block_{int(found[1]) + 1}", name)
        name = name.replace("mid_block.attentions.0", "mid.attn_1")
        for known, original in _ATTENTION.items():
            name = name.replace(f"attn_1.{known}.", f"attn_1.{original}.")
        return name
    name = re.sub(r"down_blocks\.(\d)\.resnets", r"down.\1.block", name)
    name = re.sub(r"down_blocks\.(\d)\.downsamplers\.0", r"down.\1.downsample", name)
    name = re.sub(r"up_blocks\.(\d)\.resnets", lambda found: f"up.{blocks - 1 - int(found[1])}.block", name)
    return re.sub(
        r"up_blocks\.(\d)\.upsamplers\.0", lambda found: f"up.{blocks - 1 - int(found[1])}.upsample", name
    )
