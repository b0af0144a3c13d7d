"""CLIP embedding compared with a bare open_clip loop: ViT-B/32 of random weights, the same files and batch size.

Both read, decode and prepare each picture and run the model; ours also determines the missing vectors, and stores
every vector in a database. They alternate in one process, and the ratio of their times counts.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.table import Row
from benchmarks.web_server import platform

LIMIT = 0.95
_ROUNDS = 4
_EDGE = 512  # pixels, as Stable Diffusion makes them
# Images and batch size: some seconds per round on either device.
_AMOUNTS = {"cpu": (48, 16), "cuda": (2_048, 128)}


def run() -> Iterable[Row]:
    """Measure on the processor, and on a graphics card if there is one."""
    import torch

    yield _row("cpu")
    if torch.cuda.is_available():
        yield _row("cuda")
    else:
        yield Row("CLIP embedding on a graphics card", "no graphics card", f"{LIMIT:.0%}", None)


def _row(device: str) -> Row:
    with (
        tempfile.TemporaryDirectory() as folder,
        platform(f"sqlite:///{folder}/own.sqlite3", "SQLite", Path(folder)) as installation,
    ):
        code = f"from benchmarks.analysis.scoring import measure\nmeasure({device!r}, {folder!r})"
        figures = json.loads(installation.shell(code))
    claim = f"CLIP ViT-B/32 embedding beside bare open_clip, {figures['device']}, batch {figures['batch']}"
    measured = f"{figures['ratio']:.0%} ({figures['ours']:.1f} and {figures['bare']:.1f}/s)"
    return Row(claim[:72], measured, f"{LIMIT:.0%}", figures["ratio"] >= LIMIT)


def measure(device: str, folder: str) -> None:
    """Alternate both and print the images per second of each as JSON; runs inside the platform."""
    import torch

    from analysis.models import ImageEmbedding
    from analysis.scoring.backends.choices import EncoderChoice
    from analysis.scoring.backends.encoders import load_encoder

    number, batch = _AMOUNTS[device]
    weights = _random_weights(Path(folder))
    encoder = load_encoder(EncoderChoice("ViT-B-32", str(weights)), device=device)
    images = _pictures(number)
    bare = _bare_loop(weights, device, [image.file.name for image in images], batch)

    def ours() -> None:
        from analysis.scoring.steps.embeddings import embed_images
        from jobs.progress.reporter import Unwatched

        embed_images(encoder=encoder, scorer=None, images=images, batch_size=batch, progress=Unwatched())

    seconds: dict[str, list[float]] = {"bare": [], "ours": []}
    ways = {"bare": bare, "ours": ours}
    for turn in range(_ROUNDS + 1):
        for name in sorted(ways, reverse=bool(turn % 2)):
            ImageEmbedding.objects.all().delete()
            took = _timed(ways[name])
            if turn:  # the first round warms up
                seconds[name].append(took)
    assert ImageEmbedding.objects.count() in {0, number}
    rates = {name: number * _ROUNDS / sum(rounds) for name, rounds in seconds.items()}
    # Per round, so that other work on the machine slows both.
    ratios = sorted(
        bare_loop / embedding for bare_loop, embedding in zip(seconds["bare"], seconds["ours"], strict=True)
    )
    place = torch.cuda.get_device_name(0) if device == "cuda" else "processor"
    print(json.dumps({"device": place, "batch": batch, "ratio": ratios[len(ratios) // 2], **rates}))


def _bare_loop(weights: Path, device: str, names: list[str], batch: int) -> Callable[[], None]:
    """Return a loop as people would write it who only want the vectors."""
    import open_clip
    import torch
    from django.core.files.storage import default_storage
    from PIL import Image

    model, _, preprocess = open_clip.create_model_and_transforms("ViT-B-32", str(weights), device=device)
    model.eval()
    paths = [default_storage.path(name) for name in names]

    def loop() -> None:
        vectors: list[Any] = []
        with torch.inference_mode():
            for start in range(0, len(paths), batch):
                tensors = [preprocess(Image.open(path)) for path in paths[start : start + batch]]
                embeddings = model.encode_image(torch.stack(tensors).to(device), normalize=True)
                vectors.append(embeddings.cpu())
        torch.cat(vectors)

    return loop


def _random_weights(folder: Path) -> Path:
    import open_clip
    import torch

    torch.manual_seed(0)
    file = folder / "vit-b-32.pt"
    torch.save(open_clip.create_model("ViT-B-32").state_dict(), file)
    return file


def _pictures(number: int) -> list[Any]:
    """Store unique pictures of noise, and return them as scorers take them."""
    import io

    import numpy as np
    from PIL import Image as Picture

    from analysis.scoring.inputs.scope import images_of, scope_images
    from generation.images.storage import store_image
    from studies.models import Study, StudyGroup

    study = Study.objects.create(name="Isles", slug="isles", seed=1)
    group = StudyGroup.objects.create(study=study, name="Velmari", display_name="Velmari")
    generator = np.random.default_rng(0)
    for _ in range(number):
        # Coarse noise: its PNG takes as long to decode as that of a photograph.
        small = generator.integers(0, 256, (64, 64, 3), dtype=np.uint8)
        file = io.BytesIO()
        Picture.fromarray(small).resize((_EDGE, _EDGE), Picture.Resampling.BICUBIC).save(
            file, "PNG", compress_level=1
        )
        store_image(study=study, data=file.getvalue(), group=group, model_label="painter")
    return scope_images(images_of(study, "clip"))


def _timed(call: Callable[[], None]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
