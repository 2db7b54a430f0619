import t from 'tap'
import { happenedSince } from '../../web/state/happened.ts'
import { excerptOf, hasWords, wordsOf } from '../../web/state/search-text.ts'
import type { Item, Step } from '../../web/state/transcript.ts'

t.test('all the words are looked for, in whatever case, width and order', async t => {
  t.ok(hasWords('Fix the Callback, then deploy', wordsOf('deploy  CALLBACK')))
  t.notOk(hasWords('Fix the callback', wordsOf('callback deploy')))
  t.ok(hasWords('ＡＰＩ key', wordsOf('api')))
  t.ok(hasWords('请修复回调', wordsOf('回调')))
})

t.test('an excerpt stands around the first match and marks each', async t => {
  const long = `${'before '.repeat(30)}the returnTo address ${'after '.repeat(60)}`
  const parts = excerptOf(long, wordsOf('returnto'))
  t.same(
    parts.filter(({ isMatch }) => isMatch).map(({ text }) => text),
    ['returnTo']
  )
  const text = parts.map(part => part.text).join('')
  t.ok(text.length < 200 && text.startsWith('… ') && text.endsWith('…'), text)
  t.equal(
    excerptOf('Plums and plums', wordsOf('plums'))
      .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
      .join(''),
    '[Plums] and [plums]'
  )
})

t.test('what happened while somebody was away is told in numbers, and that it is not all of it when older is missing', async t => {
  const step = (seq: number, kind: Step['kind'], more: Partial<Step> = {}): Step => ({
    type: 'step',
    key: `s${seq}`,
    seq,
    at: seq,
    call: `c${seq}`,
    kind,
    name: kind,
    title: '',
    description: '',
    args: {},
    locations: [],
    content: [],
    state: 'ok',
    endedAt: seq,
    ...more
  })
  const items: Item[] = [
    step(3, 'edit', { locations: ['/old.ts'] }),
    step(6, 'edit', { locations: ['/a.ts'] }),
    step(7, 'edit', { locations: ['/a.ts'] }),
    step(8, 'execute', { state: 'failed' }),
    { type: 'prose', key: 'p', seq: 9, at: 9, text: 'Done.' }
  ]
  const messages = [{ seq: 2, localId: null, at: 2, body: undefined }]
  t.match(happenedSince({ items, messages }, 5, true), {
    files: 1,
    commands: 1,
    failed: 1,
    messages: 1,
    questions: 0,
    first: 6,
    isWhole: true
  })
  t.equal(happenedSince({ items, messages }, 0, true).isWhole, false)
  t.equal(happenedSince({ items, messages }, 0, false).isWhole, true, 'nothing is older, whatever the numbers say')
  t.equal(happenedSince({ items, messages }, 9, true).first, undefined)
})
