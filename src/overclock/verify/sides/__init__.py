"""The two sides of a twin as Subjects, in processes of their own, and the protocol between them and the verifier."""
