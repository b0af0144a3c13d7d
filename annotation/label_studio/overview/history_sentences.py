"""The sentences of a study's history for each action of this integration."""

SENTENCES = {
    "label_studio.connected": "connected the Label Studio {url}",
    "label_studio.token_changed": "changed the token for the Label Studio {url}",
    "label_studio.disconnected": "disconnected the Label Studio {url}",
    "label_studio.begun": "started labelling “{campaign}” in the Label Studio {server}",
    "label_studio.ended": "ended the labelling of “{campaign}” in the Label Studio {server}",
    "label_studio.pushed": "pushed “{campaign}” to Label Studio: {sent} screens sent, {present} sent earlier",
    "label_studio.images_renewed": "made the image addresses of “{campaign}” in Label Studio valid for {days} more "
    "days",
    "label_studio.images_replaced": "replaced the image addresses of “{campaign}” in Label Studio",
    "label_studio.cleanup_asked": "asked to delete {answers} answers that do not count from Label Studio {server}",
    "label_studio.cleaned": "deleted {answers} answers that did not count from Label Studio {server}",
    "label_studio_user.mapped": "matched user {number} of the Label Studio {server} with {pseudonym}, {how}",
    "label_studio_user.ignored": "left out user {number} of the Label Studio {server}",
    "label_studio_user.undone": "undid the decision about user {number} of the Label Studio {server}",
    "label_studio_user.erased": "forgot the name of user {number} of the Label Studio {server}",
    "label_studio_annotation.allowed": "accepted flagged answer {number} in Label Studio in “{campaign}”",
    "label_studio_annotation.flagged": "stopped counting flagged answer {number} in Label Studio in “{campaign}”",
    "label_studio_annotation.kept": "kept the author’s version of answer {number} in Label Studio in “{campaign}”",
    "label_studio_annotation.taken": "accepted another person’s version of answer {number} in Label Studio in "
    "“{campaign}”",
    "label_studio_annotation.restored": "restored a version of answer {number} in Label Studio in “{campaign}”",
    "label_studio_annotation.undecided": "undid a decision about answer {number} in Label Studio in “{campaign}”",
}
