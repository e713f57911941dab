"""A run folder: recipe, lock, published model, metrics, and the states from which training resumes.

Reading order: `folder` → `lock` → `state` → `publish`.
"""
