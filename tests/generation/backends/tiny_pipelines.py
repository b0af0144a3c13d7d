"""Tiny pipelines of other kinds, of the real classes: Stable Diffusion XL and 3, Flux, IF, and one without a prompt."""

from pathlib import Path

from tests.generation.backends.tiny_pipeline import tiny_tokenizer


def save_tiny_xl(folder: Path, *, turbo: bool = False) -> Path:
    """Save a pipeline with two text encoders, the second of which gives the pooled vector, and with time ids.

    With `turbo`, the scheduler that SDXL-Turbo is published with.
    """
    import torch
    from diffusers import (
        EulerAncestralDiscreteScheduler,
        EulerDiscreteScheduler,
        StableDiffusionXLPipeline,
        UNet2DConditionModel,
    )
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
    noise = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear", "steps_offset": 1}
    StableDiffusionXLPipeline(
        vae=_vae(channels=4),
        text_encoder=CLIPTextModel(_text(tokenizer)),
        text_encoder_2=CLIPTextModelWithProjection(_text(tokenizer)),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=UNet2DConditionModel(
            block_out_channels=(8, 16),
            layers_per_block=1,
            sample_size=16,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=32,
            attention_head_dim=(2, 4),
            use_linear_projection=True,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            transformer_layers_per_block=(1, 1),
            projection_class_embeddings_input_dim=6 * 8 + 16,
            norm_num_groups=4,
        ),
        scheduler=EulerAncestralDiscreteScheduler(**noise, timestep_spacing="trailing")
        if turbo
        else EulerDiscreteScheduler(**noise),
        add_watermarker=False,
    ).save_pretrained(folder)
    return folder


def save_tiny_flux(folder: Path) -> Path:
    """Save a pipeline with a transformer without guidance, like FLUX.1-schnell."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
    from transformers import CLIPTextModel

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
    FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=_vae(channels=1, quant=False),
        text_encoder=CLIPTextModel(_text(tokenizer)),
        tokenizer=tokenizer,
        text_encoder_2=_t5(tokenizer, width=16),
        tokenizer_2=tokenizer,
        transformer=FluxTransformer2DModel(
            patch_size=1,
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=16,
            pooled_projection_dim=16,
            axes_dims_rope=[4, 4, 8],
            guidance_embeds=False,
        ),
    ).save_pretrained(folder)
    return folder


def save_tiny_3(folder: Path) -> Path:
    """Save a pipeline with a transformer, two CLIP text encoders with pooled vectors, and T5."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, SD3Transformer2DModel, StableDiffusion3Pipeline
    from transformers import CLIPTextModelWithProjection

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
    StableDiffusion3Pipeline(
        transformer=SD3Transformer2DModel(
            sample_size=16,
            patch_size=1,
            in_channels=4,
            num_layers=1,
            attention_head_dim=8,
            num_attention_heads=4,
            joint_attention_dim=32,
            caption_projection_dim=32,
            pooled_projection_dim=32,
            out_channels=4,
            pos_embed_max_size=16,
        ),
        scheduler=FlowMatchEulerDiscreteScheduler(shift=3.0),
        vae=_vae(channels=4, quant=False),
        text_encoder=CLIPTextModelWithProjection(_text(tokenizer)),
        tokenizer=tokenizer,
        text_encoder_2=CLIPTextModelWithProjection(_text(tokenizer)),
        tokenizer_2=tokenizer,
        text_encoder_3=_t5(tokenizer, width=32),
        tokenizer_3=tokenizer,
    ).save_pretrained(folder)
    return folder


def save_tiny_if(folder: Path) -> Path:
    """Save a pipeline that draws in pixel space, with T5 as its only text encoder."""
    import torch
    from diffusers import DDPMScheduler, IFPipeline, UNet2DConditionModel
    from diffusers.pipelines.deepfloyd_if import IFWatermarker

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
    IFPipeline(
        tokenizer=tokenizer,
        text_encoder=_t5(tokenizer, width=32),
        unet=UNet2DConditionModel(
            sample_size=32,
            layers_per_block=1,
            block_out_channels=[8, 16],
            down_block_types=["ResnetDownsampleBlock2D", "SimpleCrossAttnDownBlock2D"],
            mid_block_type="UNetMidBlock2DSimpleCrossAttn",
            up_block_types=["SimpleCrossAttnUpBlock2D", "ResnetUpsampleBlock2D"],
            in_channels=3,
            out_channels=6,
            cross_attention_dim=32,
            encoder_hid_dim=32,
            attention_head_dim=4,
            addition_embed_type="text",
            addition_embed_type_num_heads=2,
            cross_attention_norm="group_norm",
            resnet_time_scale_shift="scale_shift",
            act_fn="gelu",
            norm_num_groups=4,
        ),
        scheduler=DDPMScheduler(thresholding=True, variance_type="learned_range"),
        safety_checker=None,
        feature_extractor=None,
        watermarker=IFWatermarker(),
        requires_safety_checker=False,
    ).save_pretrained(folder)
    return folder


def add_checker_of_if(pipeline) -> None:
    """Add a safety checker of the real class that flags every image.

    The pinned versions of the libraries can save such a checker, but not load it.
    """
    import torch
    from diffusers.pipelines.deepfloyd_if import IFSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessor

    small = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    vision = {**small, "image_size": 32, "patch_size": 16, "projection_dim": 16}
    checker = IFSafetyChecker(CLIPConfig(text_config=small, vision_config=vision, projection_dim=16))
    torch.nn.init.constant_(checker.p_head.bias, 9.0)
    torch.nn.init.constant_(checker.w_head.bias, -9.0)
    pipeline.safety_checker = checker.eval()
    pipeline.feature_extractor = CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )


def save_tiny_unconditional(folder: Path) -> Path:
    """Save a pipeline without a prompt."""
    from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel

    unet = UNet2DModel(
        sample_size=8,
        block_out_channels=(8, 8),
        layers_per_block=1,
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
    )
    DDPMPipeline(unet=unet, scheduler=DDPMScheduler()).save_pretrained(folder)
    return folder


def _vae(*, channels: int, quant: bool = True):
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=[8, 16],
        down_block_types=["DownEncoderBlock2D", "DownEncoderBlock2D"],
        up_block_types=["UpDecoderBlock2D", "UpDecoderBlock2D"],
        latent_channels=channels,
        norm_num_groups=4,
        sample_size=32,
        use_quant_conv=quant,
        use_post_quant_conv=quant,
        shift_factor=None if quant else 0.0,
        scaling_factor=0.18215 if quant else 1.0,
    )


def _text(tokenizer):
    from transformers import CLIPTextConfig

    return CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=77,
        projection_dim=16,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )


def _t5(tokenizer, *, width: int):
    from transformers import T5Config, T5EncoderModel

    return T5EncoderModel(
        T5Config(vocab_size=len(tokenizer), d_model=width, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
    )
