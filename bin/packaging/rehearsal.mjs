import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { withDeadline } from '../../lib/async/deadline.ts'
import { pause } from '../../lib/async/pause.ts'
import { createServer } from '../../lib/server/create.ts'
import { computerWithClaude } from '../../test/wrapper/kit/claude.ts'
import { turnsEnded } from '../../test/wrapper/kit/demo.ts'

const runner = fileURLToPath(new URL('run-pieces.mjs', import.meta.url))
const withinMs = 120_000
// Longer than the timers that run every second or two, or five times a second in a turn: on a fast machine some would not run before the end,
// and the stored code would differ.
const settledAfterMs = 6_000
const turnMs = 1_000
// Its scripts must run on this same Node.js.
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`

/**
 * Runs what people start most, once each, from the pieces in that folder: `afield serve` until it is healthy, and `afield claude` with a
 * fake Claude Code until it ends after one turn.
 */
export async function rehearse(folder) {
  const closing = []
  const t = { teardown: close => closing.unshift(close) }
  const data = mkdtempSync(join(tmpdir(), 'afield-rehearsal-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  const program = [process.execPath, '--predictable', runner, folder]
  try {
    await withDeadline(withinMs, () => serve(program, join(data, 'rehearsed')))
    const server = await createServer({ port: 0, signup: 'open', limits: 'off', logLevel: 'silent', expoUrl: 'off', data })
    t.teardown(() => server.close())
    const { phone, sitDown } = await computerWithClaude(t, server)
    await withDeadline(withinMs, () => performTurn(phone, sitDown(['claude'], { PATH }, program)))
  } finally {
    for (const close of closing) await close()
  }
}

async function serve([node, ...words], data) {
  const args = [...words, 'serve', '--port', '0', '--data', data]
  const server = spawn(node, args, { env: { PATH, HOME: data }, stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(server, 'exit')
  try {
    for await (const line of createInterface(server.stdout)) {
      const url = /^afield listening on (\S+)$/.exec(line)?.[1]
      if (url === undefined) continue
      await (await fetch(`${url}/health`)).text()
      await pause(settledAfterMs)
      server.kill('SIGTERM')
    }
    const [code] = await ended
    if (code !== 0) throw new Error(`The rehearsed server ended with ${code}.`)
  } finally {
    server.kill('SIGKILL')
  }
}

async function performTurn(phone, terminal) {
  const session = await phone.session()
  await terminal.sees(/❯/)
  terminal.type(`slow ${turnMs} rehearsed\r`)
  await session.until(session => turnsEnded(session) === 1)
  await pause(settledAfterMs)
  terminal.kill('SIGTERM')
  await terminal.ended
}
