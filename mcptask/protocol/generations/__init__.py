"""The wire generations: one module each, with the interface of `base.Generation`. JSON in and out."""
