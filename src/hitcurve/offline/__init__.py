"""Facts in batches: written once to files in LiteHit's layout, asked for hits at any capacity ever after."""
