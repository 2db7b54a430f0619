import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from './kit/demo.ts'
import { startPhone } from './kit/phone.ts'
import { openTestHome, readCode } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

const preload = pathToFileURL(resolve('test/wrapper/kit/clock-off.mjs')).href
const years = 365 * 24 * 3600_000

for (const [words, off] of [
  ['ten years ahead', 10 * years],
  ['ten years behind', -10 * years]
] as const) {
  t.test(`a computer whose clock is ${words} can be linked, stays online, sends messages and gets decisions [C2]`, async t => {
    const server = await startServer(t)
    const phone = await startPhone(t, server)
    const home = openTestHome(t)
    const env = { NODE_OPTIONS: `--import=${preload}`, CLOCK_OFF_MS: String(off) }
    const login = runWrapper(t, { home, args: ['login', '--server', server.url], env })
    const { link, checkCode } = await readCode(login)
    await phone.pair(link, checkCode)
    t.equal(await login.ended, 0, login.output)

    const demo = runWrapper(t, { home, args: ['demo'], env })
    const session = await phone.session()
    await session.say('SCRIPT: text hello ;; tool write {"path":"a.txt","content":"x"}')
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
    t.match(await phone.sessions(), [{ active: true }], 'its heartbeats count')
    const [id = ''] = Object.keys(session.state.requests ?? {})
    await session.call('permission', { id, approved: true })
    await session.until(session => turnsEnded(session) === 1)
    t.strictSame(texts(session), ['hello'])

    const again = runWrapper(t, { home, args: ['sessions'], env })
    t.equal(await again.ended, 0)
    t.match(again.output, /now|s ago|min/, 'ages are by its own clock')
    await session.call('killSession', {})
    await session.until(({ metadata }) => metadata.lifecycleState === 'archived')
    await demo.ended
    const [{ activeAt = 0 } = {}] = await phone.sessions()
    t.ok(Math.abs(Date.now() - activeAt) < 60_000, 'it was there just now, as the server has it')
  })
}
