"""Three tools in FastMCP: the twin of three_mcpserver.py."""

from fastmcp import FastMCP

server = FastMCP("three-tools")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool
def reverse(text: str) -> str:
    """Gives the text back to front."""
    return text[::-1]


@server.tool
def count_words(text: str) -> int:
    """Counts the words of a text."""
    return len(text.split())


if __name__ == "__main__":
    server.run()
