"""What machines say of images, measured: beside people's judgements where there are any."""
