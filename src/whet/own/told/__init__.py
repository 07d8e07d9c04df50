"""What an agent is told: rules, notes, skills, and the prompt made of them."""
