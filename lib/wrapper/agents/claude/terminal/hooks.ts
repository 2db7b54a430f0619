import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as v from '../../../../schema.ts'
import { makePrivateFolder } from '../../../home/private-files.ts'
import { ownName } from '../../../home/processes.ts'

// See fetch.ts.
const { createServer } = process.getBuiltinModule('node:http')

// For one message.
const mostLines = 100_000
const text = v.fallback(v.optional(v.string()), undefined)

/** What Claude Code reports at certain moments; everything but the name may be missing in another version. */
const hook = v.looseObject({
  hook_event_name: v.string(),
  session_id: text,
  transcript_path: text,
  permission_mode: text,
  prompt: text,
  tool_name: text,
  tool_input: v.fallback(v.optional(v.record(v.string(), v.unknown())), undefined),
  tool_use_id: text,
  permission_suggestions: v.fallback(v.optional(v.array(v.unknown())), undefined),
  last_assistant_message: text,
  message_id: text,
  delta: text,
  index: v.fallback(v.optional(v.pipe(v.int(), v.minValue(0), v.maxValue(mostLines))), undefined),
  error: text
})
export type Hook = v.InferOutput<typeof hook>

interface HooksOptions {
  home: string
  /** A line for the top of its screen. */
  announcement: string
  onHook: OnHook
}

type OnHook = (hook: Hook, gone: AbortSignal) => object | Promise<object>

export interface Hooks {
  /** For `--settings`: adds our hooks to the person's. */
  readonly settings: string
  close(): void
}

// A phone may answer a day later. Other hooks block the agent and are answered at once.
const dayInSeconds = 86_400
const promptlyInSeconds = 5
const mostBytes = 32 * 1024 * 1024
// Not SessionStart: it is never called over HTTP.
const heard = [
  'SessionEnd',
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'Notification',
  'MessageDisplay',
  'Stop',
  'StopFailure'
]

/**
 * Receives the hooks of one Claude Code on loopback; only calls with the token, which is in a private file,
 * are accepted. The result of `onHook` is the answer. If this fails, the agent asks at its own terminal: it
 * never answers yes.
 */
export async function openHooks({ home, announcement, onHook }: HooksOptions): Promise<Hooks> {
  const token = randomBytes(24).toString('base64url')
  const server = createServer((request, response) => {
    answer(request, response, token, onHook).catch(() => response.destroy())
  })
  // An answer may take a day.
  server.requestTimeout = 0
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/`
  const folder = join(home, 'hooks', ownName())
  makePrivateFolder(join(home, 'hooks'))
  makePrivateFolder(folder)
  const settings = join(folder, 'settings.json')
  // It is read at once and removed with this process: it need not survive a power cut.
  writeFileSync(settings, JSON.stringify({ hooks: hooksOf(url, token), companyAnnouncements: [announcement] }), { mode: 0o600 })
  return {
    settings,
    close() {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

function hooksOf(url: string, token: string): object {
  const headers = { Authorization: `Bearer ${token}` }
  const entries = heard.map(name => {
    const timeout = name === 'PermissionRequest' ? dayInSeconds : promptlyInSeconds
    return [name, [{ hooks: [{ type: 'http', url, headers, timeout }] }]]
  })
  return Object.fromEntries(entries)
}

async function answer(request: IncomingMessage, response: ServerResponse, token: string, onHook: OnHook): Promise<void> {
  if (request.method !== 'POST' || request.headers.authorization !== `Bearer ${token}`) {
    response.writeHead(401).end()
    return
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const said = v.parse(hook, JSON.parse(await bodyOf(request)))
  const reply = await onHook(said, gone.signal)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw new Error('a hook is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
