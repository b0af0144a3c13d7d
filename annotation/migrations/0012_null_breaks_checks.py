# A CHECK that comes out as NULL counts as kept: a judgement with neither tick nor rating, and a rule without a number, passed.
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0011_task_gold"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="judgement", name="judgement_is_mark_or_rating"),
        migrations.AddConstraint(
            model_name="judgement",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("present__isnull", False), ("rating__isnull", True)),
                    models.Q(
                        ("present__isnull", True),
                        ("rating__gte", 1),
                        ("rating__isnull", False),
                        ("rating__lte", 5),
                    ),
                    _connector="OR",
                ),
                name="judgement_is_mark_or_rating",
            ),
        ),
        migrations.RemoveConstraint(model_name="quotarule", name="quota_rule_counts_unless_distinct"),
        migrations.AddConstraint(
            model_name="quotarule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("k__isnull", True), ("kind", "distinct"), ("matches_group", ""), ("negated", False)),
                    models.Q(("k__gte", 1), ("k__isnull", False), ("kind", "at_least")),
                    models.Q(("k__gte", 0), ("k__isnull", False), ("kind", "at_most")),
                    _connector="OR",
                ),
                name="quota_rule_counts_unless_distinct",
            ),
        ),
    ]
