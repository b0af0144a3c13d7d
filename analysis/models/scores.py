"""Automatic scores of images: vectors, CLIP scores, captions, and classifiers' scores of captions.

A vector belongs to an encoder and to the content of an image or a text; all studies share it. Everything else belongs
to a scorer of a study.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from analysis.models.vector_types import FLOAT32, VECTOR_TYPES
from catalog.models import Attribute
from generation.models import Image
from jobs.models import Job
from studies.models import Study


class Encoder(models.Model):
    """A model that turns images and texts into vectors: an architecture with one checkpoint, identified by a digest.

    `parameters` says how it was loaded: its temperature, the size of its pictures, the length of its texts.
    """

    architecture = models.CharField(max_length=200)
    pretrained = models.CharField(max_length=300, blank=True)  # tag, hub id, or name of a folder or file
    revision = models.CharField(max_length=120)  # commit of the hub, or digest of the files
    precision = models.CharField(max_length=10, default="fp32")
    vector_type = models.CharField(max_length=10, default=FLOAT32)  # how its vectors are kept
    dim = models.PositiveIntegerField()
    parameters = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["architecture", "pretrained", "revision", "precision", "vector_type"],
                name="encoder_unique",
            ),
            models.CheckConstraint(condition=Q(dim__gte=1), name="encoder_has_dimensions"),
            models.CheckConstraint(condition=~Q(revision=""), name="encoder_has_revision"),
            models.CheckConstraint(
                condition=Q(vector_type__in=VECTOR_TYPES), name="encoder_vector_type_known"
            ),
        ]
        ordering: ClassVar = ["id"]

    def __str__(self) -> str:
        name = f"{self.architecture} · {self.pretrained}" if self.pretrained else self.architecture
        # Tables of results name the encoder: rounded vectors are to be seen there.
        return name if self.vector_type == FLOAT32 else f"{name} · {self.vector_type} vectors"


class ImageEmbedding(models.Model):
    """The vector of some bytes: of unit length, little-endian, in the encoder's `vector_type`."""

    encoder = models.ForeignKey(Encoder, on_delete=models.CASCADE, related_name="image_embeddings")
    sha256 = models.CharField(max_length=64)
    vector = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["encoder", "sha256"], name="image_embedding_once"),
        ]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} by {self.encoder}"


class TextEmbedding(models.Model):
    """The vector of a text: of unit length, little-endian, in the encoder's `vector_type`."""

    encoder = models.ForeignKey(Encoder, on_delete=models.CASCADE, related_name="text_embeddings")
    text_sha256 = models.CharField(max_length=64)
    text = models.TextField()
    vector = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["encoder", "text_sha256"], name="text_embedding_once"),
        ]

    def __str__(self) -> str:
        return f"“{self.text[:60]}” by {self.encoder}"


class Scorer(models.Model):
    """One configuration of automated scoring in a study. The same again goes on where it stopped.

    `pull` and `mcas` only embed what those measures compare; `configuration` is a digest of what was asked for.
    """

    class Kind(models.TextChoices):
        CLIP = "clip", "CLIP scores of attributes"
        CAPTIONS = "captions", "captions"
        PULL = "pull", "vectors for stereotypical pull"
        MCAS = "mcas", "vectors for MCAS"
        SENTIMENT = "sentiment", "sentiment of captions"
        TOXICITY = "toxicity", "toxicity of captions"
        JUDGE = "judge", "bias level by a language model"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="scorers")
    kind = models.CharField(max_length=10, choices=Kind)
    model_id = models.CharField(max_length=300)
    model_label = models.CharField(max_length=120)  # how tables name the scorer
    model_revision = models.CharField(max_length=120, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    configuration = models.CharField(max_length=64)
    # Of judges that are paid by the token, for a million of them. They do not change what is asked, so they may change.
    price_in = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    budget = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    # With the most that requests under way can cost.
    spent = models.DecimalField(max_digits=18, decimal_places=8, default=0, db_default=0)
    encoder = models.ForeignKey(
        Encoder, null=True, blank=True, on_delete=models.PROTECT, related_name="scorers"
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "configuration"], name="scorer_configuration_once"),
            models.UniqueConstraint(fields=["study", "model_label"], name="scorer_label_unique"),
            models.CheckConstraint(condition=~Q(model_label=""), name="scorer_has_label"),
            models.CheckConstraint(
                condition=Q(price_in__isnull=True, price_out__isnull=True)
                | Q(price_in__gte=0, price_out__gte=0, price_in__isnull=False, price_out__isnull=False),
                name="scorer_has_both_prices",
            ),
            # Without prices nothing would ever be counted against the budget.
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gte=0, price_in__isnull=False),
                name="scorer_budget_has_prices",
            ),
            models.CheckConstraint(condition=Q(spent__gte=0), name="scorer_spent_is_no_debt"),
        ]
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return self.model_label


class ScoredImage(models.Model):
    """That a scorer is done with an image, or why it could not be."""

    class Outcome(models.TextChoices):
        DONE = "done", "done"
        FAILED = "failed", "failed"

    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="scored_images")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scorer", "image"], name="scored_image_once"),
            models.CheckConstraint(
                condition=Q(outcome="done", reason="") | Q(outcome="failed") & ~Q(reason=""),
                name="scored_image_failed_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.image} by {self.scorer}: {self.outcome}"


class AttributeScore(models.Model):
    """How far an image shows an attribute to a scorer: a probability, and the raw cosine beside it."""

    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="attribute_scores")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    attribute = models.ForeignKey(Attribute, on_delete=models.PROTECT, related_name="+")
    probability = models.FloatField()
    cosine = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scorer", "image", "attribute"], name="attribute_score_once"),
            models.CheckConstraint(
                condition=Q(probability__gte=0, probability__lte=1), name="attribute_score_is_probability"
            ),
            models.CheckConstraint(
                condition=Q(cosine__gte=-1.001, cosine__lte=1.001), name="attribute_score_is_cosine"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.attribute} in {self.image}: {self.probability:.3f}"


class Caption(models.Model):
    """A sentence that a model wrote about an image; the same sentence once, the likeliest first."""

    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="captions")
    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="captions")
    position = models.PositiveSmallIntegerField()
    # Its length keeps a row of the unique index within what PostgreSQL takes, whatever the script.
    text = models.CharField(max_length=600)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scorer", "image", "text"], name="caption_text_once"),
            models.UniqueConstraint(fields=["scorer", "image", "position"], name="caption_position_once"),
            models.CheckConstraint(condition=~Q(text=""), name="caption_has_text"),
        ]

    def __str__(self) -> str:
        return self.text


class TextScore(models.Model):
    """What a classifier says of a caption: one row for each of its labels."""

    scorer = models.ForeignKey(Scorer, on_delete=models.CASCADE, related_name="text_scores")
    caption = models.ForeignKey(Caption, on_delete=models.CASCADE, related_name="text_scores")
    label = models.CharField(max_length=80)
    score = models.FloatField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scorer", "caption", "label"], name="text_score_once"),
            models.CheckConstraint(condition=Q(score__gte=0, score__lte=1), name="text_score_is_probability"),
        ]

    def __str__(self) -> str:
        return f"{self.label}: {self.score:.3f}"
