import t from 'tap'
import { formatBackupKey, readBackupKey } from '../../../lib/crypto/index.ts'
import { caretAfterGrouping, countLetters, groupsOf, groupTyped, isSameGroup, keyLetters, pickGroups } from '../../../web/keys/text.ts'

const secret = new Uint8Array(32).map((_, at) => at * 7)
const key = formatBackupKey(secret)

t.test('a key has eleven groups', async t => {
  t.equal(groupsOf(key).length, 11)
  t.equal(countLetters(key), keyLetters)
})

t.test('a key is parsed the same however typed or pasted', async t => {
  const forms = [key, key.toLowerCase(), key.replaceAll('-', ''), key.replaceAll('-', '\n'), ` ${key.replaceAll('-', ' - ')} `]
  for (const form of forms) {
    const reading = readBackupKey(groupTyped(form))
    t.ok(reading.ok && Buffer.from(reading.secret).equals(secret), form)
  }
})

t.test('it groups itself as you type, and the caret stays after the typed letter', async t => {
  let text = ''
  for (const letter of key.replaceAll('-', '')) {
    const typed = text + letter
    t.equal(caretAfterGrouping(typed), groupTyped(typed).length)
    text = groupTyped(typed)
  }
  t.equal(text, key.replaceAll('-', ' '))
})

t.test('a caret in the middle stays where it was', async t => {
  t.equal(caretAfterGrouping('ABC'), 3)
  t.equal(caretAfterGrouping('ABCDE F'), 7)
  t.equal(caretAfterGrouping('ABCDEF'), 7)
})

t.test('the base64url form is unchanged', async t => {
  const form = Buffer.from(secret).toString('base64url')
  t.equal(groupTyped(`  ${form}\n`), form)
  const reading = readBackupKey(groupTyped(form))
  t.ok(reading.ok && Buffer.from(reading.secret).equals(secret))
})

t.test('letters of other scripts stay, to be pointed out', async t => {
  const wrong = groupTyped(`${key.slice(0, 8)}ü${key.slice(9)}`)
  t.strictSame(readBackupKey(wrong), { ok: false, problem: 'impossible-letter', group: 2 })
})

t.test('letters that look alike on paper count as the same', async t => {
  t.ok(isSameGroup('0ib9g', 'OIBGG'))
  t.ok(isSameGroup(' o1 8gg ', 'OIBGG'))
  t.notOk(isSameGroup('OIBG', 'OIBGG'))
  t.notOk(isSameGroup('', 'OIBGG'))
})

t.test('the check asks for three different whole groups', async t => {
  for (const random of [() => 0, () => 0.999999, Math.random]) {
    const picked = pickGroups(random)
    t.equal(new Set(picked).size, 3)
    t.ok(picked.every(group => group >= 0 && group < 10))
    t.strictSame(
      picked,
      picked.toSorted((a, b) => a - b)
    )
  }
})
