"""Label Studio's JSON and XML: tasks and interfaces written, exports read and imported."""
