from django.urls import path

from generation.pages import images, runs
from generation.pages.probing import answers, files
from generation.pages.probing import runs as probe_runs

app_name = "generation"
urlpatterns = [
    path("images/", images.images, name="images"),
    path("images/not-made/", images.not_made, name="not_made"),
    path("images/generate/", runs.Generate.as_view(), name="generate"),
    path("images/generate/estimate/", runs.estimate, name="estimate"),
    path("images/runs/<int:run>/go-on/", runs.go_on, name="go_on"),
    path("images/import/", images.ImportImages.as_view(), name="import_images"),
    path("probes/", probe_runs.probes, name="probes"),
    path("probes/new/", probe_runs.NewProbe.as_view(), name="probe_new"),
    path("probes/new/estimate/", probe_runs.probe_estimate, name="probe_estimate"),
    path("probes/import/", files.AnswerUpload.as_view(), name="answer_upload"),
    path("probes/import/<int:look>/", files.AnswerFilePage.as_view(), name="answer_file"),
    path("probes/<int:run>/", probe_runs.Probe.as_view(), name="probe"),
    path("probes/<int:run>/go-on/", probe_runs.ProbeGoOn.as_view(), name="probe_go_on"),
    path("probes/<int:run>/retry/", probe_runs.ProbeRetry.as_view(), name="probe_retry"),
    path("probes/<int:run>/cancel/", probe_runs.ProbeCancel.as_view(), name="probe_cancel"),
    path("probes/<int:run>/answers/", answers.answers, name="answers"),
    path("probes/<int:run>/answers/<int:answer>/", answers.OneAnswer.as_view(), name="answer"),
]
