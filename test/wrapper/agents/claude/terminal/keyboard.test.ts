import t from 'tap'
import { beginningOf, createKeyboard } from '../../../../../lib/wrapper/agents/claude/terminal/keyboard.ts'

t.test('a message is pasted as it is, and nothing in it presses a key or ends the paste', async t => {
  const keys: string[] = []
  const keyboard = createKeyboard(written => {
    keys.push(written)
    if (written === '\r') keyboard.taken('one')
  })
  t.equal(await keyboard.type('one'), true)
  t.same(keys.splice(0), ['\x13', '\x1b[200~one\x1b[201~', '\r'], 'what the person was typing is set aside first')
  const typed = async (text: string, how?: { isCommand: boolean }) => {
    const typing = how ? keyboard.type(text, how) : keyboard.type(text)
    keyboard.taken(text)
    t.equal(await typing, true, text)
    return keys.splice(0)[1]?.slice(6, -6)
  }
  for (const first of ['!', '/', '#', '@']) t.equal(await typed(`${first}go`), ` ${first}go`, 'it would run a command')
  t.equal(await typed('/compact', { isCommand: true }), '/compact')
  t.equal(await typed('a\r\n\tb\x1b[201~\x03c'), 'a\n\tb[201~c')
  await keyboard.command('/model\n opus')
  t.equal(keys[1], '\x1b[200~/model opus\x1b[201~')
})

t.test('two messages are typed one after the other', async t => {
  const keys: string[] = []
  const keyboard = createKeyboard(written => keys.push(written))
  await Promise.all([keyboard.command('/one'), keyboard.command('/two')])
  t.same(
    keys.filter(key => key !== '\x13'),
    ['\x1b[200~/one\x1b[201~', '\r', '\x1b[200~/two\x1b[201~', '\r']
  )
})

t.test('a recorded text counts as ours once, by its beginning', async t => {
  const keyboard = createKeyboard(() => {})
  const long = `${'a'.repeat(60)}b`
  const typing = keyboard.type(long)
  keyboard.taken('something else')
  keyboard.taken(long)
  await typing
  t.notOk(keyboard.isOurs('something else'))
  t.notOk(keyboard.hasWrittenDown(long), 'not recorded yet')
  t.ok(keyboard.isOurs(`${'a'.repeat(30)}\n${'a'.repeat(30)}c`), 'wrapped on the way')
  t.ok(keyboard.hasWrittenDown(long))
  t.notOk(keyboard.isOurs(long))
  t.equal(beginningOf(long), 'a'.repeat(60))
})
