"""The demo's pages by role: what `make bench` times and the tests visit."""

from annotation.kinds.registry import MARKING
from demo import pairs, words
from demo.seed import STUDY
from generation.models import Image
from studies.models import Study


def pages_by_role() -> dict[str, list[str]]:
    """Return the address of every page of the demo studies that each role works with."""
    study = Study.objects.get(name=STUDY)
    home = f"/studies/{study.slug}/"
    scenes = f"/studies/{Study.objects.get(name=pairs.STUDY).slug}/"
    completed = f"/studies/{Study.objects.get(name=words.STUDY).slug}/"
    marking = study.campaigns.get(kind=MARKING.key)
    group = study.groups.order_by("name").first()
    image = Image.objects.filter(study=study).order_by("pk").first()
    assert group is not None, "the demo has groups"
    assert image is not None, "the demo has images"
    campaign = f"{home}campaigns/{marking.slug}/"
    resource = study.resource.slug if study.resource else ""
    tasks = [f"/annotate/{labelled.pk}/" for labelled in study.campaigns.order_by("pk")]
    shared = [
        "/studies/",
        home,
        f"{home}images/",
        f"{home}results/",
        f"{home}results/groups/",
        f"{home}results/groups/?map=offensiveness",
        f"{home}results/groups/{group.name}/",
        f"{home}results/groups/images/{image.public_id}/",
        f"{home}results/attributes/",
        f"{home}results/agreement/",
        f"{home}results/disagreement/",
        f"{home}results/disagreement/?group={group.name}&by=gender",
        f"{home}results/annotator-groups/",
        f"{home}results/compare/",
        f"{home}results/visual-attributes/",
        f"{home}results/annotators/",
        scenes,
        f"{scenes}images/",
        f"{scenes}results/",
        f"{scenes}results/probes/",
        f"{scenes}results/probes/?by=scenario",
        completed,
        f"{completed}results/",
        f"{completed}results/probes/associations/",
        f"{completed}results/probes/associations/?rule=exact&model=script-storied",
        f"{completed}results/probes/heat-maps/",
        f"{completed}results/probes/overlap/",
        f"{completed}results/probes/judge/",
        "/resources/",
        f"/resources/{resource}/",
        "/account/",
        "/jobs/",
    ]
    lead = [
        "/studies/new/",
        f"/studies/new/?resource={resource}",
        f"{home}image-reports/",
        f"{home}members/",
        f"{home}consent/",
        f"{home}history/",
        f"{home}images/generate/",
        f"{home}images/import/",
        f"{home}campaigns/",
        f"{home}campaigns/new/?kind={MARKING.key}",
        campaign,
        f"{campaign}progress/",
        f"{campaign}preview/",
        f"{campaign}who/",
        f"{campaign}who/screens/",
        f"{campaign}annotators/",
        f"{campaign}checks/",
        f"{campaign}invitations/",
        f"{campaign}annotations/",
        f"{campaign}annotations/{marking.annotations.order_by('pk').values_list('pk', flat=True)[0]}/",
    ]
    return {
        "lead": shared + lead,
        "coordinator": [home, campaign, f"{campaign}invitations/", f"{campaign}pay/", "/account/"],
        "data steward": [home, campaign, f"{home}releases/", "/account/"],
        "analyst": shared,
        "annotator": [
            "/annotate/",
            "/annotate/about-you/",
            f"/annotate/{marking.pk}/consent/",
            "/account/",
            *tasks,
        ],
    }
