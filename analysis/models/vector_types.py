"""The number types that vectors may be kept in, apart so that tables can name them without numerical libraries."""

FLOAT32 = "float32"
FLOAT16 = "float16"
VECTOR_TYPES = (FLOAT32, FLOAT16)
