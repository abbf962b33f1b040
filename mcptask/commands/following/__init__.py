"""Following stored tasks to their end. Imported inside functions only: all of it may load asyncio."""
