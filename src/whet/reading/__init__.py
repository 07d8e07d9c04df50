"""The reader and the sceptic at work: which sessions they read, who they are, what they answer and what is kept."""
