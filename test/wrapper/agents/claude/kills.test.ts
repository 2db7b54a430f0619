import { readFileSync } from 'node:fs'
import t from 'tap'
import { startServerProcess } from '../../../kit/server.ts'
import { computerWithClaude, read, written } from '../../kit/claude.ts'
import { texts } from '../../kit/demo.ts'

// A longer proof: KILLS=100 SEED=7 node_modules/.bin/tap --timeout=3600 test/wrapper/agents/claude/kills.test.ts
const kills = Number(process.env['KILLS'] ?? 4)
const seed = Number(process.env['SEED'] ?? 1)
const lines = 25

t.test(
  'whoever of wrapper, agent and server is killed, the phone has in the end what Claude wrote down: once, and in order [W1, X1]',
  {
    timeout: 60_000 + kills * 20_000,
    skip: process.platform === 'win32' && 'the fake is a script'
  },
  async t => {
    t.comment(`seed ${seed}`)
    const random = numbersFrom(seed)
    const data = t.testdir()
    // Below the ports that the system gives to whoever connects: the server has to get the same one again.
    const port = 20_000 + ((process.pid + 3000) % 10_000)
    let server = await startServerProcess(t, { data, port })
    const computer = await computerWithClaude(t, server)
    let terminal = computer.sitDown()
    const session = await computer.phone.session()
    await terminal.sees(/❯/)

    const victims = ['wrapper', 'claude', 'server'] as const
    for (let round = 1; round <= kills; round++) {
      const victim = victims[round <= victims.length ? round - 1 : Math.floor(random() * victims.length)]
      const isTyped = random() < 0.5
      const killAt = Math.floor(random() * lines)
      t.comment(`round ${round}: ${victim} at ${killAt}, ${isTyped ? 'typed' : 'said'}`)
      const prompt = `many ${lines} round ${round} line`
      const told = () => texts(session).filter(text => text.startsWith(`round ${round} `)).length
      if (isTyped) terminal.type(`${prompt}\r`)
      else await session.say(prompt)
      await session.until(() => told() >= killAt)

      if (victim === 'server') {
        await server.kill()
        server = await startServerProcess(t, { data, port })
        await session.until(() => told() === lines)
        continue
      }
      if (victim === 'claude') process.kill(childOf(terminal.pid), 'SIGKILL')
      else terminal.kill('SIGKILL')
      await terminal.ended
      terminal = computer.sitDown(['resume', session.id])
      await terminal.sees(/❯/)
    }
    await session.say('the last words')
    await session.until(session => texts(session).includes('you said: the last words'))
    terminal.type('/exit\r')
    t.equal(await terminal.ended, 0, terminal.screen)
    // What the phone said stands where it was said, which may be before the end of the turn in front of it.
    const of = (who: string, lines: string[]) => lines.filter(line => line.startsWith(who))
    t.strictSame(of('assistant', read(session)), of('assistant', written(computer)))
    t.strictSame(of('user', read(session)).toSorted(), of('user', written(computer)).toSorted(), 'and nobody was asked twice')
    const events = session.events().map(({ t }) => t)
    const count = (of: string) => events.filter(t => t === of).length
    t.equal(count('turn-start'), count('turn-end'), 'every turn that began has one end')
  }
)

function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}

/** mulberry32 */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
