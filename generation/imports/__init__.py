"""Reading images that were made elsewhere; the verb is `generation.imports.importer`."""
