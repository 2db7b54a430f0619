import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hasLocalSockets } from '../../lib/local-socket/address.ts'
import { openLocalSocket } from '../../lib/local-socket/open.ts'
import { controlFile } from '../../lib/server/control/socket.ts'
import { becomesReady, othersRunning } from '../../lib/upgrade/running-server.ts'

t.test('a server is ready once it is the new version and listens [V5]', { skip: hasLocalSockets ? false : 'no local sockets' }, async t => {
  const data = t.testdir()
  const url = 'http://127.0.0.1:1'
  // What a server answers in turn: the old one, which still ends, none, and the new one as it starts.
  const answers = [
    { version: '0.1.0', serving: { url, signup: 'own' } },
    undefined,
    { version: '0.2.0' },
    { version: '0.2.0', serving: { signup: 'own' } },
    { version: '0.2.0', serving: { url, signup: 'own' } }
  ]
  const left = [...answers]
  const socket = await openLocalSocket({
    directory: data,
    file: controlFile,
    async answer() {
      const answer = left.shift()
      if (!answer) throw new Error('It ends.')
      return { ...answer, pid: 1, hasAccounts: true }
    },
    refusalOf: () => ({ says: 'It ends.', exitCode: 1 }),
    onError: error => t.fail(String(error))
  })
  t.teardown(() => socket.close())
  let waits = 0
  t.ok(await becomesReady(data, '0.2.0', 60_000, () => waits++))
  t.same({ left, waits }, { left: [], waits: answers.length - 1 })
  left.push({ version: '0.1.0', serving: { url, signup: 'own' } })
  t.notOk(await becomesReady(data, '0.2.0', 0, () => {}), 'the old version')
})

t.test(
  'other servers that run the same file are found, and nothing else',
  { skip: process.platform !== 'linux' && 'known on Linux only' },
  async t => {
    const place = realpathSync(t.testdir({ serve: 'read line' }))
    // A copy, since others on this computer may run the program itself.
    const file = join(place, 'sh')
    copyFileSync(realpathSync('/bin/sh'), file)
    const start = async (...args: string[]) => {
      const child = spawn(file, args, { cwd: place, stdio: ['pipe', 'ignore', 'ignore'] })
      t.teardown(() => child.kill('SIGKILL'))
      await once(child, 'spawn')
      return child.pid ?? 0
    }
    const [first, second] = [await start('serve'), await start('serve', '--data', 'elsewhere')]
    await start(join(place, 'serve'), 'serve')
    t.same(new Set(othersRunning(file, undefined)), new Set([first, second]))
    t.strictSame(othersRunning(file, first), [second])
    t.strictSame(othersRunning(join(place, 'serve'), undefined), [])
    t.intercept(process, 'platform', { value: 'darwin' })
    t.strictSame(othersRunning(file, undefined), [])
  }
)
