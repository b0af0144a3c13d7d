"""A real Stable Diffusion pipeline with random weights, which makes an image in a fraction of a second."""

import json
from pathlib import Path


def save_tiny_pipeline(folder: Path, *, safety_checker: bool = False) -> Path:
    """Build each component from the real classes, and save the pipeline as a user's weights are saved."""
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        block_out_channels=(8, 16),
        layers_per_block=1,
        sample_size=16,
        in_channels=4,
        out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=16,
        attention_head_dim=4,
        norm_num_groups=4,
    )
    vae = AutoencoderKL(
        block_out_channels=[8, 16],
        in_channels=3,
        out_channels=3,
        down_block_types=["DownEncoderBlock2D", "DownEncoderBlock2D"],
        up_block_types=["UpDecoderBlock2D", "UpDecoderBlock2D"],
        latent_channels=4,
        norm_num_groups=4,
        sample_size=32,
    )
    tokenizer = tiny_tokenizer(folder.parent / f"{folder.name}-tokenizer")
    text_encoder = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=77,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.eos_token_id,
        )
    )
    checker, extractor = _checker() if safety_checker else (None, None)
    pipeline = StableDiffusionPipeline(
        vae=vae,
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        unet=unet,
        scheduler=DDIMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            clip_sample=False,
            steps_offset=1,
        ),
        safety_checker=checker,
        feature_extractor=extractor,
        requires_safety_checker=safety_checker,
    )
    pipeline.save_pretrained(folder)
    return folder


def tiny_tokenizer(folder: Path):
    from transformers import CLIPTokenizer

    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{letter}</w>" for letter in letters), "an</w>"]
    folder.mkdir(parents=True)
    (folder / "vocab.json").write_text(json.dumps({word: index for index, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\na n</w>\n")
    return CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77)


def _checker():
    """A safety checker that blanks everything: its thresholds are below what any image scores."""
    import torch
    from diffusers.pipelines.stable_diffusion import StableDiffusionSafetyChecker
    from transformers import CLIPConfig, CLIPImageProcessor

    config = CLIPConfig(
        text_config={
            "hidden_size": 16,
            "intermediate_size": 24,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
        },
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 24,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 16,
        },
        projection_dim=16,
    )
    checker = StableDiffusionSafetyChecker(config)
    checker.concept_embeds_weights.data = torch.full_like(checker.concept_embeds_weights, -2.0)
    checker.special_care_embeds_weights.data = torch.full_like(checker.special_care_embeds_weights, -2.0)
    return checker, CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
