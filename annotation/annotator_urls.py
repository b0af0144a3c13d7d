from django.urls import path

from annotation.annotator_views import ahead, correcting, home, joining, pay, practice, reporting, working

app_name = "annotate"
urlpatterns = [
    path("", home.home, name="home"),
    path("time-and-pay/", pay.time_and_pay, name="pay"),
    path("about-you/", joining.about_you, name="profile"),
    path("i/<str:token>/", joining.invitation, name="invitation"),
    path("<int:campaign_id>/", working.task, name="task"),
    path("<int:campaign_id>/ahead/", ahead.ahead, name="ahead"),
    path("<int:campaign_id>/answers/", correcting.answers, name="answers"),
    path("<int:campaign_id>/previous/", correcting.previous, name="previous"),
    path("<int:campaign_id>/previous/<uuid:public_id>/", correcting.previous, name="previous"),
    path("<int:campaign_id>/answer/<uuid:public_id>/", working.answer, name="answer"),
    path("<int:campaign_id>/practice/", practice.intro, name="practice"),
    path("<int:campaign_id>/practice/task/", practice.task, name="practice_task"),
    path("<int:campaign_id>/practice/answer/<uuid:public_id>/", practice.answer, name="practice_answer"),
    path("<int:campaign_id>/skip/<uuid:public_id>/", working.skip, name="skip"),
    path("<int:campaign_id>/report/<uuid:public_id>/", reporting.report, name="report"),
    path("<int:campaign_id>/warning/read/", working.warning_read, name="warning_read"),
    path("<int:campaign_id>/done/", working.done, name="done"),
    path("<int:campaign_id>/consent/", joining.agree, name="consent"),
    path("<int:campaign_id>/consent/withdraw/", home.withdraw, name="withdraw"),
    path("<int:campaign_id>/about-you/", joining.about_you, name="profile"),
    path("<int:campaign_id>/link/", joining.return_link, name="link"),
    path("<int:campaign_id>/link/new/", joining.make_return_link, name="make_link"),
]
