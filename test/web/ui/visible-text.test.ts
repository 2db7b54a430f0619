import t from 'tap'
import { makeVisible, visible, withVisibleBidi } from '../../../web/ui/visible-text.ts'

t.test('what would hide or reorder text is shown as an escape, and the rest stays', async t => {
  t.strictSame(makeVisible('a\u202eb\u200b'), [
    { text: 'a', isEscape: false },
    { text: '\\u{202e}', isEscape: true },
    { text: 'b', isEscape: false },
    { text: '\\u{200b}', isEscape: true }
  ])
  t.strictSame(makeVisible('\u202e\u202d'), [
    { text: '\\u{202e}', isEscape: true },
    { text: '\\u{202d}', isEscape: true }
  ])
  t.strictSame(makeVisible('one\n\ttwo'), [{ text: 'one\n\ttwo', isEscape: false }])
  t.strictSame(makeVisible(''), [])
  t.equal(visible('rm\u00a0-rf\u{e0041} x'), 'rm\\u{a0}-rf\\u{e0041} x')
})

t.test('in prose only what changes the order is escaped', async t => {
  t.equal(withVisibleBidi('a\u202eb\u2069c\u200d\u00a0'), 'a\\u{202e}b\\u{2069}c\u200d\u00a0')
})
