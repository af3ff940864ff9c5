"""The training floor: the one way from data and a recipe to a fitted model, whoever asks for it."""
