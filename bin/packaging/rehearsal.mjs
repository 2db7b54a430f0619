import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withDeadline } from '../../lib/async/deadline.ts'
import { createServer } from '../../lib/server/create.ts'
import { computerWithClaude } from '../../test/wrapper/kit/claude.ts'
import { turnsEnded } from '../../test/wrapper/kit/demo.ts'

const runner = fileURLToPath(new URL('run-pieces.mjs', import.meta.url))
const withinMs = 120_000
// Its scripts must run on this same Node.js.
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`

/** Runs `afield claude` once from the pieces in that folder, with a fake Claude Code, until it ends after one turn. */
export async function rehearse(folder) {
  const closing = []
  const t = { teardown: close => closing.unshift(close) }
  const data = mkdtempSync(join(tmpdir(), 'afield-rehearsal-'))
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  try {
    const server = await createServer({ port: 0, signup: 'open', limits: 'off', logLevel: 'silent', expoUrl: 'off', data })
    t.teardown(() => server.close())
    const { phone, sitDown } = await computerWithClaude(t, server)
    await withDeadline(withinMs, () => perform(phone, sitDown(['claude'], { PATH }, [process.execPath, '--predictable', runner, folder])))
  } finally {
    for (const close of closing) await close()
  }
}

async function perform(phone, terminal) {
  const session = await phone.session()
  await terminal.sees(/❯/)
  terminal.type('rehearsed\r')
  await session.until(session => turnsEnded(session) === 1)
  terminal.kill('SIGTERM')
  await terminal.ended
}
