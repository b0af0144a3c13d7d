"""API for practice: the next practice task, and feedback on an answer."""

from uuid import UUID

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import ApiToken
from accounts.rights import Capability, requires, signed_in_user
from annotation.annotator.practice.payload import feedback_payload, practice_task_payload
from annotation.answers.languages import read_as
from annotation.api.practice_serializers import (
    PracticeFeedbackSerializer,
    PracticeSubmissionSerializer,
    PracticeTaskSerializer,
)
from annotation.campaigns.access import own_enrolment
from annotation.models import Enrolment, Task
from annotation.quality.practice import rounds
from annotation.quality.practice.progress import practice_of
from web.api.bodies import raw_body


@requires(post=Capability.ANNOTATE)
class PracticeNext(APIView):
    """Get the next practice task; the first task starts a round."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(
        request=None,
        responses={
            200: PracticeTaskSerializer,
            204: OpenApiResponse(description="There is no practice in this campaign. Ask for real tasks."),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        enrolment = read_as(own_enrolment(request.user, pk))
        task = rounds.next_task(campaign=enrolment.campaign, annotator=enrolment.annotator)
        if task is None:
            return Response(status=204)
        standing = practice_of(enrolment)
        return Response(practice_task_payload(task, annotator_id=enrolment.annotator_id, standing=standing))


@requires(post=Capability.ANNOTATE)
class PracticeAnswer(APIView):
    """Answer a practice task and get feedback; sending the same answer again returns the same feedback."""

    unsafe_scope = ApiToken.Scope.ANNOTATE

    @extend_schema(request=PracticeSubmissionSerializer, responses=PracticeFeedbackSerializer)
    def post(self, request: Request, public_id: UUID) -> Response:
        enrolment, task = _own(request, public_id)
        data = raw_body(PracticeSubmissionSerializer, request)
        practice_answer = rounds.answer(task=task, annotator=enrolment.annotator, data=data.get("answer"))
        enrolment.refresh_from_db(fields=["state"])  # failing the last round pauses the enrolment
        return Response(feedback_payload(practice_answer, standing=practice_of(enrolment)))


def _own(request: Request, public_id: UUID) -> tuple[Enrolment, Task]:
    user = signed_in_user(request)
    task = rounds.own_task(user.pk, public_id)
    return read_as(own_enrolment(user, task.campaign_id)), task
