"""What can be found out about a reference by running it: its state, its draws, its spaces, its episodes, its speed."""
