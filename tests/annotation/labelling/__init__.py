"""The path of real answers, the model with which it is compared, and one test for each rule."""
