"""`overclock mcp`: the judge as tools over the Model Context Protocol, for coding-agent sessions.

`server` offers the tools of a `session`, whose `job`s are judged in another process (`process` is our end of it,
`worker` its own) and recorded in a run (`record`); `facts` is what a session may know about a failure.
"""
