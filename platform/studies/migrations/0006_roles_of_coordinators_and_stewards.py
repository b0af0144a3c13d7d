from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0005_audit_chain")]

    operations = [
        migrations.AlterField(
            model_name="studymembership",
            name="role",
            field=models.CharField(
                choices=[
                    ("lead", "lead"),
                    ("coord", "coordinator"),
                    ("steward", "data steward"),
                    ("analyst", "analyst"),
                ],
                max_length=10,
            ),
        ),
    ]
