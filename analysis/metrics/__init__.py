"""Measures as a library: tables in, frozen results out. Nothing here depends on a database or the web."""

from analysis.metrics.agreement.consensus import consensus
from analysis.metrics.agreement.fleiss_kappa import fleiss_kappa
from analysis.metrics.agreement.gwet_ac import gwet_ac
from analysis.metrics.agreement.krippendorff_alpha import krippendorff_alpha
from analysis.metrics.agreement.observed_agreement import observed_agreement
from analysis.metrics.agreement.set_alpha import krippendorff_alpha_sets
from analysis.metrics.agreement.visual_attributes import visual_attributes
from analysis.metrics.annotators.comparison import AnnotatorGroups, compare_annotator_groups
from analysis.metrics.annotators.mark_statistics import annotator_statistics
from analysis.metrics.answers.means import Means, answer_means
from analysis.metrics.automated.concordance import Concordance, concordance
from analysis.metrics.boxes.agreement import BoxAgreement, box_agreement
from analysis.metrics.boxes.consensus import consensus_boxes
from analysis.metrics.captions.matcher import CaptionMatches, match_captions, match_spans
from analysis.metrics.captions.salience import salience
from analysis.metrics.data.annotator_ids import AnnotatorIds, annotator_ids_usable
from analysis.metrics.data.judgements import Judgements
from analysis.metrics.data.results import Result
from analysis.metrics.data.roles import assign_roles
from analysis.metrics.data.vector_sets import mean_similarity
from analysis.metrics.embeddings.mcas import mcas
from analysis.metrics.embeddings.mcas_categories import mcas_categories
from analysis.metrics.embeddings.pull import pull
from analysis.metrics.marking.comparison import compare_models
from analysis.metrics.marking.likelihood import likelihood
from analysis.metrics.marking.offensiveness import offensiveness
from analysis.metrics.marking.planning import plan_precision
from analysis.metrics.marking.sensitivity import Sensitivity, sensitivity
from analysis.metrics.marking.tendency import Tendency, tendency
from analysis.metrics.points.agreement import point_agreement
from analysis.metrics.preferences.kendall_w import RankingConcordance, kendall_w
from analysis.metrics.preferences.leaderboard import Preferences
from analysis.metrics.preferences.position_bias import position_bias
from analysis.metrics.preferences.ranking_strengths import ranking_strengths
from analysis.metrics.preferences.strengths import preference_strengths
from analysis.metrics.probing.associations.harm import harm_shares
from analysis.metrics.probing.associations.judge import judge_agreement
from analysis.metrics.probing.associations.overlap import association_overlap
from analysis.metrics.probing.associations.parse import ParsedWord, description_tokens, parse_word
from analysis.metrics.probing.associations.tfidf import tfidf_associations
from analysis.metrics.probing.coding_errors import coding_errors
from analysis.metrics.probing.paired.comparison import PairedComparison, paired_comparison
from analysis.metrics.probing.paired.conditions import condition_effects, first_option_shares
from analysis.metrics.probing.paired.model_differences import model_differences
from analysis.metrics.probing.paired.planning import ProbeSpread, plan_probe
from analysis.metrics.probing.paired.scores import AssociationScores, association_scores
from analysis.metrics.probing.words.group_words import distinguishing_words
from analysis.metrics.probing.words.prepare import process_texts
from analysis.metrics.resampling.bootstrap import Resampling, pigeonhole_bootstrap

__all__ = [
    "AnnotatorGroups",
    "AnnotatorIds",
    "AssociationScores",
    "BoxAgreement",
    "CaptionMatches",
    "Concordance",
    "Judgements",
    "Means",
    "PairedComparison",
    "ParsedWord",
    "Preferences",
    "ProbeSpread",
    "RankingConcordance",
    "Resampling",
    "Result",
    "Sensitivity",
    "Tendency",
    "annotator_ids_usable",
    "annotator_statistics",
    "answer_means",
    "assign_roles",
    "association_overlap",
    "association_scores",
    "box_agreement",
    "coding_errors",
    "compare_annotator_groups",
    "compare_models",
    "concordance",
    "condition_effects",
    "consensus",
    "consensus_boxes",
    "description_tokens",
    "distinguishing_words",
    "first_option_shares",
    "fleiss_kappa",
    "gwet_ac",
    "harm_shares",
    "judge_agreement",
    "kendall_w",
    "krippendorff_alpha",
    "krippendorff_alpha_sets",
    "likelihood",
    "match_captions",
    "match_spans",
    "mcas",
    "mcas_categories",
    "mean_similarity",
    "model_differences",
    "observed_agreement",
    "offensiveness",
    "paired_comparison",
    "parse_word",
    "pigeonhole_bootstrap",
    "plan_precision",
    "plan_probe",
    "point_agreement",
    "position_bias",
    "preference_strengths",
    "process_texts",
    "pull",
    "ranking_strengths",
    "salience",
    "sensitivity",
    "tendency",
    "tfidf_associations",
    "visual_attributes",
]
