"""The page of what models answered to probe sets."""
