"""Every reader of what others wrote, tried with generated inputs: see ``docs/security.md``."""
