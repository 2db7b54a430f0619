import t, { type Test } from 'tap'
import { useSuggestions } from '../../../../web/session/composer/suggestions.ts'
import { inComponent } from '../../kit/in-component.ts'

const commands = ['compact', 'review', 'clear', 'security-review']

/** Someone types before the caret, which is where `|` is; without it the field has no focus. */
function write(t: Test, first: string, { hasFiles = true } = {}) {
  let marked = first
  const asked: { query: string; answer(paths: string[]): Promise<void>; fail(): Promise<void> }[] = []
  const findFiles = (query: string) =>
    new Promise<string[]>((answer, fail) => {
      asked.push({
        query,
        answer: paths => settled(() => answer(paths)),
        fail: () => settled(() => fail(new Error('away')))
      })
    })
  const component = inComponent(t, () => {
    const caret = marked.indexOf('|')
    return useSuggestions(marked.replace('|', ''), caret < 0 ? undefined : caret, { commands, hasFiles, findFiles })
  })
  const settled = (what: () => void) =>
    component.act(async () => {
      what()
      await new Promise(setImmediate)
    })
  return {
    asked,
    shown: () => component.latest,
    found: () => component.latest?.found,
    type(next: string) {
      marked = next
      component.again()
    },
    move: (by: 1 | -1) => component.act(() => component.latest?.move(by)),
    close: () => component.act(() => component.latest?.close())
  }
}

t.test('a slash that begins the message offers the commands with its letters', async t => {
  const { shown, found, type, asked } = write(t, '/re|')
  t.equal(shown()?.kind, 'command')
  t.same(found(), ['review', 'security-review'], 'first what begins so')
  type('/c|')
  t.same(found(), ['compact', 'clear', 'security-review'])
  for (const nothing of ['/zzz|', 'see /c|', '/c', '', '|']) {
    type(nothing)
    t.equal(shown(), undefined, nothing)
  }
  t.equal(asked.length, 0)
})

t.test('an at sign offers the files that the machine finds, once for each text', async t => {
  const { shown, found, type, asked } = write(t, 'see @ma|')
  t.equal(shown(), undefined, 'nothing is known yet')
  await asked[0]?.answer(['src/main.ts', 'src/mail.ts'])
  t.equal(shown()?.kind, 'file')
  t.same(found(), ['src/main.ts', 'src/mail.ts'])
  type('see @mai|')
  type('see @mail|')
  t.same(found(), ['src/mail.ts'], 'of those before, what still matches')
  await asked[1]?.answer(['late.ts'])
  t.same(found(), ['src/mail.ts'])
  await asked[2]?.answer(['docs/mail.md'])
  t.same(found(), ['docs/mail.md'])
  t.same(
    asked.map(({ query }) => query),
    ['ma', 'mai', 'mail']
  )
  type('see @mail.x|')
  await asked[3]?.fail()
  t.equal(shown(), undefined, 'a machine that does not answer offers nothing')
})

t.test('without a folder no files are offered', async t => {
  const { shown, asked } = write(t, '@ma|', { hasFiles: false })
  t.equal(shown(), undefined)
  t.equal(asked.length, 0)
})

t.test('keys move through the suggestions and round again, until they are others', async t => {
  const { shown, move, type } = write(t, '/c|')
  const at = () => shown()?.at
  t.equal(at(), 0)
  await move(1)
  t.equal(at(), 1)
  await move(1)
  await move(1)
  t.equal(at(), 0)
  await move(-1)
  t.equal(at(), 2)
  type('/cl|')
  t.equal(at(), 0)
  await move(1)
  t.equal(at(), 0, 'there is only one')
})

t.test('two keys before the screen follows move twice', async t => {
  const { shown } = write(t, '/c|')
  const first = shown()
  const { act } = await import('preact/test-utils')
  await act(() => {
    first?.move(1)
    first?.move(1)
  })
  t.equal(shown()?.at, 2)
})

t.test('a chosen suggestion replaces what was typed of it, and the caret goes on after a space', async t => {
  const { shown, type } = write(t, '/re|')
  t.same(shown()?.taken(1), { text: '/security-review ', caret: 17 })
  type('/re| now')
  t.same(shown()?.taken(0), { text: '/review now', caret: 8 }, 'one space is enough')
  type('/re|now')
  t.same(shown()?.taken(0), { text: '/review now', caret: 8 })
})

t.test('closed suggestions stay closed for this word, and return for the next', async t => {
  const { shown, type, close } = write(t, '/re|')
  await close()
  t.equal(shown(), undefined)
  type('/rev|')
  t.equal(shown(), undefined)
  type('|')
  type('/re|')
  t.same(shown()?.found, ['review', 'security-review'])
})
