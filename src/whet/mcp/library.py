"""What is used of the MCP library. It is an extra: whoever needs it is told how to get it."""

from whet.errors import WhetError
from whet.shipped.extras import how_to_add

try:
    import uvicorn
    from mcp.server.elicitation import ElicitationResult
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.resolve import Elicit, Resolve
    from mcp.types import ToolAnnotations
    from pydantic import BaseModel, Field
    from starlette.types import ASGIApp, Receive, Scope, Send
except ModuleNotFoundError as missing:
    raise WhetError("The MCP server needs the extra `mcp`.", advice=f"Run `{how_to_add('mcp')}`.") from missing

__all__ = ["ASGIApp", "BaseModel", "Context", "Elicit", "ElicitationResult", "Field", "MCPServer", "Receive", "Resolve"]
__all__ += ["Scope", "Send", "ToolAnnotations", "ToolError", "uvicorn"]
