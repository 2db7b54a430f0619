import t from 'tap'
import { OutboxFull } from '../../../lib/client/outbox/outbox.ts'
import { envelopeOf, newUserText } from '../../../lib/client/sealed/messages.ts'
import type { AgentState } from '../../../lib/protocol/sealed/session.ts'
import { createKeeping } from '../../../lib/wrapper/session/keeping.ts'

t.test('that thoughts were left out is shown until the server has everything, and is then said in the history once [W3]', async t => {
  const { keeping, kept, room } = outbox()
  room.dropsThoughts = true
  await keeping.keep(newUserText('one'))
  room.dropsThoughts = false
  await keeping.keep(newUserText('two'))
  t.match(keeping.trouble, /the oldest thoughts and plans are dropped/)
  keeping.drained()
  t.equal(keeping.trouble, undefined)
  keeping.drained()
  await keeping.keep(newUserText('three'))
  t.match(kept(), ['one', 'two', /^Before this 1 thought or plan was left out/, 'three'])
})

t.test('where words of the agent are missing the history says so at once, before what follows [W3]', async t => {
  const { keeping, kept, room } = outbox()
  await keeping.keep(newUserText('one'))
  room.isFull = true
  await keeping.keep(newUserText('lost'))
  await keeping.keep(newUserText('lost too'))
  t.match(keeping.trouble, /new agent output is not stored/)
  t.match(kept(), ['one', missing], 'also when nothing follows, because this process dies')
  room.isFull = false
  await keeping.keep(newUserText('two'))
  room.isFull = true
  await keeping.keep(newUserText('lost again'))
  t.match(kept(), ['one', missing, 'two', missing])
  room.isFull = false
  keeping.drained()
  t.equal(keeping.trouble, undefined)
  t.equal(kept().length, 4, 'once for each gap')
})

t.test('thoughts that were left out are told of when the session ends, also while the server is away [W3]', async t => {
  const { keeping, kept, room } = outbox()
  room.dropsThoughts = true
  await keeping.keep(newUserText('one'))
  room.isFull = true
  await keeping.finish()
  t.match(kept(), ['one', /^Before this 1 thought or plan was left out/])
})

t.test('devices are told of the disk while what a session notes of itself waits, and once that it is over [W16]', async t => {
  const { keeping, kept, state } = outbox()
  keeping.notesWait(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  keeping.notesWait(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  t.match(state().diskTrouble, { why: 'full' })
  t.match(keeping.trouble, /disk is full/)
  await keeping.keep(newUserText('a small one'))
  t.match(state().diskTrouble, { why: 'full' }, 'also when what is smaller finds room')
  keeping.notesWait(undefined)
  t.equal(state().diskTrouble, undefined)
  t.equal(keeping.trouble, undefined)
  t.match(kept(), ['a small one', /^The disk of this computer was full for a moment\. The session goes on\.$/])
})

const missing = /^Here messages of the agent are missing: too much waited for the server/

/** With as much room as the test says. */
function outbox() {
  const room = { isFull: false, dropsThoughts: false }
  const texts: string[] = []
  let state: AgentState = {}
  const keeping = createKeeping({
    async put(body, _, how) {
      if (room.isFull && !how?.beyondLimit) throw new OutboxFull('full')
      if (room.dropsThoughts) keeping.dropped(1)
      const ev = envelopeOf(body)?.ev
      texts.push(ev?.t === 'service' ? ev.text : body.role === 'user' ? body.content.text : '')
    },
    publish: change => {
      state = change(state)
    },
    onChange: () => {}
  })
  return { keeping, room, kept: () => texts, state: () => state }
}
