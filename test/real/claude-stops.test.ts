import t, { type Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { lacksPublished } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { computerWithRealClaude } from './computer.ts'

// The real Claude Code, stopped at the moments of which it says nothing; see claude.test.ts for the variables.
const how = { skip: lacksPublished('claude'), timeout: 120_000 }

async function claudeAtTerminal(t: Test) {
  const server = await startServer(t)
  const { phone, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown()
  const session = await phone.session()
  await terminal.sees(/❯/)
  return { terminal, session }
}

t.test('Esc at the terminal before the first word ends the turn on the phone, and waiting messages are sent [W14]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  terminal.type('wait here')
  await terminal.sees(/wait here/)
  terminal.type('\r')
  await session.until(session => session.events().some(({ t }) => t === 'turn-start'))
  await session.say('from the phone')
  await terminal.sees(/esc to interrupt/)
  terminal.type('\x1b')
  await session.until(session => turnsEnded(session) === 1)
  t.match(ends(session), ['cancelled'])
  await session.until(session => turnsEnded(session) === 2)
  t.equal(texts(session).at(-1), 'you said: from the phone')
})

t.test('Stop before the first word, and during a retry, frees the queue within seconds [W14]', how, async t => {
  const { terminal, session } = await claudeAtTerminal(t)
  for (const [index, [text, sign]] of (
    [
      ['wait for me', /esc to interrupt/],
      ['fail 429 100', /attempt \d+\/10/]
    ] as const
  ).entries()) {
    await session.say(text)
    await terminal.sees(sign)
    const startedAt = performance.now()
    await session.call('abort', {})
    await session.until(session => turnsEnded(session) === 2 * index + 1)
    t.ok(performance.now() - startedAt < 5_000, 'within seconds')
    await session.say(`after ${index}`)
    await session.until(session => turnsEnded(session) === 2 * index + 2)
    t.equal(texts(session).at(-1), `you said: after ${index}`)
  }
  t.strictSame(ends(session), ['cancelled', 'completed', 'cancelled', 'completed'])
  t.equal(session.state.controlledByUser, true, 'the keyboard stayed at the desk')
})

for (const isRemote of [false, true]) {
  t.test(`Stop right after a message is applied, ${isRemote ? 'with the phone' : 'at the terminal'} [W14]`, how, async t => {
    const { session } = await claudeAtTerminal(t)
    if (isRemote) {
      await session.call('switch', { to: 'remote' })
      await session.until(({ state }) => state.controlledByUser === false)
      await session.say('hello')
      await session.until(session => turnsEnded(session) === 1)
    }
    const before = turnsEnded(session)
    for (const [index, delayMs] of [0, 20, 150, 400, 1000].entries()) {
      await session.say(`wait ${index}`)
      // How far the message has come by then is what differs.
      await pause(delayMs)
      await session.call('abort', {})
      await session.until(session => turnsEnded(session) === before + index + 1)
    }
    t.ok(
      ends(session)
        .slice(before)
        .every(status => status === 'cancelled'),
      ends(session).join()
    )
    await session.say('and on')
    await session.until(session => texts(session).at(-1) === 'you said: and on' && session.events().at(-1)?.t === 'turn-end')
    t.strictSame(ends(session).slice(before), [...Array(5).fill('cancelled'), 'completed'])
  })
}

function ends(session: PhoneSession) {
  return session.events().flatMap(event => (event.t === 'turn-end' ? event.status : []))
}
