"""Who is told what, and when: decisions alone. Findings and changes in, messages and the new state out."""
