import t from 'tap'
import { excerptOf, hasWords, wordsOf } from '../../../web/model/search-text.ts'

t.test('all words are searched, in any case, width and order', async t => {
  t.ok(hasWords('Fix the Callback, then deploy', wordsOf('deploy  CALLBACK')))
  t.notOk(hasWords('Fix the callback', wordsOf('callback deploy')))
  t.ok(hasWords('ＡＰＩ key', wordsOf('api')))
  t.ok(hasWords('请修复回调', wordsOf('回调')))
})

t.test('an excerpt surrounds the first match and marks each', async t => {
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

t.test('of words at one place the longest is marked, and a text whose length changes is not marked at all', async t => {
  const marked = (text: string, query: string) =>
    excerptOf(text, wordsOf(query))
      .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
      .join('')
  t.equal(marked('Plum and plums', 'plum plums'), '[Plum] and [plums]')
  t.equal(marked('Plums, then pears', 'pears plums plu'), '[Plums], then [pears]')
  t.equal(marked('ﬁne plums', 'plums'), 'ﬁne plums')
})
