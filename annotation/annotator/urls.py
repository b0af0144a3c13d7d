from django.urls import path

from annotation.annotator import corrections, home, image_reports, onboarding, pay, preload, task
from annotation.annotator.practice import views
from annotation.annotator.translation import choice

app_name = "annotate"
urlpatterns = [
    path("", home.home, name="home"),
    path("time-and-pay/", pay.time_and_pay, name="pay"),
    path("about-you/", onboarding.about_you, name="profile"),
    path("i/<str:token>/", onboarding.invitation, name="invitation"),
    path("<int:campaign_id>/", task.task, name="task"),
    path("<int:campaign_id>/ahead/", preload.ahead, name="ahead"),
    path("<int:campaign_id>/answers/", corrections.answers, name="answers"),
    path("<int:campaign_id>/previous/", corrections.previous, name="previous"),
    path("<int:campaign_id>/previous/<uuid:public_id>/", corrections.previous, name="previous"),
    path("<int:campaign_id>/answer/<uuid:public_id>/", task.answer, name="answer"),
    path("<int:campaign_id>/practice/", views.intro, name="practice"),
    path("<int:campaign_id>/practice/task/", views.task, name="practice_task"),
    path("<int:campaign_id>/practice/answer/<uuid:public_id>/", views.answer, name="practice_answer"),
    path("<int:campaign_id>/skip/<uuid:public_id>/", task.skip, name="skip"),
    path("<int:campaign_id>/report/<uuid:public_id>/", image_reports.report, name="report"),
    path("<int:campaign_id>/warning/read/", task.warning_read, name="warning_read"),
    path("<int:campaign_id>/done/", task.done, name="done"),
    path("<int:campaign_id>/consent/", onboarding.agree, name="consent"),
    path("<int:campaign_id>/consent/withdraw/", home.withdraw, name="withdraw"),
    path("<int:campaign_id>/about-you/", onboarding.about_you, name="profile"),
    path("<int:campaign_id>/language/", choice.language, name="language"),
    path("<int:campaign_id>/link/", onboarding.return_link, name="link"),
    path("<int:campaign_id>/link/new/", onboarding.make_return_link, name="make_link"),
]
