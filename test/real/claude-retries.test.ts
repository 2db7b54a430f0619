import t from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { lacksPublished } from '../kit/needs.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from '../wrapper/kit/demo.ts'
import type { PhoneSession } from '../wrapper/kit/phone.ts'
import { computerWithRealClaude } from './computer.ts'

// The real Claude Code and a model that refuses; see claude.test.ts for the variables.
const how = { skip: lacksPublished('claude'), timeout: 120_000 }

for (const [where, args] of [
  ['the phone', ['claude', '--yes', '--remote']],
  ['its terminal', ['claude', '--yes']]
] as const) {
  t.test(`at ${where}, an error and the next attempt are on the phone, and gone with the answer`, how, async t => {
    const server = await startServer(t)
    const { phone, sitDown } = await computerWithRealClaude(t, server)
    const terminal = sitDown(args)
    const session = await phone.session()
    await terminal.sees(where === 'the phone' ? /waiting for a message/ : /❯/)
    for (const [status, why] of [
      [529, 'overloaded'],
      [429, 'limit'],
      [500, 'other']
    ] as const) {
      const ended = turnsEnded(session)
      await session.say(`fail ${status} 2`)
      await session.until(({ state }) => state.modelWait?.retry?.attempt === 2)
      // Its screen does not say why of the first attempts.
      t.match(session.state.modelWait?.retry, { of: 10, inMs: Number, why: where === 'its terminal' ? 'other' : why }, `${status}`)
      if (where === 'the phone') await terminal.sees(/attempt 2 of 10/)
      await session.until(session => turnsEnded(session) > ended)
      t.equal(session.state.modelWait, undefined)
    }
    t.notOk(
      notes(session).some(note => /attempt|retry/i.test(note)),
      'nothing of it lasts'
    )
    t.equal(texts(session).length, 3)
  })
}

t.test('for a prompt typed at its terminal, an immediate error and each attempt are on the phone', how, async t => {
  const server = await startServer(t)
  const { phone, sitDown } = await computerWithRealClaude(t, server)
  const terminal = sitDown(['claude', '--yes'])
  const session = await phone.session()
  await terminal.sees(/❯/)
  const seen: (number | undefined)[] = []
  terminal.type('fail 429 4')
  await terminal.sees(/fail 429 4/)
  await pause(300)
  terminal.type('\r')
  await session.until(session => {
    const { attempt } = session.state.modelWait?.retry ?? {}
    if (attempt !== undefined && attempt !== seen.at(-1)) seen.push(attempt)
    return turnsEnded(session) === 1
  })
  // The first one is over at once.
  t.strictSame(
    seen.filter(attempt => attempt !== 1),
    [2, 3, 4]
  )
  t.equal(session.state.modelWait, undefined)
})

for (const [where, args] of [
  ['the phone', ['claude', '--yes', '--remote']],
  ['its terminal', ['claude', '--yes']]
] as const) {
  t.test(`at ${where}, half a sentence whose stream ended early is removed or marked`, how, async t => {
    const server = await startServer(t)
    const { phone, sitDown } = await computerWithRealClaude(t, server)
    const terminal = sitDown(args)
    const session = await phone.session()
    await terminal.sees(where === 'the phone' ? /waiting for a message/ : /❯/)
    for (const end of ['cut', 'break off']) {
      const ended = turnsEnded(session)
      await session.say(`${end} it`)
      await session.until(session => turnsEnded(session) > ended)
      const said = session.events().flatMap(event => (event.t === 'text' && !event.thinking && !event.cut ? event.text : []))
      t.notOk(
        said.some(text => /^this is half a\s*$/.test(text)),
        end
      )
    }
  })
}

for (const [where, args] of [
  ['the phone', ['claude', '--yes', '--remote']],
  ['its terminal', ['claude', '--yes']]
] as const) {
  t.test(`at ${where}, a rejected sign-in ends the turn with one sentence that says what to do`, how, async t => {
    const server = await startServer(t)
    // It asks ten times otherwise, which takes three minutes.
    const { phone, sitDown } = await computerWithRealClaude(t, server, { CLAUDE_CODE_MAX_RETRIES: '1' })
    const terminal = sitDown(args)
    const session = await phone.session()
    await terminal.sees(where === 'the phone' ? /waiting for a message/ : /❯/)
    await session.say('fail 401 99')
    await session.until(session => turnsEnded(session) === 1)
    t.equal(session.state.modelWait, undefined)
    t.match(texts(session), [/401/], 'its own words')
    t.match(notes(session), [/^Claude Code is not signed in, or its key was rejected\. Run it .+ sign in there/])
    t.match(session.events().at(-1), { t: 'turn-end', status: 'failed' })
    await session.say('are you there?')
    await session.until(session => turnsEnded(session) === 2)
    t.equal(texts(session).at(-1), 'you said: are you there?')
  })
}

function notes({ events }: PhoneSession): string[] {
  return events().flatMap(event => (event.t === 'service' ? event.text : []))
}
