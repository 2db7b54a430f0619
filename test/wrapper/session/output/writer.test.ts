import t from 'tap'
import { systemClock } from '../../../../lib/async/clock.ts'
import { OutboxFull } from '../../../../lib/client/outbox/outbox.ts'
import { envelopeOf, newUserText } from '../../../../lib/client/sealed/messages.ts'
import type { AgentState } from '../../../../lib/protocol/sealed/session.ts'
import { createWriter } from '../../../../lib/wrapper/session/output/writer.ts'
import { manualClock } from '../../../kit/manual-clock.ts'

t.test('dropped thoughts are reported until the server has everything, and then recorded in the history once [W3]', async t => {
  const { writer, kept, room } = outbox()
  room.dropsThoughts = true
  await writer.write(newUserText('one'))
  room.dropsThoughts = false
  await writer.write(newUserText('two'))
  t.match(writer.trouble, /the oldest thoughts and plans are dropped/)
  writer.drained()
  t.equal(writer.trouble, undefined)
  writer.drained()
  await writer.write(newUserText('three'))
  t.match(kept(), ['one', 'two', /^Before this, 1 thought or plan was left out/, 'three'])
})

t.test('where agent text is missing the history says so at once, before what follows [W3]', async t => {
  const { writer, kept, room } = outbox()
  await writer.write(newUserText('one'))
  room.isFull = true
  await writer.write(newUserText('lost'))
  await writer.write(newUserText('lost too'))
  t.match(writer.trouble, /new agent output is not stored/)
  t.match(kept(), ['one', missing], 'also when nothing follows, because this process dies')
  room.isFull = false
  await writer.write(newUserText('two'))
  room.isFull = true
  await writer.write(newUserText('lost again'))
  t.match(kept(), ['one', missing, 'two', missing])
  room.isFull = false
  writer.drained()
  t.equal(writer.trouble, undefined)
  t.equal(kept().length, 4, 'once for each gap')
})

t.test('dropped thoughts are reported when the session ends, even without the server [W3]', async t => {
  const { writer, kept, room } = outbox()
  room.dropsThoughts = true
  await writer.write(newUserText('one'))
  room.isFull = true
  await writer.finish()
  t.match(kept(), ['one', /^Before this, 1 thought or plan was left out/])
})

t.test('dropped thoughts are reported once, as soon as that can be stored, and an end waits for it [W3]', async t => {
  const { writer, kept, room } = outbox()
  writer.dropped(2)
  room.isFull = true
  room.isBroken = true
  await writer.finish()
  room.isFull = false
  const stored = Promise.withResolvers<void>()
  room.stored = stored.promise
  let isOver = false
  const finishing = writer.finish().then(() => (isOver = true))
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(isOver)
  stored.resolve()
  await finishing
  await writer.finish()
  t.strictSame(kept(), ['Before this, 2 thoughts and plans were left out: too much data was waiting for the server.'])
})

t.test('output is written once what is said about it is stored too', async t => {
  for (const failure of [full('ENOSPC'), new OutboxFull('full')]) {
    const { writer, kept, room } = outbox()
    const timers = manualClock()
    t.capture(systemClock, 'after', (ms: number, run: () => void) => timers.after(ms, run))
    room.fails.push(failure)
    const stored = Promise.withResolvers<void>()
    let isWritten = false
    const writing = writer.write(newUserText('one')).then(() => (isWritten = true))
    room.stored = stored.promise
    await new Promise(resolve => setImmediate(resolve))
    timers.advance(1000)
    await new Promise(resolve => setImmediate(resolve))
    t.notOk(isWritten)
    stored.resolve()
    await writing
    t.match(kept().at(-1), /^The disk of this computer was full|^Messages of the agent are missing/)
  }
})

t.test('a full disk is shown for as long as it is full, whatever the server gets meanwhile', async t => {
  const { writer } = outbox()
  writer.dropped(1)
  writer.notesWait(full('ENOSPC'))
  writer.drained()
  t.match(writer.trouble, /disk is full/)
  writer.notesWait(undefined)
  t.equal(writer.trouble, undefined)
})

