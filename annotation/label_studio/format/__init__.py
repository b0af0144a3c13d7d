"""Label Studio's JSON and XML: writing tasks and interfaces, reading and importing exports."""
