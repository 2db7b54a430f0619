import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { listSessions, readNotes } from '../../../lib/wrapper/home/session-folder.ts'
import { drawSessions, numbered } from '../../../lib/wrapper/terminal/session-list.ts'
import { styleFor } from '../../../lib/wrapper/terminal/style.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'

t.test('messages written during a turn wait for its end, and the cursor on disk follows what the agent got', async t => {
  const { session, home } = await demo(t)
  await session.say('SCRIPT: slow 1500 one two three four five')
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text second')
  await session.say('SCRIPT: text third')
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(texts(session), ['one two three four five', 'second', 'third'])
  const [folder = ''] = readdirSync(join(home, 'sessions'))
  const third = session.seqOf('SCRIPT: text third')
  t.equal(readNotes(join(home, 'sessions', folder))?.cursor, third)
})

t.test('a session is titled by its first prompt', async t => {
  const { session, home } = await demo(t)
  await session.say('SCRIPT: text **Apples** are in.\nThen the pears')
  await session.until(({ metadata }) => metadata.summary !== undefined)
  t.equal(session.metadata.summary?.text, 'SCRIPT: text Apples are in.')
  await session.until(session => turnsEnded(session) === 1)
  await session.say('SCRIPT: text second')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(session.metadata.summary?.text, 'SCRIPT: text Apples are in.')
  const lines = drawSessions(numbered(listSessions(home)), Date.now(), styleFor({ isTTY: false }, {}), 80)
  t.match(lines[0], /SCRIPT: text Apples are in\.$/)
})

t.test('a turn is stopped from the phone, and the next message starts another', async t => {
  const { session } = await demo(t)
  await session.say(`SCRIPT: slow 30000 ${'word '.repeat(300)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.call('abort', {})
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  await session.say('SCRIPT: text on')
  await session.until(session => turnsEnded(session) === 2)
})

t.test('modes change by call and with a message, and every device shows the current one', async t => {
  const { session } = await demo(t)
  await session.until(({ metadata }) => metadata.operatingModes !== undefined)
  t.match(
    session.metadata.operatingModes?.map(({ code }) => code),
    ['default', 'acceptEdits', 'plan']
  )
  await t.rejects(session.call('setMode', { mode: 'nonsense' }), /no such mode/)
  t.match(await session.call('setMode', { mode: 'plan' }), { mode: 'plan' })
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'plan')
  await session.say('SCRIPT: tool write {"path":"auto.txt","content":"x"}', 'acceptEdits')
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(session.state.completedRequests ?? {}, {}, 'nobody was asked')
  await session.until(({ metadata }) => metadata.currentOperatingModeCode === 'acceptEdits')
})

t.test('an existing app says yes and no in its own format', async t => {
  const { session, home } = await demo(t)
  for (const [answer, status, there] of [
    [{ approved: false, decision: 'denied' as const }, 'denied', false],
    [{ approved: true, decision: 'approved' as const }, 'approved', true]
  ] as const) {
    await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
    await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
    const [id = ''] = Object.keys(session.state.requests ?? {})
    t.equal(await session.call('permission', { id, ...answer }), null)
    await session.until(({ state }) => state.completedRequests?.[id]?.status === status)
    await session.until(session => session.events().some(event => event.t === 'tool-call-end' && event.call === id))
    t.equal(readdirSync(join(home, 'demo')).includes('old.txt'), there)
  }
})

t.test('a message not started when the session ended does not count as read', async t => {
  const { session, wrapper } = await demo(t)
  await session.say(`SCRIPT: slow 30000 ${'word '.repeat(300)}`)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text too late')
  await wrapper.kill('SIGTERM')
  t.match(wrapper.output, /Everything was delivered/)
  await session.until(session => turnsEnded(session) === 1)
  t.match(session.events().at(-1), { t: 'turn-end', status: 'cancelled' })
  t.equal(session.events().filter(event => event.t === 'turn-start').length, 1)
})

t.test('the phone reads and changes files of the session’s folder, and runs commands there', async t => {
  const { session } = await demo(t)
  await session.call('writeFile', { path: 'note.txt', content: btoa('from the phone') })
  t.match(await session.call('readFile', { path: 'note.txt' }), { success: true, content: btoa('from the phone') })
  t.match(await session.call('bash', { command: 'cat note.txt', cwd: '/' }), { success: true, stdout: 'from the phone' })
  // The demo's folder has files of its own.
  await session.call('bash', { command: 'mkdir notes && cp note.txt notes', cwd: '/' })
  t.match(await session.call('listDirectory', { path: 'notes' }), { success: true, entries: [{ name: 'note.txt', type: 'file' }] })
  await t.rejects(session.call('readFile', { path: '/etc/passwd' }), /allowed/)
})
