"""Three tools in the official Python SDK: the twin of three_fastmcp.py."""

from mcp.server import MCPServer

server = MCPServer("three-tools")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool()
def reverse(text: str) -> str:
    """Gives the text back to front."""
    return text[::-1]


@server.tool()
def count_words(text: str) -> int:
    """Counts the words of a text."""
    return len(text.split())


if __name__ == "__main__":
    server.run()