t.test("devices are told of the full disk while the session's own notes wait, and once when it is over [W16]", async t => {
  const { writer, kept, state } = outbox()
  writer.notesWait(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  writer.notesWait(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  t.match(state().diskTrouble, { why: 'full' })
  t.match(writer.trouble, /disk is full/)
  await writer.write(newUserText('a small one'))
  t.match(state().diskTrouble, { why: 'full' }, 'also when what is smaller finds room')
  writer.notesWait(undefined)
  t.equal(state().diskTrouble, undefined)
  t.equal(writer.trouble, undefined)
  t.match(kept(), ['a small one', /^The disk of this computer was full for a moment\. The session continues\.$/])
})

t.test('output waits for the disk, which is free again once all of it is stored [W16]', async t => {
  const timers = manualClock()
  t.capture(systemClock, 'after', (ms: number, run: () => void) => timers.after(ms, run))
  const { writer, kept, room, state } = outbox()
  writer.dropped(1)
  room.fails.push(full('ENOSPC'), full('ENOSPC'))
  let isWritten = false
  const writing = Promise.all([writer.write(newUserText('one')), writer.write(newUserText('two'))]).then(() => (isWritten = true))
  await until(() => timers.pending === 2)
  timers.advance(999)
  t.strictSame(kept(), [])
  room.fails.push(full('ENOSPC'))
  timers.advance(1)
  await until(() => kept().length === 1 && timers.pending === 1)
  t.match(state().diskTrouble, { why: 'full' })
  t.match(writer.trouble, /disk is full/)
  t.notOk(isWritten)
  timers.advance(1000)
  await writing
  const follows = 'The disk of this computer was full for a moment. Output from the meantime follows now.'
  t.strictSame(kept().toSorted(), ['one', 'two', follows].toSorted())
  t.equal(kept().at(-1), follows)
  t.equal(state().diskTrouble, undefined)
  t.match(writer.trouble, /the oldest thoughts and plans are dropped/, 'the other trouble goes on')
  writer.drained()
  t.equal(writer.trouble, undefined)
  writer.notesWait(full('ENOSPC'))
  writer.notesWait(undefined)
  t.equal(kept().at(-1), 'The disk of this computer was full for a moment. The session continues.')
})

t.test('an ending session waits no longer for the disk', async t => {
  const timers = manualClock()
  t.capture(systemClock, 'after', (ms: number, run: () => void) => timers.after(ms, run))
  const { writer, kept, room, state } = outbox()
  room.fails.push(full('ENOSPC'), full('ENOSPC'))
  const writing = writer.write(newUserText('one'))
  await until(() => timers.pending === 1)
  writer.abandon()
  await writing
  t.strictSame(kept(), [])
  t.match(state().diskTrouble, { why: 'full' })
})

t.test('the rest of the state is kept, and each change of the trouble is shown once on the computer', async t => {
  const { writer, state, changes } = outbox()
  writer.notesWait(full('ENOSPC'))
  writer.notesWait(full('ENOSPC'))
  t.strictSame([state(), changes()], [{ controlledByUser: true, diskTrouble: { since: 0, why: 'full' } }, 1])
  writer.notesWait(undefined)
  writer.notesWait(undefined)
  t.strictSame([state(), changes()], [{ controlledByUser: true, diskTrouble: undefined }, 2])
})

t.test('how long the disk was full, or failed, is said to the nearest minute or hour', async t => {
  const lasted: [ms: number, text: string][] = [
    [0, 'a moment'],
    [29_999, 'a moment'],
    [30_000, '1 minute'],
    [89_999, '1 minute'],
    [90_000, '2 minutes'],
    [119.4 * 60_000, '119 minutes'],
    [119.5 * 60_000, '2 hours'],
    [151 * 60_000, '3 hours']
  ]
  for (const [ms, text] of lasted) {
    const { writer, kept, clock } = outbox()
    writer.notesWait(full('ENOSPC'))
    clock.now += ms
    writer.notesWait(undefined)
    t.strictSame(kept(), [`The disk of this computer was full for ${text}. The session continues.`])
  }
})

t.test('a quota that is used up counts as a full disk, and any other error is shown with its reason', async t => {
  const why: [error: unknown, why: string, trouble: string, was: string][] = [
    [full('EDQUOT'), 'full', 'The disk is full, so the agent’s output is waiting: free some space.', 'was full'],
    [full('EIO'), 'failing', 'Nothing can be written to disk: EIO. The agent’s output is waiting.', 'could not be written to'],
    ['gone', 'failing', 'Nothing can be written to disk: gone. The agent’s output is waiting.', 'could not be written to']
  ]
  for (const [error, kind, trouble, was] of why) {
    const { writer, kept, state } = outbox()
    writer.notesWait(error)
    t.strictSame(state().diskTrouble, { since: 0, why: kind })
    t.strictSame(writer.diskTrouble, state().diskTrouble)
    t.equal(writer.trouble, trouble)
    writer.notesWait(undefined)
    t.strictSame(kept(), [`The disk of this computer ${was} for a moment. The session continues.`])
  }
})

t.test('a disk that fails another way keeps the time at which the trouble began', t => {
  const { writer, state, clock } = outbox()
  writer.notesWait(full('ENOSPC'))
  clock.now = 5000
  writer.notesWait(full('EIO'))
  t.strictSame(state().diskTrouble, { since: 0, why: 'failing' })
  t.end()
})

t.test('a gap that could not be recorded is recorded with the next lost output [W3]', async t => {
  const { writer, kept, room } = outbox()
  room.isFull = true
  room.isBroken = true
  await writer.write(newUserText('lost'))
  t.strictSame(kept(), [])
  room.isBroken = false
  await writer.write(newUserText('lost too'))
  await writer.write(newUserText('and this'))
  t.match(kept(), [missing])
  t.equal(kept().length, 1)
})

t.test('output that waited for the disk and then finds the queue full is missing, and the disk is told to be free', async t => {
  const timers = manualClock()
  t.capture(systemClock, 'after', (ms: number, run: () => void) => timers.after(ms, run))
  const { writer, kept, room, state } = outbox()
  room.fails.push(full('ENOSPC'), new OutboxFull('full'))
  const writing = writer.write(newUserText('lost'))
  await until(() => timers.pending === 1)
  timers.advance(1000)
  await writing
  t.match(kept(), [/^The disk of this computer was full for a moment\. Output from the meantime follows now\.$/, missing])
  t.equal(state().diskTrouble, undefined)
  t.match(writer.trouble, /^Too much data is waiting for the server/)
})

const full = (code: string) => Object.assign(new Error(code), { code })

const missing = /^Messages of the agent are missing here: too much data was waiting for the server/

/** With as much room as the test says. */
function outbox() {
  /** `isBroken`: nothing can be put, whatever it is. `fails`: with these in turn, before anything else. */
  const room = {
    isFull: false,
    isBroken: false,
    dropsThoughts: false,
    fails: [] as Error[],
    stored: undefined as Promise<void> | undefined
  }
  const clock = { now: 0 }
  const texts: string[] = []
  let state: AgentState = { controlledByUser: true }
  let changes = 0
  const writer = createWriter({
    async put(body, _, how) {
      const failure = room.fails.shift()
      if (failure) throw failure
      if (room.isFull && room.isBroken) throw new OutboxFull('full')
      if (room.isFull && !how?.beyondLimit) throw new OutboxFull('full')
      if (room.dropsThoughts) writer.dropped(1)
      const ev = envelopeOf(body)?.ev
      if (ev?.t === 'service' && room.stored) await room.stored
      texts.push(ev?.t === 'service' ? ev.text : body.role === 'user' ? body.content.text : '')
    },
    publish: change => {
      state = change(state)
    },
    onChange: () => void changes++,
    now: () => clock.now
  })
  return { writer, room, clock, kept: () => texts, state: () => state, changes: () => changes }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setImmediate(resolve))
}
