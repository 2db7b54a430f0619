import t from 'tap'
import { firstLine, plainLine, shortened, titleOfPrompt } from '../../lib/protocol/sealed/plain-line.ts'

t.test('a title is the first meaningful line of the prompt, as plain text', t => {
  const cases: [string, string | undefined][] = [
    ['Fix the login', 'Fix the login'],
    ['\n\n  ## Fix **the** `login`\r\nIt fails', 'Fix the login'],
    ['```ts\nconst a = 1\n```', 'const a = 1'],
    ['---\n> - [ ] see [the guide](https://example.org/a_b "A guide") first', 'see the guide first'],
    ['1. rename snake_case_name and __init__', 'rename snake_case_name and init'],
    ['2 * 3 * 4 is *not* 20', '2 * 3 * 4 is not 20'],
    ['_all_ of it', 'all of it'],
    ['**bold** and *not', 'bold and *not'],
    ['-5 degrees', '-5 degrees'],
    ['#123 is open', '#123 is open'],
    ['| a | b |\n|---|:-:|', '| a | b |'],
    ['请修复登录页面的跳转', '请修复登录页面的跳转'],
    ['/compact', undefined],
    ['/review fix the login', '/review fix the login'],
    [' \n\u200b\n```\n```', undefined]
  ]
  for (const [prompt, title] of cases) t.equal(titleOfPrompt(prompt), title, prompt)
  t.end()
})

t.test('a title has no invisible or bidirectional control characters, and emoji stay whole', t => {
  t.equal(plainLine('pay \u202egnp.exe\u202c\u2066x\u2069\u200f now\u0000\u001b[31m'), 'pay gnp.exex now[31m')
  t.equal(plainLine('a\u{e0041}\u{e0042}b\ufeff\u200bc\u{ad}\u034fd'), 'abcd')
  t.equal(plainLine('👩\u200d🌾 ❤\ufe0f می\u200cخواهم'), '👩\u200d🌾 ❤\ufe0f می\u200cخواهم')
  t.equal(firstLine('\u202e\nreal'), 'real')
  t.end()
})

t.test('a long title is cut after a word, or between letters where there are none', t => {
  const cut = titleOfPrompt('Find out why the upload test fails about one run in ten on the build machine, and mend it') ?? ''
  t.equal(cut, 'Find out why the upload test fails about one run in ten on the build machine…')
  t.equal(shortened('one two', 7), 'one two')
  t.equal(shortened('one two three', 8), 'one two…')
  t.equal(shortened('seven two one', 10), 'seven two…', 'a word that just fits stays')
  t.equal(shortened('four twosome', 9), 'four two…', 'more than half is not given up for a whole word')
  t.equal(shortened('seven twosome', 9), 'seven…')
  t.equal(shortened('修复登录页面的跳转问题', 6), '修复登录页…')
  t.equal(shortened('👩\u200d🌾'.repeat(5), 3), `${'👩\u200d🌾'.repeat(2)}…`)
  const hostile = `${'*'.repeat(50_000)}a${'['.repeat(50_000)}`
  t.ok([...(titleOfPrompt(hostile) ?? '')].length <= 80)
  t.end()
})
