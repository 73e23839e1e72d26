"""The tables of a study, and their files as CSV, Markdown and LaTeX; `names` lists them, and imports no pandas."""
