import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { cryptoReady, engine } from '../lib/crypto/index.ts'
import { call, signInBody, signUp } from './kit/person.ts'

const root = join(import.meta.dirname, '..')
const tested = ['embed.ts', 'own-policy.ts', 'shared-app.ts']

t.test('every example is executed', async t => {
  t.same(
    readdirSync(join(root, 'examples'))
      .filter(file => file.endsWith('.ts'))
      .toSorted(),
    tested
  )
})

t.test('embed: a program runs a server, receives store events, and exits after closing it', async t => {
  const example = await start(t, 'embed.ts')
  const ada = await signUp(t, example)
  await ada.openSession()
  await example.end()
  t.same(example.lines, ['audit: account-created', 'audit: signed-in', `session-opened in ${ada.id}`, 'closed'])
})

t.test('own-policy: the program decides which keys get an account', async t => {
  const example = await start(t, 'own-policy.ts')
  const ask = async (client: string) => {
    await cryptoReady()
    const body = await signInBody(engine.randomBytes(32))
    return (await call(example, 'POST', '/v1/auth', { body, headers: { 'x-happy-client': client } })).status
  }
  t.same([await ask('stranger/1'), await ask('friend/1'), await ask('friend/1'), await ask('friend/1')], [403, 200, 200, 200])
  t.equal(await ask('friend/1'), 403, 'the fourth is one too many')
  await example.end()
  t.equal(example.lines.length, 6)
})

t.test('shared-app: own routes and those of the server share one port, and nothing is left when both have closed', async t => {
  const example = await start(t, 'shared-app.ts')
  t.match(await (await fetch(`${example.url}/hello`)).text(), /owner/)
  const ada = await signUp(t, example)
  await ada.connect()
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
  await example.end()
  t.same(example.lines, ['closed'])
})

/** Runs an example until it listens. It must end by itself once it is told to: anything left open would keep it. */
async function start(t: Test, file: string) {
  const child = spawn(process.execPath, [join('examples', file), t.testdir()], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const output = createInterface({ input: child.stdout })
  const lines: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    output.on('line', line => {
      const listening = /^listening on (\S+)$/.exec(line)?.[1]
      if (listening === undefined) lines.push(line)
      else resolve(listening)
    })
    child.once('exit', () => reject(new Error(`${file} ended: ${lines.join('\n')}`)))
  })
  return { url, lines, end: () => endOf(t, child) }
}

async function endOf(t: Test, child: ChildProcess): Promise<void> {
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  t.same(await ended, [0, null])
}
