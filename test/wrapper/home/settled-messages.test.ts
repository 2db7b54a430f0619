import t from 'tap'
import { createSessionFolder, listSessions, reopen } from '../../../lib/wrapper/home/session-folder.ts'
import { noteEndedByPerson, settledUpTo } from '../../../lib/wrapper/home/session-notes.ts'

t.test('messages present when a person ended a session are settled; when it ended by itself, only those its agent has [W8]', async t => {
  const home = t.testdir()
  const metadata = { path: '/p', host: 'h' }
  const folder = createSessionFolder(home, { tag: 'one', server: 's', key: null, metadata, cursor: 3, turn: null })
  const known = () => {
    const [only] = listSessions(home)
    if (!only) throw new Error('the session is there')
    return only
  }
  folder.note({ endedBy: 'person' })
  t.equal(settledUpTo(known()), 3, 'as long as it has heard none')
  folder.note({ endedBy: 'itself', heardUpTo: 9 })
  t.equal(settledUpTo(known()), 3)
  folder.note({ endedBy: 'person' })
  t.equal(settledUpTo(known()), 9)
  folder.note({ endedBy: 'itself' })
  noteEndedByPerson(known())
  t.equal(settledUpTo(known()), 9, 'also when its process only heard a signal')
  folder.retire()
  t.equal(settledUpTo(known()), 9)
  reopen(known())
  t.equal(settledUpTo(known()), 3, 'and anew after it was resumed')
})
