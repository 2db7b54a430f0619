import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { processConsole, shareTerminal, withWrite } from '../../../lib/wrapper/terminal/console.ts'

/** The console of a process with these streams, and what became of its keys. */
function consoleOf(t: Test, streams: { stdin: object; stdout: object }) {
  const did: unknown[] = []
  const input = new PassThrough()
  const stdin = Object.assign(input, { setRawMode: (isRaw: boolean) => did.push(isRaw ? 'raw' : 'cooked') }, streams.stdin)
  const stdout = Object.assign(new PassThrough(), { write: (bytes: unknown) => did.push(bytes) }, streams.stdout)
  const own = Object.entries({ stdin, stdout }).map(([name, value]) => t.intercept(process, name as 'stdin', { value: value as never }))
  const console = processConsole()
  for (const { restore } of own) restore()
  return { console, did, input, stdout }
}

t.test('an agent draws only where both sides are a terminal, of 80 by 24 if it does not tell its size', async t => {
  const isTTY = true
  t.equal(consoleOf(t, { stdin: { isTTY }, stdout: {} }).console, undefined)
  t.equal(consoleOf(t, { stdin: {}, stdout: { isTTY } }).console, undefined)
  t.match(consoleOf(t, { stdin: { isTTY }, stdout: { isTTY, columns: 132, rows: 50 } }).console, { columns: 132, rows: 50 })
  t.match(consoleOf(t, { stdin: { isTTY }, stdout: { isTTY, columns: 0, rows: 0 } }).console, { columns: 80, rows: 24 })
})

t.test('keys are taken as typed and given back, and writing can be replaced alone', async t => {
  const { console, did, input, stdout } = consoleOf(t, { stdin: { isTTY: true }, stdout: { isTTY: true, columns: 90, rows: 30 } })
  if (!console) throw new Error('there is none')
  console.write('hello')
  const giveBack = console.takeKeys(keys => void did.push(keys.toString()))
  input.write('a')
  await new Promise(resolve => setImmediate(resolve))
  giveBack()
  input.write('b')
  await new Promise(resolve => setImmediate(resolve))
  t.strictSame(did, ['hello', 'raw', 'a', 'cooked'])
  t.ok(input.isPaused())
  let resized = 0
  const stop = console.onResize(() => (resized += 1))
  stdout.emit('resize')
  stop()
  stdout.emit('resize')
  t.equal(resized, 1)

  const other = withWrite(console, bytes => void did.push(`other ${bytes}`))
  other.write('hello')
  t.equal(did.at(-1), 'other hello')
  t.match(other, { columns: 90, rows: 30, takeKeys: console.takeKeys, onResize: console.onResize })
})

t.test('while our screen shows, any key brings the one of the agent back, and Ctrl-C interrupts', async t => {
  const did: string[] = []
  let typed = (_keys: Buffer) => {}
  const console = {
    ...{ columns: 80, rows: 24, write() {}, onResize: () => () => {} },
    takeKeys(listener: (keys: Buffer) => void) {
      did.push('keys')
      typed = listener
      return () => void did.push('no keys')
    }
  }
  t.intercept(process, 'emit', { value: (name: string) => did.push(name) })
  const ours = { suspend: () => void did.push('suspend'), resume: () => void did.push('resume') }
  const shared = shareTerminal(console, ours, () => void did.push('back'))
  t.equal(shared.console, console)
  const said = () => did.splice(0)
  shared.onDrawing(true)
  t.strictSame(said(), ['suspend'])
  shared.onDrawing(false)
  t.strictSame(said(), ['resume', 'keys'])
  typed(Buffer.from('x'))
  typed(Buffer.from('\x03'))
  t.strictSame(said(), ['back', 'SIGINT'])
  shared.onDrawing(true)
  t.strictSame(said(), ['no keys', 'suspend'])
  shared.onDrawing(false)
  shared.close()
  shared.close()
  t.strictSame(said(), ['resume', 'keys', 'no keys'])
})
