"""The intermediate representation between Python and the printers: nodes, values, their layout, and the passes."""
