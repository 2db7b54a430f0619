import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { readNotes } from '../../../lib/wrapper/home/session-folder.ts'
import { startServer } from '../../kit/server.ts'
import { onePixel } from '../agents/contract.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

const long = `SCRIPT: slow 60000 ${'word '.repeat(300)}`

function cursor(home: string): number | undefined {
  const [folder = ''] = readdirSync(join(home, 'sessions'))
  return readNotes(join(home, 'sessions', folder))?.cursor
}

t.test('a message that steers ends the turn that runs, and comes before those that wait', async t => {
  const { session, home } = await demo(t)
  await session.say(long)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text waits')
  await session.say('SCRIPT: text steers', { steer: true })
  await session.until(session => turnsEnded(session) === 3)
  t.match(texts(session).slice(-2), ['steers', 'waits'])
  t.strictSame(
    session.events().flatMap(event => (event.t === 'turn-end' ? event.status : [])),
    ['cancelled', 'completed', 'completed']
  )
  t.equal(cursor(home), session.seqOf('SCRIPT: text steers'), 'and none of them comes again')
})

t.test('a message that the turn does not take in is the first of the next, before those that wait', async t => {
  const { phone, home } = await linkedComputer(t, await startServer(t))
  runWrapper(t, { home, args: ['run', '--', process.execPath, resolve('test/wrapper/agents/odd-agent.mjs')] })
  const session = await phone.session()
  await session.say('deaf')
  await session.until(({ partials }) => partials.length > 0)
  await session.say('refuse')
  await session.say('news', { steer: true })
  await session.until(session => turnsEnded(session) === 3)
  t.strictSame(
    session.events().flatMap(event => (event.t === 'turn-end' ? event.status : [])),
    ['cancelled', 'completed', 'failed']
  )
  t.equal(cursor(home), session.seqOf('news'), 'and it does not come again')
})

t.test('a message that is withdrawn while it waits is not handed over, also not after a crash', async t => {
  const { session, home, wrapper } = await demo(t)
  await session.say(long)
  await session.until(({ partials }) => partials.length > 0)
  await session.say('SCRIPT: text first')
  const unwanted = await session.say('SCRIPT: text unwanted')
  await session.tell({ t: 'withdraw', localId: unwanted })
  await session.say('SCRIPT: text last')
  // Answered after what was said before it was heard.
  await session.until(session => session.seqOf('SCRIPT: text last') !== undefined)
  await session.call('setMode', { mode: 'plan' })
  await wrapper.kill('SIGKILL')
  const resumed = runWrapper(t, { home, args: ['flush'] })
  await resumed.ended
  runWrapper(t, { home, args: ['resume', 'demo'] })
  await session.until(session => texts(session).includes('last'))
  t.strictSame(texts(session).slice(-2), ['first', 'last'])
})

t.test('what waits is said in its new words and its new place, once, also after a crash', async t => {
  const { session, home, wrapper } = await demo(t)
  await session.say(long)
  await session.until(({ partials }) => partials.length > 0)
  const first = await session.say('SCRIPT: text first')
  const second = await session.say('SCRIPT: text sceond')
  await session.say('SCRIPT: text third')
  await session.say('SCRIPT: text second', { replaces: second })
  await session.tell({ t: 'move', localId: second, before: first })
  // Answered after what was said before it was heard.
  await session.until(session => session.seqOf('SCRIPT: text second') !== undefined)
  await session.call('setMode', { mode: 'plan' })
  await wrapper.kill('SIGKILL')
  await runWrapper(t, { home, args: ['flush'] }).ended
  runWrapper(t, { home, args: ['resume', 'demo'] })
  await session.until(session => texts(session).includes('third'))
  t.strictSame(texts(session).slice(-3), ['second', 'first', 'third'])
  t.match(
    session.events().filter(({ t }) => t === 'read' || t === 'apart'),
    [{ t: 'read', localId: second }],
    'devices hear that it was read before an earlier one'
  )
  t.equal(cursor(home), session.seqOf('SCRIPT: text second'), 'and none of them comes again')
})

t.test(
  'words that come too late for what they replace are a message of their own, and a withdrawal that does says that it was read',
  async t => {
    const { session } = await demo(t)
    const begun = await session.say('SCRIPT: text begun')
    await session.until(session => turnsEnded(session) === 1)
    const late = await session.say('SCRIPT: text late', { replaces: begun })
    await session.say('SCRIPT: text begun', { replaces: begun, steer: true })
    await session.say('SCRIPT: text begun', { replaces: begun })
    await session.tell({ t: 'withdraw', localId: begun })
    await session.until(session => texts(session).includes('late') && session.events().some(({ t }) => t === 'read'))
    t.match(
      session.events().filter(({ t }) => t === 'read' || t === 'apart'),
      [
        { t: 'apart', localId: late },
        { t: 'read', localId: begun }
      ]
    )
    await session.say('SCRIPT: text end')
    await session.until(session => texts(session).includes('end'))
    t.equal(
      texts(session).filter(text => text === 'begun').length,
      1,
      'to bring forward what was read, or to say the same instead, says nothing twice'
    )
  }
)

t.test('images that were sent before a message reach the agent, and what cannot be opened holds nothing up', async t => {
  const { session } = await demo(t)
  await session.attach('cat.png', onePixel, 'image/png')
  await session.attach('dog.png', onePixel)
  await session.tell({
    t: 'file',
    ref: `sessions/${session.id}/attachments/00000000-0000-0000-0000-000000000000.enc`,
    name: 'gone.png',
    size: 9
  })
  await session.tell({ t: 'file', ref: 'sessions/../../v1/account', name: 'evil.png', size: 9 })
  await session.say('SCRIPT: look')
  await session.until(session => turnsEnded(session) === 1)
  t.match(texts(session), [/2 images: image\/png, 1 × 1, \d+ bytes; image\/png/])
  const notes = session.events().flatMap(event => (event.t === 'service' ? event.text : []))
  t.match(notes.sort(), [
    /^evil\.png did not come .* not sent to this session\.$/,
    /^gone\.png did not come .* does not have it any more\.$/
  ])
  await session.say('SCRIPT: look')
  await session.until(session => turnsEnded(session) === 2)
  t.equal(texts(session).at(-1), 'There is no image.', 'they belong to one message')
})

t.test('a file that is no image is kept for the agent, and named to it', async t => {
  const { session } = await demo(t)
  await session.attach('../notes of ann.txt', new TextEncoder().encode('from the phone'))
  await session.say('SCRIPT: tool read {"path":"none"} ;; text of')
  await session.until(session => turnsEnded(session) === 1)
  const [said = ''] = texts(session).slice(-1)
  t.match(said, /Files that came with this message:\n- \S.*notes of ann\.txt$/)
  const path = said.split('\n- ')[1] ?? ''
  await session.say(`SCRIPT: tool exec ${JSON.stringify({ command: `cat "${path}"` })}`, 'default')
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: true })
  await session.until(session => turnsEnded(session) === 2)
  const ended = session.events().findLast(event => event.t === 'tool-call-end')
  t.match(ended, { content: [{ text: 'from the phone' }] })
})
