// Whet in OpenCode: a session is told what was learned in its project, and is handed over when it rests.
// Whatever goes wrong with `whet`, OpenCode goes on.
import { spawn } from "node:child_process"

const PATIENCE = 8000

function call(event, body) {
  return new Promise((resolve) => {
    const options = { stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE, detached: event === "session-end" }
    const child = spawn("whet", ["hook", event, "--agent", "opencode"], options)
    let out = ""
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(out))
    child.stdout.on("data", (piece) => (out += piece))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(body))
    setTimeout(() => resolve(""), PATIENCE).unref()
  })
}

function contextOf(out) {
  try {
    return JSON.parse(out).hookSpecificOutput.additionalContext
  } catch {
    return ""
  }
}

export const Whet = async ({ directory }) => {
  const told = new Map() // by session, asked once: every request of a session begins with the same words
  return {
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!told.has(sessionID)) told.set(sessionID, call("session-start", { sessionID, directory }).then(contextOf))
      const text = await told.get(sessionID)
      if (text) output.system.push(text)
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      await call("session-end", { sessionID: event.properties.sessionID, directory })
    },
  }
}
