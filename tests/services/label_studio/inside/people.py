"""Create an owner and annotators with tokens of both kinds, and print them as JSON; run by Label Studio's Python."""

import json
import sys

import django

django.setup()

from jwt_auth.models import JWTSettings, LSAPIToken  # noqa: E402
from organizations.models import Organization  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402
from users.models import User  # noqa: E402

PASSWORD = "a long password"
names = ["owner", *(f"annotator{number}" for number in range(1, int(sys.argv[1]) + 1))]
people = [
    User.objects.create_user(f"{name}@isles.example", PASSWORD, username=name, first_name=name)
    for name in names
]
organization = Organization.create_organization(created_by=people[0], title="Isles")
rows = []
for person in people:
    if not organization.users.filter(pk=person.pk).exists():
        organization.add_user(person)
    person.active_organization = organization
    person.save()
    rows.append(
        {
            "id": person.pk,
            "email": person.email,
            "password": PASSWORD,
            "token": Token.objects.get_or_create(user=person)[0].key,
            "personal_token": LSAPIToken.for_user(person).get_full_jwt(),
        }
    )
allowed, _ = JWTSettings.objects.get_or_create(organization=organization)
allowed.legacy_api_tokens_enabled = True
allowed.save()
sys.stdout.write("PEOPLE" + json.dumps(rows))
