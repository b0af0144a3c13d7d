"""What every app may use and what knows no app: errors, commands, storage, number formats."""
