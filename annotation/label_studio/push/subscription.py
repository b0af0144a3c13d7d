"""A webhook for each project, with both secrets, by which Label Studio tells us about answers."""

from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from annotation.label_studio.client.encryption import unseal
from annotation.label_studio.client.errors import Trouble
from annotation.label_studio.client.rest import Client
from annotation.label_studio.models import LabelStudioBridge, LabelStudioProject

ACTIONS = (
    "ANNOTATION_CREATED",
    "ANNOTATIONS_CREATED",
    "ANNOTATION_UPDATED",
    "ANNOTATIONS_DELETED",
    "TASKS_DELETED",
    "PROJECT_UPDATED",
)
SECRET_HEADER = "X-Stereoscope-Secret"  # noqa: S105 -- the header's name
NO_ADDRESS = (
    "SITE_URL is not set, so Label Studio cannot notify this server of answers. Answers arrive only when "
    "Stereoscope compares everything."
)


def ask_to_be_told(client: Client, project: LabelStudioProject) -> str:
    """Make sure that the project has one correct webhook of ours; return why it has none, or ""."""
    if not settings.SITE_URL:
        return NO_ADDRESS
    bridge = project.bridge
    address, headers = address_of(bridge), {SECRET_HEADER: unseal(bridge.header_secret)}
    own_webhooks = [webhook for webhook in client.webhooks(project.external_id) if _is_ours(webhook, project)]
    right = [webhook for webhook in own_webhooks if _is_right(webhook, address, headers)][:1]
    for webhook in own_webhooks:
        if webhook not in right:
            client.delete_webhook(int(webhook["id"]))
    try:
        number = (
            int(right[0]["id"])
            if right
            else client.create_webhook(
                project=project.external_id, url=address, headers=headers, actions=ACTIONS
            )
        )
    except Trouble as trouble:
        if trouble.code != "refused":
            raise
        return (
            f"Label Studio refuses to notify this server of answers ({trouble.message.rstrip('.')}). "
            f"Answers arrive only when everything is compared."
        )
    if project.webhook_id != number:
        project.webhook_id = number
        project.save(update_fields=["webhook_id"])
    return ""


def address_of(bridge: LabelStudioBridge) -> str:
    """Return the address that Label Studio is to call."""
    query = urlencode({"bridge": str(bridge.public_id), "key": unseal(bridge.address_secret)})
    return f"{settings.SITE_URL}{reverse('api:webhook-label-studio')}?{query}"


def _is_ours(webhook: dict[str, object], project: LabelStudioProject) -> bool:
    bridge_query = f"bridge={project.bridge.public_id}"
    return webhook.get("id") == project.webhook_id or bridge_query in str(webhook.get("url"))


def _is_right(webhook: dict[str, object], address: str, headers: dict[str, str]) -> bool:
    actions = webhook.get("actions")
    return (
        webhook.get("url") == address
        and webhook.get("headers") == headers
        and webhook.get("is_active") is True
        and (webhook.get("send_for_all_actions") is True or set(ACTIONS) <= set(actions or ()))  # type: ignore[call-overload]
    )
