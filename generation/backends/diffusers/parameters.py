"""The parameters of a diffusers pipeline. None and "" mean the pipeline's own value."""

from typing import ClassVar

from foundation.parameters import parameter
from generation.backends.parameters import BackendParameters


class DiffusersParameters(BackendParameters):
    """Parameters for loading and calling a pipeline."""

    backend: ClassVar[str] = "diffusers"

    num_inference_steps: int | None = parameter(
        None, ge=1, le=1000, label="Steps", help="If empty, the default of the pipeline or the model is used."
    )
    guidance_scale: float | None = parameter(
        None, ge=0, le=100, label="Guidance", help="How closely the image follows the prompt."
    )
    true_cfg_scale: float | None = parameter(
        None,
        ge=0,
        le=100,
        label="True guidance",
        help="Guidance by the negative prompt, for models such as Flux.",
    )
    width: int | None = parameter(
        None,
        ge=8,
        le=8192,
        multiple_of=8,
        label="Width in pixels",
        help="If empty, the pipeline’s own value is used.",
    )
    height: int | None = parameter(
        None,
        ge=8,
        le=8192,
        multiple_of=8,
        label="Height in pixels",
        help="If empty, the pipeline’s own value is used.",
    )
    negative_prompt: str | None = parameter(
        None, max_length=1000, label="Negative prompt", help="What the image should not show."
    )
    scheduler: str = parameter(
        "", max_length=80, label="Scheduler", help="A diffusers class, such as DDIMScheduler."
    )
    safety_checker: bool = parameter(
        True,
        words={True: "Use the model’s safety checker, if there is one", False: "Leave it out"},
        label="The model’s own safety checker",
        help="Images that the safety checker blanks are counted separately.",
    )
    device: str = parameter(
        "", max_length=20, label="Device", help="If empty, a graphics card is used if there is one."
    )
    dtype: str = parameter(
        "",
        words={
            "": "Chosen for the device",
            "float32": "float32",
            "float16": "float16",
            "bfloat16": "bfloat16",
        },
        label="Precision",
        help="If empty, float32 is used on the CPU. On a graphics card, float16 is used for a U-Net and bfloat16 for a "
        "transformer.",
    )
    offload: str = parameter(
        "none",
        words={
            "none": "None: the whole model stays on the device",
            "model": "Part by part: slower, needs less memory",
            "sequential": "Layer by layer: slowest, needs the least memory",
        },
        label="Offload",
        help="Which parts of the model stay in main memory until they are needed.",
    )
    batch_size: int = parameter(
        1,
        ge=1,
        le=256,
        label="Images in one call",
        help="Number of images generated together. If empty, images are generated one by one, so that no "
        "image depends on the others.",
    )
    revision: str = parameter("", max_length=120, label="Revision", help="A commit, tag or branch.")
    variant: str = parameter(
        "", max_length=120, label="Variant", help="Variant of the weights of a hub model, such as fp16."
    )
    config: str = parameter(
        "",
        max_length=300,
        label="Configuration of a single file",
        help="If the model is a .safetensors file, the folder of a pipeline of the same kind.",
    )
    lora: str = parameter(
        "",
        max_length=300,
        label="LoRA",
        help="A .safetensors file on the server, or a folder with exactly one such file.",
    )
    lora_scale: float = parameter(1.0, ge=-10, le=10, label="LoRA scale", help="If empty, the scale is 1.")
    parallel: str = parameter(
        "text",
        words={
            "text": "Each from its own prompt, with the same seed",
            "variation": "The first image from its prompt, the others by changing that image (image to image)",
        },
        label="Images of a scenario",
        help="How to generate images that differ only in the person.",
    )
    strength: float = parameter(
        0.6,
        gt=0,
        le=1,
        expected="a number above 0 and at most 1",
        label="Strength of variation",
        help="How far the other images may differ from the first image. With 1, the other images keep "
        "nothing of the first image.",
    )
    vae_tiling: bool = parameter(
        False, label="Decode in tiles", help="Decoding in tiles needs less memory for large images."
    )
    vae_slicing: bool = parameter(
        False,
        label="Decode a batch image by image",
        help="Decoding image by image needs less memory for batches.",
    )
    channels_last: bool = parameter(
        False, label="Channels last", help="A memory layout that is faster on tensor cores."
    )
    compile: bool = parameter(
        False,
        label="Compile the model",
        help="With a compiled model, the first image takes longer and the others are faster.",
    )
