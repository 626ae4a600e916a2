"""What is recorded about people: consents, experiments, and what of it goes when somebody is to be forgotten."""
