"""A proof by enumeration: every reachable state, action and draw of a finite environment, walked on both sides."""
