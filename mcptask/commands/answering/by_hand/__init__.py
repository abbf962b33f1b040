"""A person at the terminal: forms, addresses, and JSON, while the event loop goes on behind them."""
