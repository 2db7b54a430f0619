import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { copy, copySecret, putOnClipboard } from '../../../web/ui/copy.ts'
import { shownToast } from '../../../web/ui/toast.ts'
import { words } from '../../../web/words/index.ts'

/** A clipboard that takes a text or not, and what it has. */
function clipboard(t: Test, { isDenied = false } = {}) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => {
    mock.timers.tick(60_000)
    mock.timers.reset()
  })
  const has: string[] = []
  const state = { isDenied }
  const writeText = async (text: string) => {
    if (state.isDenied) throw new Error('denied')
    has.push(text)
  }
  t.intercept(globalThis, 'navigator', { value: { clipboard: { writeText } } })
  return { has, state }
}

t.test('what was copied is confirmed', async t => {
  const { has } = clipboard(t)
  await copy('one')
  t.same([has, shownToast.value], [['one'], words.copied])
})

t.test('what the browser does not let be copied is said', async t => {
  const { has } = clipboard(t, { isDenied: true })
  for (const put of [copy, copySecret, putOnClipboard]) {
    mock.timers.tick(4_000)
    t.equal(shownToast.value, undefined)
    t.notOk(await put('one'))
    t.equal(shownToast.value, words.notCopied)
  }
  mock.timers.tick(60_000)
  t.same(has, [])
})

t.test('a text is put on the clipboard without a word', async t => {
  const { has } = clipboard(t)
  t.equal(await putOnClipboard('one'), true)
  t.same([has, shownToast.value], [['one'], undefined])
})

t.test('a secret leaves the clipboard after a minute, if the page may still write there', async t => {
  const { has, state } = clipboard(t)
  await copySecret('secret')
  t.equal(shownToast.value, words.copied)
  mock.timers.tick(59_999)
  t.same(has, ['secret'])
  mock.timers.tick(1)
  t.same(has, ['secret', ''])
  await copySecret('secret')
  state.isDenied = true
  mock.timers.tick(60_000)
  await new Promise(setImmediate)
  t.same(has, ['secret', '', 'secret'])
})
