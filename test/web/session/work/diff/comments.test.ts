import 'fake-indexeddb/auto'
import t from 'tap'
import { deviceDb } from '../../../../../web/core/device-db.ts'
import { messageOf, openComments, type WorkComment } from '../../../../../web/session/work/diff/comments.ts'
import { until } from '../../../kit/device.ts'

const all: Omit<WorkComment, 'id'> = { path: undefined, line: undefined, text: 'Well done.' }
const file: Omit<WorkComment, 'id'> = { path: 'a.ts', line: undefined, text: 'Rename it.' }
const textsOf = (comments: readonly WorkComment[]) => comments.map(({ text }) => text)
const never = { send: () => Promise.reject(new Error('no room')) }

/** What the device has stored, after everything begun before. */
async function stored(session: string): Promise<unknown> {
  return (await deviceDb()).read(`comments.${session}`)
}

t.test('comments are kept on the device, one of them can be removed, and the last one leaves nothing', async t => {
  const first = openComments('s1', never)
  await stored('s1')
  first.add(all)
  first.add(file)
  const [one, other] = first.all.value
  t.not(one?.id, other?.id)
  await stored('s1')
  const again = openComments('s1', never)
  t.same(textsOf(await until(again.all, ({ length }) => length > 0)), ['Well done.', 'Rename it.'])
  again.remove(one?.id ?? '')
  t.same(textsOf(again.all.value), ['Rename it.'])
  t.match(await stored('s1'), [{ text: 'Rename it.', path: 'a.ts' }])
  again.remove(other?.id ?? '')
  t.equal(await stored('s1'), undefined)
})

t.test('stored comments come before those that were added while they were read, and damaged ones are left out', async t => {
  const db = await deviceDb()
  const kept = { id: 'k', text: 'Kept.' }
  await db.write('comments.s2', [null, 'text', { id: 'x' }, { text: 'x' }, { id: 'y', text: 7 }, kept])
  const comments = openComments('s2', never)
  comments.add(all)
  const seen = await until(comments.all, all => all.some(({ id }) => id === 'k'))
  t.same(textsOf(seen), ['Kept.', 'Well done.'])
  await db.write('comments.s3', { not: 'a list' })
  const other = openComments('s3', never)
  await stored('s3')
  t.same(other.all.value, [])
})

t.test('sending empties the list, except of what was added meanwhile; a message that cannot be stored leaves all of it', async t => {
  const sent: string[] = []
  const comments = openComments('s4', {
    async send(text: string) {
      sent.push(text)
      comments.add(file)
    }
  })
  await comments.send()
  t.same(sent, [], 'an empty list is not sent')
  comments.add(all)
  await comments.send()
  t.same(sent, ['1 comment on the changes:\n\nWell done.'])
  t.same(textsOf(comments.all.value), ['Rename it.'])

  const refused = openComments('s5', never)
  refused.add(all)
  await t.rejects(refused.send(), { message: 'no room' })
  t.same(textsOf(refused.all.value), ['Well done.'])
})

t.test('the agent reads the comments file by file, each with its line', t => {
  const line = (number: number, side: 'old' | 'new', text: string) => ({ number, side, text })
  const comments = [
    { path: 'b.ts', line: line(3, 'new', '  let a'), text: 'Const.' },
    all,
    { path: 'a.ts', line: line(9, 'old', 'gone'), text: 'Why?' },
    { path: 'b.ts', line: undefined, text: 'Split it.' }
  ].map((comment, at) => ({ id: String(at), ...comment }))
  t.equal(
    messageOf(comments),
    [
      '4 comments on the changes:',
      'b.ts, line 3\n> let a\nConst.',
      'b.ts\nSplit it.',
      'Well done.',
      'a.ts, removed line 9\n> gone\nWhy?'
    ].join('\n\n')
  )
  t.end()
})
