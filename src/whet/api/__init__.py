"""What `import whet` offers to programs: thin functions over the packages below, and the store as one object.

Each module loads only what its own names need; `whet/__init__.py` says where each name lives.
"""
