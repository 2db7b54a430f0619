import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { call } from '../kit/person.ts'

// Loaded into the program: a bug that a signal sets off.
const bugs: [what: string, preload: string][] = [
  ['an exception nobody caught', "process.on('SIGUSR2', () => { throw new Error('a bug') })"],
  ['a rejection nobody waited for', "process.on('SIGUSR2', () => { Promise.reject(new Error('a bug')) })"]
]

for (const [what, preload] of bugs) {
  t.test(`${what} ends the server with exit code 70 and a message [L5]`, async t => {
    const server = spawn(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(preload)}`, 'bin/afield.ts', 'serve', '--port', '0', '--data', t.testdir()],
      { stdio: ['ignore', 'pipe', 'pipe'] }
    )
    t.teardown(() => server.kill('SIGKILL'))
    const said = text(server.stderr)
    const url = await listening(server)
    t.equal((await call({ url }, 'GET', '/health')).status, 200)
    const ended = once(server, 'exit')
    server.kill('SIGUSR2')
    t.same(await ended, [70, null])
    t.match(await said, /Error: a bug\n/)
  })
}

async function listening({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('The output of the server is not read.')
  const lines = createInterface(stdout)
  return new Promise(resolve => {
    lines.on('line', line => {
      const url = /^afield listening on (\S+)$/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
}
