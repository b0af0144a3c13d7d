"""URLs of resources."""

from django.urls import path

from catalog.pages import views

app_name = "catalog"
urlpatterns = [
    path("", views.resource_list, name="list"),
    path("import/", views.ResourceImport.as_view(), name="import"),
    path("<slug:resource>/", views.resource_detail, name="detail"),
    path("<slug:resource>/groups/<int:group>/", views.group_detail, name="group"),
]
