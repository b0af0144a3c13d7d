from typing import Any

from django.db import migrations

from accounts.consent_texts import translate_built_in


def translate(apps: Any, _schema_editor: Any) -> None:
    translate_built_in(apps.get_model("accounts", "ConsentText"))


class Migration(migrations.Migration):
    """Write the built-in consent text in German, Spanish and Hindi where a database has it in English."""

    dependencies = [("accounts", "0002_consent_translations")]
    operations = [migrations.RunPython(translate, migrations.RunPython.noop)]
