"""The number types in which vectors are stored. This module loads no numerical library, so that models can use it."""

FLOAT32 = "float32"
FLOAT16 = "float16"
VECTOR_TYPES = (FLOAT32, FLOAT16)
