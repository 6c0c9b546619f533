"""What a trained or fresh model does inside: gradients by depth, ranks, distances, heads."""
