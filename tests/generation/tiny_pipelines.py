"""Tiny pipelines of other kinds, of the real classes: Stable Diffusion XL, Flux, and one that reads no text."""

from pathlib import Path

from tests.generation.tiny_pipeline import tiny_tokenizer


def save_tiny_xl(folder: Path) -> Path:
    """Two text encoders, of which the second gives the pooled vector, and added time ids."""
    import torch
    from diffusers import EulerDiscreteScheduler, StableDiffusionXLPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
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
        scheduler=EulerDiscreteScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", steps_offset=1
        ),
        add_watermarker=False,
    ).save_pretrained(folder)
    return folder


def save_tiny_flux(folder: Path) -> Path:
    """A transformer without guidance, as FLUX.1-schnell is."""
    import torch
    from diffusers import FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel
    from transformers import CLIPTextModel, T5Config, T5EncoderModel

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
    FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=_vae(channels=1, quant=False),
        text_encoder=CLIPTextModel(_text(tokenizer)),
        tokenizer=tokenizer,
        text_encoder_2=T5EncoderModel(
            T5Config(vocab_size=len(tokenizer), d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
        ),
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


def save_tiny_unconditional(folder: Path) -> Path:
    """Images from noise alone."""
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
