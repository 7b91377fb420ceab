"""What makes the models that the package ships: each module is a command."""
