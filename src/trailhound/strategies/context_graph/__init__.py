"""Context graphs (Diligenti et al. 2000): layers in front of the targets."""
