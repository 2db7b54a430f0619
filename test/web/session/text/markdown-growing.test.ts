import t from 'tap'
import { closed } from '../../../../web/session/text/markdown-growing.ts'

t.test('open syntax at the end of growing text is closed, and nothing else is changed', t => {
  const table: [text: string, becomes: string][] = [
    ['This is **bo', 'This is **bo**'],
    ['This is **bold ', 'This is **bold**'],
    ['This is **bold*', 'This is **bold**'],
    ['This is **', 'This is '],
    ['This is **bold**', 'This is **bold**'],
    ['Run `npm te', 'Run `npm te`'],
    ['Run `', 'Run '],
    ['Run `a ** b` now', 'Run `a ** b` now'],
    ['2 ** 3 is', '2 ** 3 is'],
    ['A ** left over\n\nand **so', 'A ** left over\n\nand **so**'],
    ['- one **left\n- two', '- one **left\n- two'],
    ['* one\n* **tw', '* one\n* **tw**'],
    ['```ts\nconst a = 2 ** b', '```ts\nconst a = 2 ** b'],
    ['```ts\na\n```\nNow **he', '```ts\na\n```\nNow **he**'],
    ['\n\n', '\n\n'],
    ['', '']
  ]
  for (const [text, becomes] of table) t.equal(closed(text), becomes, JSON.stringify(text))
  t.end()
})

t.test('the cost per added piece does not grow with the text', t => {
  for (const line of ['a line of words\n', 'a line of words\n\n', '- an item\n', '`code` and more\n']) {
    const text = `${line.repeat(6000)}and **so`
    const began = performance.now()
    t.equal(closed(text), `${text}**`)
    t.ok(performance.now() - began < 500, line)
  }
  t.end()
})
