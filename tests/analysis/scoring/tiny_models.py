"""Real model classes with random weights, small enough for tests, saved as a user's weights are saved."""

import json
from pathlib import Path

SENTENCES = [
    "a person with a tall hat and a blue scarf",
    "a person with a lantern",
    "a drawing of a kite over the sea",
    "an old person smiling in a garden",
    "round glasses and an umbrella",
]
_CLIP = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "head_width": 16, "patch_size": 16},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}


def save_clip(folder: Path, *, seed: int = 0, kind: str = "pt") -> tuple[Path, Path]:
    """Save an open_clip model as a JSON configuration and a file of weights; return both."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "tiny-clip.json"
    config.write_text(json.dumps(_CLIP))
    torch.manual_seed(seed)
    model = open_clip.CLIP(**_CLIP)
    weights = folder / f"tiny-clip.{kind}"
    if kind == "safetensors":
        save_file(model.state_dict(), weights)
    else:
        torch.save(model.state_dict(), weights)
    return config, weights


def save_clip_folder(folder: Path, *, seed: int = 0) -> Path:
    """Save an open_clip model as the folder that `local-dir:` takes."""
    _, weights = save_clip(folder, seed=seed, kind="safetensors")
    weights.rename(folder / "open_clip_model.safetensors")
    (folder / "tiny-clip.json").unlink()
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": _CLIP, "preprocess_cfg": {}}))
    return folder


def save_bart(folder: Path) -> Path:
    """Save a BART whose byte-pair encoding is trained on a few sentences."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration, BartTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = BartTokenizer(**_trained_bpe(folder / "bpe"), model_max_length=32)
    torch.manual_seed(0)
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=16,
            decoder_ffn_dim=16,
            max_position_embeddings=64,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            decoder_start_token_id=tokenizer.eos_token_id,
            forced_eos_token_id=tokenizer.eos_token_id,
            init_std=1.0,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_blip(folder: Path) -> Path:
    """Save a BLIP with the words of our sentences as its vocabulary."""
    import torch
    from transformers import (
        BertTokenizer,
        BlipConfig,
        BlipForConditionalGeneration,
        BlipImageProcessor,
        BlipProcessor,
    )

    folder.mkdir(parents=True, exist_ok=True)
    words = _vocabulary(folder / "vocab.txt")
    tokenizer = BertTokenizer(str(folder / "vocab.txt"), model_max_length=32)
    torch.manual_seed(0)
    tower = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BlipConfig(
        text_config=tower
        | {
            "vocab_size": len(words),
            "encoder_hidden_size": 16,
            "projection_dim": 16,
            "max_position_embeddings": 64,
            "bos_token_id": tokenizer.cls_token_id,
            "eos_token_id": tokenizer.sep_token_id,
            "sep_token_id": tokenizer.sep_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            "initializer_range": 1.0,
        },
        vision_config=tower | {"image_size": 32, "patch_size": 16, "projection_dim": 16},
        projection_dim=16,
    )
    processor = BlipProcessor(BlipImageProcessor(size={"height": 32, "width": 32}), tokenizer)
    BlipForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def save_llava(folder: Path) -> Path:
    """Save a LLaVA that chats about pictures."""
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        GPT2Tokenizer,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = GPT2Tokenizer(
        **_trained_bpe(folder / "bpe"),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    torch.manual_seed(0)
    tower = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**tower, image_size=32, patch_size=16, projection_dim=16),
        text_config=LlamaConfig(
            **tower,
            num_key_value_heads=2,
            vocab_size=len(tokenizer),
            max_position_embeddings=256,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
            initializer_range=1.0,
        ),
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
        image_seq_length=4,
    )
    template = (
        "{% for message in messages %}{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
        "{% endfor %}{% endfor %}"
    )
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        tokenizer=tokenizer,
        patch_size=16,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def save_qwen(folder: Path) -> Path:
    """Save a Qwen2-VL: its processor makes one heap of patches of all pictures, without a row for each."""
    import torch
    from transformers import (
        GPT2Tokenizer,
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = GPT2Tokenizer(
        **_trained_bpe(folder / "bpe"),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
    )
    places = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    tokenizer.add_special_tokens({"additional_special_tokens": list(places)})
    start, end, image, video = map(tokenizer.convert_tokens_to_ids, places)
    torch.manual_seed(0)
    config = Qwen2VLConfig(
        text_config={
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "vocab_size": len(tokenizer),
            "max_position_embeddings": 256,
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0},
            "initializer_range": 1.0,
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
        },
        vision_config={
            "depth": 1,
            "embed_dim": 16,
            "hidden_size": 32,
            "num_heads": 2,
            "mlp_ratio": 1,
            "patch_size": 8,
        },
        image_token_id=image,
        video_token_id=video,
        vision_start_token_id=start,
        vision_end_token_id=end,
    )
    template = (
        "{% for message in messages %}{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
        "{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}"
    )
    processor = Qwen2VLProcessor(
        image_processor=Qwen2VLImageProcessor(patch_size=8, min_pixels=256, max_pixels=4096),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(patch_size=8),
        chat_template=template,
    )
    Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def save_distilbert(folder: Path) -> Path:
    """Save a classifier of two labels, as for sentiment."""
    import torch
    from transformers import BertTokenizer, DistilBertConfig, DistilBertForSequenceClassification

    folder.mkdir(parents=True, exist_ok=True)
    words = _vocabulary(folder / "vocab.txt")
    torch.manual_seed(0)
    model = DistilBertForSequenceClassification(
        DistilBertConfig(
            vocab_size=len(words),
            dim=16,
            hidden_dim=16,
            n_layers=1,
            n_heads=2,
            max_position_embeddings=32,
            initializer_range=1.0,
            id2label={0: "NEGATIVE", 1: "POSITIVE"},
            label2id={"NEGATIVE": 0, "POSITIVE": 1},
        )
    )
    model.save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
    return folder


def save_roberta(folder: Path) -> Path:
    """Save a classifier of two labels, as for toxicity."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification, RobertaTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = RobertaTokenizer(**_trained_bpe(folder / "bpe"), model_max_length=32)
    torch.manual_seed(0)
    model = RobertaForSequenceClassification(
        RobertaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=40,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            initializer_range=1.0,
            id2label={0: "neutral", 1: "toxic"},
            label2id={"neutral": 0, "toxic": 1},
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _trained_bpe(folder: Path) -> dict[str, str]:
    from tokenizers import ByteLevelBPETokenizer

    folder.mkdir(parents=True, exist_ok=True)
    trainer = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer.train_from_iterator(SENTENCES, vocab_size=340, special_tokens=special, show_progress=False)
    trainer.save_model(str(folder))
    return {"vocab": str(folder / "vocab.json"), "merges": str(folder / "merges.txt")}


def _vocabulary(file: Path) -> list[str]:
    words = sorted({word for sentence in SENTENCES for word in sentence.split()})
    every = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]", "[ENC]", *words]
    file.write_text("\n".join(every))
    return every
