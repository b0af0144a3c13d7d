"""Sentences by which the verbs refuse an annotator, named here so that they are translated.

Verbs speak English; pages and API translate what a refusal says when they show it.
"""

from django.utils.translation import gettext_noop as _

REFUSALS = (
    _("You do not take part in this campaign; open your invitation link."),
    _("Your work in this campaign is paused; ask whoever invited you."),
    _("Your part in this campaign has ended; ask who invited you."),
    _("Please read and accept the consent text first."),
    _("Please do the practice first; your tasks begin when it is passed."),
    _("The practice was not passed."),
    _("There is no such practice task of yours."),
    _("Ask for a practice task first."),
    _("This practice round has ended; ask for a practice task first."),
    _("You answered this practice task before; go on to the next."),
    _("This practice task is no longer there; go on to the next."),
    _("The tasks of this campaign are given out in Label Studio, not here."),
    _("This was answered in Label Studio; please change the answer there."),
    _("There is no such task of yours."),
    _("This task was submitted and cannot be skipped any more."),
    _("This submission_id was used for another task; make a new one for each submission."),
    _("This answer can no longer be changed: its time for that is over."),
    _("The campaign is closed; answers cannot be changed any more."),
    _("Choose one of the five answers."),
    _("Draw a box around what shows it."),
    _("A box was drawn for something that is not ticked."),
    _("It lies outside the picture."),
    _("The box has no area."),
    _("The box reaches outside the picture."),
    _("It is not on this screen."),
    _("Please write why you are unsure."),
    _("Tick what the picture shows, or choose ‘None of the above’."),
    _("‘None of the above’ cannot go with a tick or a box."),
    _("This annotator is nobody who could sign in."),
    _("This link is not known, or was replaced by a newer one. Ask who sent it."),
    _("This personal link belongs to another annotator. Sign out first if it is yours."),
    _("This link belongs to somebody with a password. Sign in first."),
    _("This link was revoked. Ask who sent it for another."),
    _("This link has expired. Ask who sent it for another."),
    _("This work is finished; nobody can join any more. Thank you."),
    _("Everybody this link was meant for has joined already."),
    _("There is no image at this address."),
    _("This image's address has expired; reload the page that showed it."),
)
