"""The path that real answers take, the model it is held against, and one test for each rule."""
