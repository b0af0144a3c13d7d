"""The overhead of the platform: a generation run compared with the bare pipeline call, image by image in one process.

Ours is the code of a worker: requests from the database, the call, PNG, file and row, progress. The bare call is that
of a script, `pipeline(prompt, generator=…)`, with the same pipeline object.
"""

import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.table import Row

IMAGES = 40
STEPS = 20
OVERHEAD = 0.03
Times = tuple[float, float]  # processor time, elapsed time
CLAIM = "processor time that a run adds to the bare call: tiny, 64 × 64, 20 steps"
CUDA_CLAIM = "images a second of a full-size Stable Diffusion, beside the bare loop"


def run() -> Iterator[Row]:
    """Yield the two claims; each is measured in a separate process with a separate database."""
    if find_spec("diffusers") is None:
        yield Row(CLAIM, "diffusers is missing", f"{OVERHEAD:.0%}", None)
        return
    yield _row(CLAIM, "tiny", f"{OVERHEAD:.0%}")
    yield _row(CUDA_CLAIM, "full", "95 %")


def _row(claim: str, which: str, limit: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "STEREOSCOPE_VAR": str(Path(folder) / "var"),
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'bench.sqlite3'}",
            "SECRET_KEY": "for a benchmark only, long enough to be one",
            "OMP_NUM_THREADS": "1" if which == "tiny" else os.environ.get("OMP_NUM_THREADS", ""),
            "PYTHONPATH": os.pathsep.join(["platform", "."]),
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        if not environment["OMP_NUM_THREADS"]:
            del environment["OMP_NUM_THREADS"]
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks.generation.overhead", which, folder],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    measured, _, within_limit = process.stdout.strip().splitlines()[-1].partition("|")
    return Row(claim, measured, limit, {"yes": True, "no": False, "": None}[within_limit])


def _measure(which: str, folder: Path) -> str:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    return _tiny(folder) if which == "tiny" else _full(folder)


def _tiny(folder: Path) -> str:
    from tests.generation.backends.tiny_pipeline import save_tiny_pipeline

    weights = save_tiny_pipeline(folder / "tiny")
    bare, our_times = _interleaved(
        weights, {"num_inference_steps": STEPS, "width": 64, "height": 64, "device": "cpu"}, IMAGES
    )
    # Processor time decides, because elapsed time depends on other programs.
    share, by_clock = (_added([b[i] for b in bare], [o[i] for o in our_times]) for i in (0, 1))
    return f"{share:.1%} (by the clock {by_clock:.1%})|{_verdict(share <= OVERHEAD)}"


def _added(bare: list[float], our_seconds: list[float]) -> float:
    """Return the share added by ours, from the fastest quarters, because other programs only slow images down."""
    alone, whole = (statistics.mean(sorted(seconds)[: len(seconds) // 4]) for seconds in (bare, our_seconds))
    return (whole - alone) / alone


def _full(folder: Path) -> str:
    import torch

    if not torch.cuda.is_available():
        return "no CUDA device at hand|"
    weights = save_full_pipeline(folder / "full")
    bare, our_times = _interleaved(weights, {"num_inference_steps": 50}, 12)
    rates = [len(times) / sum(clock for _, clock in times) for times in (bare, our_times)]
    return f"{rates[1]:.2f} beside {rates[0]:.2f}|{_verdict(rates[1] >= 0.95 * rates[0])}"


def _verdict(within_limit: bool) -> str:
    return "yes" if within_limit else "no"


def _interleaved(weights: Path, parameters: dict[str, Any], images: int) -> tuple[list[Times], list[Times]]:
    """Return the times of the bare call and of ours, in pairs with alternating order."""
    import torch

    from generation.models import GenerationRequest
    from generation.runs.claims import Claims
    from generation.runs.execution import JobsProgress, Making
    from generation.runs.inference import answers
    from jobs.models import Job
    from jobs.progress.reporter import JobProgress

    run, job = _planned(weights, parameters, images)
    progress = JobProgress(job)
    model = _loaded(run)
    our_run = Making(run, model, Claims(run, job, None), JobsProgress(run, job, progress, images))
    # The first call of a pipeline takes longer.
    next(answers(model, list(run.requests.all()[:1]), paid=False))
    pipeline = model._pipeline
    call_parameters = {name: value for name, value in parameters.items() if name != "device"}
    times: dict[str, list[Times]] = {"bare": [], "ours": []}

    def bare_image(request: GenerationRequest) -> None:
        generator = torch.Generator("cpu").manual_seed(request.seed)
        pipeline(request.prompt, generator=generator, **call_parameters)

    for number, request in enumerate(run.requests.all()):
        parts: list[tuple[str, Callable[[], object]]] = [
            ("bare", partial(bare_image, request)),
            ("ours", our_run.make_step),
        ]
        for name, make in parts if number % 2 else reversed(parts):
            began = time.process_time(), time.perf_counter()
            make()
            times[name].append((time.process_time() - began[0], time.perf_counter() - began[1]))
    assert run.requests.filter(outcome="done").count() == images
    assert Job.objects.get(pk=job.pk).steps_done > 0
    return times["bare"], times["ours"]


def _planned(weights: Path, parameters: dict[str, Any], images: int) -> tuple[Any, Any]:
    from generation.prompts.creation import set_prompts
    from generation.runs.planning import plan_run
    from jobs.engine.leases import claim
    from jobs.run.execution import prepare
    from studies.models import Study, StudyGroup

    study = Study.objects.create(name="Isles", slug="isles", seed=7)
    StudyGroup.objects.create(study=study, name="Orsani", display_name="Orsani")
    set_prompts(study=study, templates=["{a_an} {id} person"], images_per_prompt=images, by=None)
    run = plan_run(study=study, backend="diffusers", model_id=str(weights), parameters=parameters, by=None)
    job = prepare(kind="generate", title="Benchmark", arguments={"run": run.pk}, by=None, study_id=study.pk)
    return run, claim(job.pk)


def _loaded(run: Any) -> Any:
    from generation.backends import backend_named

    return backend_named(run.backend).load(model_id=run.model_id, parameters=run.parameters)


def save_full_pipeline(folder: Path) -> Path:
    """Build Stable Diffusion 1.x at its real size with random weights, and save it in half precision."""
    import torch
    from diffusers import AutoencoderKL, PNDMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel

    from tests.generation.backends.tiny_pipeline import tiny_tokenizer

    torch.manual_seed(0)
    tokenizer = tiny_tokenizer(folder.parent / "full-tokenizer")
    text = CLIPTextConfig(
        vocab_size=49408,
        hidden_size=768,
        intermediate_size=3072,
        num_hidden_layers=12,
        num_attention_heads=12,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )
    pipeline = StableDiffusionPipeline(
        unet=UNet2DConditionModel(sample_size=64, cross_attention_dim=768, attention_head_dim=8),
        vae=AutoencoderKL(
            block_out_channels=[128, 256, 512, 512],
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            layers_per_block=2,
            latent_channels=4,
            sample_size=512,
        ),
        text_encoder=CLIPTextModel(text),
        tokenizer=tokenizer,
        scheduler=PNDMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            skip_prk_steps=True,
            steps_offset=1,
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.to(torch.float16).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    noise, sys.stdout = sys.stdout, io.StringIO()
    outcome = _measure(sys.argv[1], Path(sys.argv[2]))
    sys.stdout = noise
    print(outcome)
