from typing import Any

from django.core.files.storage import storages

from foundation.commands import DomainCommand
from foundation.storage import ObjectStorage


class Command(DomainCommand):
    help = (
        "Create the bucket that FILES_BUCKET names, unless it exists. Without FILES_BUCKET, the command does "
        "nothing."
    )
    example = "python manage.py prepare_files"

    def handle(self, *args: Any, **options: Any) -> None:
        storage = storages["default"]
        if not isinstance(storage, ObjectStorage):
            self.stdout.write("Files are kept in a local folder.")
        elif storage.make_bucket():
            self.stdout.write(f"Created the bucket {storage.bucket_name}.")
        else:
            self.stdout.write(f"The bucket {storage.bucket_name} exists.")
