from studies.api import views
from web.api.routers import TwinRouter

router = TwinRouter()
router.register("studies", views.StudyViewSet, "study")
urlpatterns = router.urls
