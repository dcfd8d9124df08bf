"""What random number generators give: every call of one in the source is a site, whose numbers come from outside.

One function per kind of draw; `dispatch.py` has the table of the generators' methods.
"""
