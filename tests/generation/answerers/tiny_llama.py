"""A Llama with random weights, saved as a user's weights are saved."""

from pathlib import Path

SENTENCES = [
    "a person with a tall hat",
    "who lights the lamps",
    "a kite over the sea",
    "the first or the second",
]


def save_llama(folder: Path, *, template: str = "") -> Path:
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Tokenizer, LlamaConfig, LlamaForCausalLM

    folder.mkdir(parents=True)
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(
        SENTENCES, vocab_size=300, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False
    )
    trainer.save_model(str(folder))
    tokenizer = GPT2Tokenizer(
        vocab=str(folder / "vocab.json"),
        merges=str(folder / "merges.txt"),
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
    )
    if template:
        tokenizer.chat_template = template
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        vocab_size=len(tokenizer),
        max_position_embeddings=256,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=1.0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
