// Whet in OpenCode: a session is told what was learned in its project, is reminded of a rule at a command that the rule
// is about, and is handed over when it rests.
// Whatever goes wrong with `whet`, OpenCode goes on.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const PATIENCE = 8000
const CALL_PATIENCE = 3000
const REMINDERS = join(process.env.WHET_HOME || join(homedir(), ".whet"), "hooks", "reminders.json")
// Where `whet setup` found the program, in case it is not on the PATH.
const OWN = ""

function call(event, body, patience = PATIENCE) {
  return new Promise((resolve) => {
    const options = { stdio: ["pipe", "pipe", "ignore"], timeout: patience, detached: event === "session-end" }
    const child = spawn(OWN && existsSync(OWN) ? OWN : "whet", ["hook", event, "--agent", "opencode"], options)
    let out = ""
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(out))
    child.stdout.on("data", (piece) => (out += piece))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(body))
    setTimeout(() => resolve(""), patience).unref()
  })
}

function contextOf(out) {
  try {
    return JSON.parse(out).hookSpecificOutput.additionalContext
  } catch {
    return ""
  }
}

export const Whet = async ({ client, directory }) => {
  const told = new Map() // by session, asked once: every request of a session begins with the same words
  const asked = new Map() // by call of the shell: what to remind of, found while it runs
  const roots = new Map() // the session that a session works for: a subagent is a part of it, and none of its own

  async function rootOf(sessionID) {
    if (!roots.has(sessionID)) {
      const found = await client.session.get({ path: { id: sessionID } }).catch(() => undefined)
      const parent = found?.data?.parentID
      roots.set(sessionID, parent ? await rootOf(parent) : sessionID)
    }
    return roots.get(sessionID)
  }

  return {
    config: async (config) => {
      config.mcp = { whet: { type: "local", command: ["whet", "mcp"] }, ...config.mcp } // what the person set stays
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID) return
      const root = await rootOf(sessionID)
      if (!told.has(root)) told.set(root, call("session-start", { sessionID: root, directory }).then(contextOf))
      const text = await told.get(root)
      if (text) output.system.push(text)
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      if (tool !== "bash" || !existsSync(REMINDERS)) return
      const body = { sessionID: await rootOf(sessionID), directory, tool_input: { command: args?.command } }
      asked.set(callID, call("tool-call", body, CALL_PATIENCE).then(contextOf))
    },
    "tool.execute.after": async ({ callID }, output) => {
      const text = await asked.get(callID)
      asked.delete(callID)
      if (text && typeof output?.output === "string") output.output += `\n\n${text}`
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const { sessionID } = event.properties
      if ((await rootOf(sessionID)) === sessionID) await call("session-end", { sessionID, directory })
    },
  }
}
