import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { AgentScreen } from '../../../lib/wrapper/agents/agent.ts'
import { attachScreen } from '../../../lib/wrapper/agents/attached-screen.ts'
import { hasPty } from '../../../lib/wrapper/agents/pty.ts'

const how = { skip: !hasPty && 'no terminals on this system' }

t.test('its person types into it and closes it, and it can be opened again', how, async t => {
  const { attached, type, shown, told, listening } = screenOf('echo ready; read line; echo "got $line"')
  t.equal(attached.isOpen, false)
  attached.open()
  attached.open()
  t.equal(attached.isOpen, true)
  t.strictSame([...listening], ['keys', 'sizes'])
  while (!shown().includes('ready')) await delay(5)
  type('tea\r')
  while (attached.isOpen) await delay(5)
  t.match(shown(), 'got tea')
  t.strictSame([...listening], [])
  t.strictSame(told, ['draws', 'stops drawing', 'closed'])
  attached.open()
  type('cake\r')
  while (attached.isOpen) await delay(5)
  t.match(shown(), 'got cake')
  t.equal(told.length, 6)
})

t.test('one that ends by itself says how; one that is closed says nothing, and opens no more', how, async t => {
  const failing = screenOf('exit 3')
  failing.attached.open()
  while (failing.attached.isOpen) await delay(5)
  t.strictSame(failing.told, ['draws', 'stops drawing', 'closed exit code 3'])
  const killed = screenOf('kill -9 $$')
  killed.attached.open()
  while (killed.attached.isOpen) await delay(5)
  t.equal(killed.told.at(-1), 'closed killed by SIGKILL')

  const { attached, told } = screenOf('exec sleep 60')
  attached.open()
  await attached.close()
  t.strictSame(told, ['draws', 'stops drawing'])
  attached.open()
  t.equal(attached.isOpen, false)
  await screenOf('exit 0').attached.close()
})

t.test('one that cannot be started is closed for that reason', how, async t => {
  const { attached, told } = screenOf(() => {
    throw new Error('There is no program.')
  })
  attached.open()
  t.equal(attached.isOpen, false)
  t.strictSame(told, ['draws', 'stops drawing', 'closed There is no program.'])
})

t.test('what it says after it left its own page is not shown; the terminal is restored', how, async t => {
  const page = (text: string) =>
    `printf '\\033[?1049h${text}'; sleep 0.1; printf 'more\\033[?1049lResume with: x\\033[0m'; sleep 0.1; printf 'Bye\\033[?25h'`
  const { attached, shown } = screenOf(`printf 'first '; sleep 0.1; ${page('one ')}; sleep 0.1; ${page('two ')}`)
  attached.open()
  while (attached.isOpen) await delay(5)
  const words = shown()
    .replaceAll('\x1b[?1049h', '<')
    .replaceAll('\x1b[?1049l', '>')
    .replaceAll('\x1b[0m', '_')
    .replaceAll('\x1b[?25h', '!')
  t.equal(words, 'first <one more>_!<two more>_!')
})

/** The screen of a program that is a script, at a terminal that a test types into. */
function screenOf(script: string | (() => never)) {
  let type = (_: Buffer) => {}
  let shown = ''
  const told: string[] = []
  const listening = new Set<string>()
  const listen = (to: string) => {
    listening.add(to)
    return () => void listening.delete(to)
  }
  const screen: AgentScreen = {
    console: {
      ...{ columns: 80, rows: 24, onResize: () => listen('sizes') },
      write(bytes: Uint8Array | string) {
        shown += Buffer.from(bytes).toString()
      },
      takeKeys(listener: (keys: Buffer) => void) {
        type = listener
        return listen('keys')
      }
    },
    prompt: undefined,
    announcement: '',
    onDrawing: isDrawing => void told.push(isDrawing ? 'draws' : 'stops drawing')
  }
  const env = { PATH: process.env['PATH'] ?? '' }
  const attached = attachScreen({
    screen,
    program: () => (typeof script === 'function' ? script() : { command: '/bin/sh', args: ['-c', script], directory: process.cwd(), env }),
    onClosed: how => void told.push(['closed', how].join(' ').trim())
  })
  return { attached, told, listening, shown: () => shown, type: (keys: string) => type(Buffer.from(keys)) }
}
