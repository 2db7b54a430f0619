import t from 'tap'
import { OutboxFull } from '../../../../lib/client/outbox/outbox.ts'
import { envelopeOf, newUserText } from '../../../../lib/client/sealed/messages.ts'
import type { AgentState } from '../../../../lib/protocol/sealed/session.ts'
import { createWriter } from '../../../../lib/wrapper/session/output/writer.ts'

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

const missing = /^Messages of the agent are missing here: too much data was waiting for the server/

/** With as much room as the test says. */
function outbox() {
  const room = { isFull: false, dropsThoughts: false }
  const texts: string[] = []
  let state: AgentState = {}
  const writer = createWriter({
    async put(body, _, how) {
      if (room.isFull && !how?.beyondLimit) throw new OutboxFull('full')
      if (room.dropsThoughts) writer.dropped(1)
      const ev = envelopeOf(body)?.ev
      texts.push(ev?.t === 'service' ? ev.text : body.role === 'user' ? body.content.text : '')
    },
    publish: change => {
      state = change(state)
    },
    onChange: () => {}
  })
  return { writer, room, kept: () => texts, state: () => state }
}
