"""Running a scorer: it computes the scores that are missing, also after an interrupted run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.models import Encoder, ScoredImage, Scorer
from analysis.scoring.backends.captioners import Captioner, ImageCaptioner, NgramCaptioner
from analysis.scoring.backends.choices import ASSOCIATIONS, BEAMS, ENDPOINT, NGRAMS, Decoding
from analysis.scoring.backends.encoders import LoadedEncoder, load_encoder
from analysis.scoring.backends.endpoint import EndpointCaptioner
from analysis.scoring.backends.judge import Judge
from analysis.scoring.inputs import ngrams, scope
from analysis.scoring.inputs.pairs import ScoredPair
from analysis.scoring.inputs.prompts import PromptTexts
from analysis.scoring.inputs.scope import ScopeImage
from analysis.scoring.parameters import encoder_choice
from analysis.scoring.score_tables import text_vectors
from analysis.scoring.steps import associations, classification, clip_scores, embeddings
from analysis.scoring.steps import captions as steps_captions
from analysis.scoring.steps.store import note_done
from foundation.errors import Conflict, DomainError
from jobs.progress.reporter import Progress
from studies.models import Study

Kind = Scorer.Kind
_IMAGES = 64
_CAPTIONED = 4  # each with up to fifty candidates
_TEXTS = 64


@dataclass(frozen=True)
class RunOptions:
    """Options of a run on this machine; they change at most the last bits of the results.

    `batch_size` None chooses a size for the kind of work.
    """

    device: str = ""
    batch_size: int | None = None
    # Returns the pairs to score; a function, because the scoring package cannot import their module.
    pairs: Callable[[Study], Sequence[ScoredPair]] | None = None

    def batch(self, usual: int) -> int:
        return self.batch_size or usual


@dataclass(frozen=True)
class ScoringResult:
    """The outcome of a run in words, and the number of images that failed."""

    done: str
    failed: int = 0
    why: str = "could not be read"

    def __str__(self) -> str:
        if not self.failed:
            return f"{self.done}."
        return f"{self.done}, {_amount(self.failed, 'image')} {self.why}."


def run(*, scorer: Scorer, options: RunOptions, progress: Progress) -> ScoringResult:
    """Compute the missing scores; each batch is committed separately."""
    if scorer.parameters.get("of") == ASSOCIATIONS:
        return _score_associations(scorer, options, progress)
    if scorer.kind in {Kind.SENTIMENT, Kind.TOXICITY}:
        return _classify(scorer, options, progress)
    images = scope.scope_images(scope.images_of(scorer.study, scorer.kind))
    if not images:
        conditions = ", ".join(condition.replace("_", "-") for condition in scope.CONDITIONS[scorer.kind])
        raise DomainError(
            "nothing_to_score",
            f"The study “{scorer.study}” has no images of the conditions that this measure uses ({conditions}). "
            f"Generate or import such images first.",
        )
    steps = {Kind.CLIP: _clip, Kind.CAPTIONS: _captions, Kind.PULL: _vectors, Kind.MCAS: _vectors}
    return steps[Kind(scorer.kind)](scorer, images, options, progress)


def _clip(
    scorer: Scorer, images: Sequence[ScopeImage], options: RunOptions, progress: Progress
) -> ScoringResult:
    parameters = scorer.parameters
    attributes = scope.attributes_asked(scorer.study, parameters["attributes"])
    images = [image for image in images if attributes.get(image.group or 0)]
    if not images:
        raise DomainError(
            "no_attributes",
            f"The groups of “{scorer.study}” have no attributes to look for. Open a marking campaign, or give the "
            f"study a resource.",
        )
    needed = clip_scores.missing_scores(scorer, images, attributes)
    if not needed:
        progress.start(0)
        return ScoringResult(f"{_amount(0, 'image')} scored")
    # Only attributes with missing scores need prompts; groups without images may have others.
    missing = {key for keys in needed.values() for key in keys}
    texts = {
        key: text for of_group in attributes.values() for key, text in of_group.items() if key in missing
    }
    prompts = PromptTexts.of(texts, templates=parameters["templates"], contrast=parameters["contrast"])
    incomplete = [image for image in images if image.pk in needed]
    encoder, failed = _embed(scorer, incomplete, prompts.texts, options, progress, more=len(incomplete))
    n_scored = clip_scores.score(
        scorer=scorer, encoder=encoder, images=images, needed=needed, texts=prompts, progress=progress
    )
    return ScoringResult(f"{_amount(n_scored, 'image')} scored", failed)


def _vectors(
    scorer: Scorer, images: Sequence[ScopeImage], options: RunOptions, progress: Progress
) -> ScoringResult:
    """Embed the images and texts of pull and MCAS; the measures themselves are computed with the results."""
    texts = scope.texts_of_mcas(scorer.study) if scorer.kind == Kind.MCAS else []
    encoder, failed = _embed(scorer, images, texts, options, progress)
    missing = {file.sha256 for file in embeddings.files_without_vector(encoder, images)}
    scored = ScoredImage.objects.filter(scorer=scorer, outcome=ScoredImage.Outcome.DONE)
    noted = set(scored.values_list("image_id", flat=True).iterator())
    new = [image.pk for image in images if image.pk not in noted and image.file.sha256 not in missing]
    note_done(scorer, new)
    return ScoringResult(f"{_amount(len(new), 'image')} embedded", failed)


def _captions(
    scorer: Scorer, images: Sequence[ScopeImage], options: RunOptions, progress: Progress
) -> ScoringResult:
    waiting = steps_captions.without_captions(scorer, images)
    if not waiting:
        return ScoringResult("All images already had captions")
    parameters, encoder = scorer.parameters, None
    if parameters["captioner"] == NGRAMS:
        words = ngrams.ngrams_of(scorer.study, parameters["ngrams"])
        encoder, _ = _embed(scorer, waiting, words, options, progress, more=len(waiting))
        captioner: Captioner = NgramCaptioner(
            scorer.model_id,
            ngrams=words,
            vectors=text_vectors(encoder, words),
            top=parameters["top_ngrams"],
            joiner=parameters["joiner"],
            decoding=_decoding(scorer),
            device=options.device,
        )
    else:
        progress.start(len(waiting))
        captioner = _sees_pictures(scorer, options)
    _note_revision(scorer, captioner.revision)
    outcome = steps_captions.caption_images(
        scorer=scorer,
        captioner=captioner,
        images=waiting,
        encoder=encoder,
        study_seed=scorer.study.seed,
        batch_size=options.batch(_CAPTIONED),
        progress=progress,
    )
    summary = f"{_amount(outcome.captions, 'caption')} of {_amount(outcome.images, 'image')} written"
    return ScoringResult(summary, outcome.failed, "have no caption; the reasons are on the scorer's page")


def _sees_pictures(scorer: Scorer, options: RunOptions) -> Captioner:
    prompt, decoding = scorer.parameters["prompt"], _decoding(scorer)
    if scorer.parameters["captioner"] == ENDPOINT:
        return EndpointCaptioner(scorer.model_id, prompt=prompt, decoding=decoding)
    return ImageCaptioner(scorer.model_id, prompt=prompt, decoding=decoding, device=options.device)


def _classify(scorer: Scorer, options: RunOptions, progress: Progress) -> ScoringResult:
    waiting = classification.captions_to_classify(scorer).count()
    if not waiting and not scorer.text_scores.exists():
        raise DomainError(
            "no_captions", f"The study “{scorer.study}” has no captions to read yet. Write captions first."
        )
    progress.start(waiting)
    if not waiting:
        return ScoringResult("All captions had already been read")
    classifier = classification.TextClassifier(scorer.model_id, device=options.device)
    _note_revision(scorer, classifier.revision)
    n_read = classification.classify_captions(
        scorer=scorer, classifier=classifier, batch_size=options.batch(_TEXTS), progress=progress
    )
    return ScoringResult(f"{_amount(n_read, 'caption')} read")


def _score_associations(scorer: Scorer, options: RunOptions, progress: Progress) -> ScoringResult:
    progress.step("Finding associations")
    pairs = options.pairs(scorer.study) if options.pairs is not None else ()
    if not pairs:
        raise DomainError(
            "no_associations",
            f"The study “{scorer.study}” has no significant associations. Ask models about descriptors and run "
            f"code_answers first.",
        )
    if scorer.kind == Kind.JUDGE:
        return _judge_pairs(scorer, pairs, progress)
    texts = associations.unread_texts(scorer, pairs)
    progress.start(len(texts))
    if not texts:
        return ScoringResult("All texts had already been read")
    classifier = classification.TextClassifier(scorer.model_id, device=options.device)
    _note_revision(scorer, classifier.revision)
    associations.classify_texts(
        scorer=scorer,
        classifier=classifier,
        texts=texts,
        batch_size=options.batch(_TEXTS),
        progress=progress,
    )
    return ScoringResult(f"{_amount(len(texts), 'text')} read")


def _judge_pairs(scorer: Scorer, pairs: Sequence[ScoredPair], progress: Progress) -> ScoringResult:
    waiting = associations.unrated(scorer, pairs)
    progress.start(len(waiting))
    if not waiting:
        return ScoringResult("All associations had already been rated")
    judge = Judge(scorer.model_id, scorer.parameters, paid=scorer.price_in is not None)
    failed = associations.rate_pairs(scorer=scorer, judge=judge, waiting=waiting, progress=progress)
    done = f"{_amount(len(waiting) - failed, 'rating')} written"
    if failed:
        done += f"; {_amount(failed, 'request')} failed: run the scorer again"
    return ScoringResult(done)


def _embed(
    scorer: Scorer,
    images: Sequence[ScopeImage],
    texts: Sequence[str],
    options: RunOptions,
    progress: Progress,
    *,
    more: int = 0,
) -> tuple[Encoder, int]:
    """Compute missing vectors; return the encoder and the number of files that could not be read.

    The model is loaded only if a vector is missing. `more`: the number of steps that follow, for progress.
    """
    files = embeddings.files_without_vector(scorer.encoder, images)
    progress.start(len(files) + more)
    new_texts = embeddings.texts_without_vector(scorer.encoder, texts)
    if scorer.encoder is not None and not files and not new_texts:
        return scorer.encoder, 0
    loaded = load_encoder(encoder_choice(scorer.model_id, scorer.parameters), device=options.device)
    _note_encoder(scorer, loaded)
    # The encoder is known only now; another study may already have embedded the same files with it.
    progress.start(len(embeddings.files_without_vector(loaded.row, images)) + more)
    # MCAS writes no scores, so its texts must mark the study's reports as outdated.
    embeddings.embed_texts(loaded, texts, scorer=scorer if scorer.kind == Kind.MCAS else None)
    outcome = embeddings.embed_images(
        encoder=loaded, scorer=scorer, images=images, batch_size=options.batch(_IMAGES), progress=progress
    )
    return loaded.row, len(outcome.reasons)


def _note_encoder(scorer: Scorer, loaded: LoadedEncoder) -> None:
    if scorer.encoder_id is not None and scorer.encoder_id != loaded.row.pk:
        raise _changed(scorer, str(loaded.row.revision))
    if scorer.encoder_id is None:
        scorer.encoder = loaded.row
        # For captions, the revision is that of the language model.
        revision = scorer.model_revision if scorer.kind == Kind.CAPTIONS else loaded.row.revision
        scorer.model_revision = revision
        scorer.save(update_fields=["encoder", "model_revision"])


def _note_revision(scorer: Scorer, revision: str) -> None:
    if scorer.model_revision and scorer.model_revision != revision:
        raise _changed(scorer, revision)
    if not scorer.model_revision:
        scorer.model_revision = revision
        scorer.save(update_fields=["model_revision"])


def _changed(scorer: Scorer, revision: str) -> Conflict:
    return Conflict(
        "model_changed",
        f"“{scorer.model_label}” began with revision {scorer.model_revision or 'unknown'} of its model, but "
        f"the server now has revision {revision or 'none'}. Use another label for the new revision.",
    )


def _decoding(scorer: Scorer) -> Decoding:
    parameters = scorer.parameters
    chosen = {
        name: parameters[name] for name in ("max_new_tokens", "top_p", "temperature") if name in parameters
    }
    return Decoding(captions=parameters["captions"], way=parameters.get("decoding", BEAMS), **chosen)


def _amount(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
