import { marked } from 'marked'
import t from 'tap'
import { harmlessMarkdown } from '../../../../../web/model/transcript/export/harmless-markdown.ts'
import { sampleSeed } from '../../../../kit/seed.ts'
import { mutations, payloads } from '../../../kit/xss.ts'

t.test("an agent's text is unchanged, with its code and its web links", t => {
  for (const text of [
    '# Done\n\n- **All** tests pass in `Map<string, Set<number>>`, 1 < 2\n- [x] see [the run](https://example.org/1) or <me@example.org>',
    '```ts\nconst a: Array<string> = [b](c)\n```\n\n~~~\n<b>\n``` ~~~\n~~~',
    '| a | b |\n|---|---|\n| 1 | [mail](mailto:a@example.org) |'
  ]) {
    t.equal(harmlessMarkdown(text).replace('&lt;me@', '<me@'), text)
  }
  t.end()
})

t.test('everything else is plain text for a viewer', t => {
  const table: [text: string, becomes: string][] = [
    ['<script>1</script>', '&lt;script>1&lt;/script>'],
    ['\\<img src=x>', '\\&lt;img src=x>'],
    ['![x](https://evil.example/a.png)', '!&#91;x](https://evil.example/a.png)'],
    ['[a](javascript:1)', '[a&#93;(javascript:1)'],
    ['[a](\n<javascript:1>)', '[a&#93;(\n&lt;javascript:1>)'],
    ['[a]\n\n[a]: javascript:1', '[a]\n\n&#91;a]: javascript:1'],
    ['a ` b\nc ` <b> ` d', 'a ` b\nc ` &lt;b> ` d'],
    ['| ` | <b> ` |', '| ` | &lt;b> ` |'],
    ['\\`<b>`', '\\`&lt;b>`'],
    ['``<b>`', '``&lt;b>`'],
    ['https://example.org/`<b>`', 'https://example.org/`&lt;b>`'],
    ['- ```\n  <b>', '- ```\n  &lt;b>'],
    ['> ```\n<b>', '> ```\n&lt;b>'],
    ['    ```\n<b>', '    ```\n&lt;b>'],
    ['```\n<b>', '```\n<b>\n```']
  ]
  for (const [text, becomes] of table) t.equal(harmlessMarkdown(text), becomes)
  t.end()
})

t.test('no text produces a tag or a picture in a viewer, however it is composed', t => {
  const more = mutations(sampleSeed.number)
  const texts = [...payloads, ...Array.from({ length: 800 }, () => more.next().value ?? '')].filter(text => text.length < 2000)
  const found = texts.filter(text => isMore(harmlessMarkdown(text)))
  t.same(found.slice(0, 3), [])
  t.end()
})

function isMore(text: string): boolean {
  let found = false
  try {
    marked.walkTokens(marked.lexer(text), token => {
      if (token.type === 'html' || token.type === 'image') found = true
      if (token.type === 'link' && !/^(https?:|mailto:)/i.test(token.href)) found = true
    })
  } catch (error) {
    // Hundreds of nested quotes, of which such a viewer shows nothing at all.
    if (!(error instanceof RangeError)) throw error
  }
  return found
}
