import { once } from 'node:events'
import { watch, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { startServer } from '../../../kit/server.ts'
import { computerWithClaude, said } from '../../kit/claude.ts'
import { turnsEnded } from '../../kit/demo.ts'

const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the fake is a script' }

/** Takes a file away from a program that has not loaded it yet, and says when it was asked for. */
const withoutAcp = (asked: string) => `
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  resolve(name, context, next) {
    if (!name.endsWith('/acp.ts')) return next(name, context)
    writeFileSync(${JSON.stringify(asked)}, '')
    throw new Error('acp.ts is gone')
  }
})`

t.test('a session at its terminal continues when its program was replaced before it was fully loaded', how, async t => {
  const { phone, directory, sitDown } = await computerWithClaude(t, await startServer(t))
  const hook = join(directory, 'without-acp.mjs')
  writeFileSync(hook, withoutAcp(join(directory, 'asked')))
  const isAsked = once(watch(directory, { persistent: false }), 'change')
  const terminal = sitDown(['claude'], {}, [process.execPath, `--import=${pathToFileURL(hook)}`, resolve('bin/afield.ts')])
  const session = await phone.session()
  await terminal.sees(/❯/)
  await isAsked
  terminal.type('still here\r')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(said(session), ['still here'])
})
