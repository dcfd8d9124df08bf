"""CartPole, the exact twin of Gymnasium's CartPole-v1."""
