"""Measures as a library: tables in, frozen results out. Nothing here knows of a database or the web."""

from analysis.metrics.annotator_ids import AnnotatorIds, annotator_ids_usable
from analysis.metrics.annotator_statistics import annotator_statistics
from analysis.metrics.box_agreement import BoxAgreement, box_agreement
from analysis.metrics.captions import CaptionMatches, match_captions, match_spans
from analysis.metrics.compare_annotator_groups import AnnotatorGroups, compare_annotator_groups
from analysis.metrics.comparison import compare_models
from analysis.metrics.concordance import Concordance, concordance
from analysis.metrics.consensus import consensus
from analysis.metrics.consensus_boxes import consensus_boxes
from analysis.metrics.fleiss_kappa import fleiss_kappa
from analysis.metrics.gwet_ac import gwet_ac
from analysis.metrics.judgements import Judgements
from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.likelihood import likelihood
from analysis.metrics.mcas import mcas
from analysis.metrics.mcas_categories import mcas_categories
from analysis.metrics.observed_agreement import observed_agreement
from analysis.metrics.offensiveness import offensiveness
from analysis.metrics.plan_precision import plan_precision
from analysis.metrics.pull import pull
from analysis.metrics.resampling import Resampling, pigeonhole_bootstrap
from analysis.metrics.results import Result
from analysis.metrics.roles import assign_roles
from analysis.metrics.salience import salience
from analysis.metrics.sensitivity import Sensitivity, sensitivity
from analysis.metrics.tendency import Tendency, tendency
from analysis.metrics.vector_sets import mean_similarity
from analysis.metrics.visual_attributes import visual_attributes

__all__ = [
    "AnnotatorGroups",
    "AnnotatorIds",
    "BoxAgreement",
    "CaptionMatches",
    "Concordance",
    "Judgements",
    "Resampling",
    "Result",
    "Sensitivity",
    "Tendency",
    "annotator_ids_usable",
    "annotator_statistics",
    "assign_roles",
    "box_agreement",
    "compare_annotator_groups",
    "compare_models",
    "concordance",
    "consensus",
    "consensus_boxes",
    "fleiss_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "likelihood",
    "match_captions",
    "match_spans",
    "mcas",
    "mcas_categories",
    "mean_similarity",
    "observed_agreement",
    "offensiveness",
    "pigeonhole_bootstrap",
    "plan_precision",
    "pull",
    "salience",
    "sensitivity",
    "tendency",
    "visual_attributes",
]
