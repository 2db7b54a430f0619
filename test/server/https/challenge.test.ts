import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { openChallenge } from '../../../lib/server/https/challenge.ts'
import { portToKeep } from '../../kit/port.ts'

const { signal } = new AbortController()
const isScript = { skip: process.platform === 'win32' && 'the hook is a script' }

t.test('an authority finds the answer under its token while it is shown, and nothing else', async t => {
  const port = await portToKeep()
  const challenge = await openChallenge({ type: 'http-01', port }, 'home.example.net', signal)
  let isOpen = true
  t.teardown(() => isOpen && challenge.close())
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return [answer.status, await answer.text()]
  }
  t.equal(challenge.type, 'http-01')
  await challenge.show('token', 'the answer')
  t.same(await ask('/.well-known/acme-challenge/token'), [200, 'the answer'])
  const head = await fetch(`http://127.0.0.1:${port}/.well-known/acme-challenge/token`)
  t.equal(head.headers.get('content-type'), 'application/octet-stream')
  t.equal(head.headers.get('connection'), 'close')
  await head.text()
  for (const path of ['/.well-known/acme-challenge/other', '/token', '/', '/.well-known/acme-challengextoken'])
    t.same(await ask(path), [404, ''], path)
  await challenge.hide('token', 'the answer')
  t.same(await ask('/.well-known/acme-challenge/token'), [404, ''])
  isOpen = false
  await challenge.close()
  await t.rejects(ask('/'))
})

t.test('a port that another program uses is named, with what to do', async t => {
  const other = createServer().listen(0)
  t.teardown(() => other.close())
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address ? address.port : 0
  await t.rejects(openChallenge({ type: 'http-01', port }, 'home.example.net', signal), {
    name: 'CannotStart',
    message:
      `Port ${port}, where the authority checks the name, is used by another program: ` +
      'forward port 80 of the router to another one, given with --https-challenge-port, or use --https-dns-hook.'
  })
})

t.test('a hook adds the record of the name and removes it', isScript, async t => {
  const folder = t.testdir()
  const [hook, log] = [join(folder, 'hook'), join(folder, 'log')]
  writeFileSync(hook, `#!/bin/sh\necho "$@" >> ${log}\n`)
  chmodSync(hook, 0o755)
  const challenge = await openChallenge({ type: 'dns-01', hook }, 'home.example.net', signal)
  t.equal(challenge.type, 'dns-01')
  await challenge.show('token', 'the-answer')
  await challenge.hide('token', 'the-answer')
  await challenge.close()
  t.equal(
    readFileSync(log, 'utf8'),
    'add _acme-challenge.home.example.net the-answer\nremove _acme-challenge.home.example.net the-answer\n'
  )
})

t.test('a hook that fails is reported with what it says, and removing a record never rejects', isScript, async t => {
  const folder = t.testdir()
  const hook = join(folder, 'hook')
  writeFileSync(hook, '#!/bin/sh\necho "no such zone" >&2\nexit 3\n')
  chmodSync(hook, 0o755)
  const open = (path: string) => openChallenge({ type: 'dns-01', hook: path }, 'home.example.net', signal)
  const challenge = await open(hook)
  await t.rejects(challenge.show('token', 'x'), { message: `the DNS hook ${hook} could not add the record (exit code 3): no such zone` })
  await challenge.hide('token', 'x')
  const missing = await open(join(folder, 'none'))
  await t.rejects(missing.show('token', 'x'), { message: `the DNS hook ${join(folder, 'none')} cannot be run (ENOENT)` })
  await missing.hide('token', 'x')
})

t.test('aborting an order ends its hook, and what that added is removed all the same', isScript, async t => {
  const folder = t.testdir()
  const [hook, log] = [join(folder, 'hook'), join(folder, 'log')]
  writeFileSync(hook, `#!/bin/sh\necho "$@" >> ${log}\n[ "$1" = remove ] || exec sleep 60\n`)
  chmodSync(hook, 0o755)
  const end = new AbortController()
  const challenge = await openChallenge({ type: 'dns-01', hook }, 'home.example.net', end.signal)
  const shown = challenge.show('token', 'x')
  shown.catch(() => {})
  const noted = () => (existsSync(log) ? readFileSync(log, 'utf8') : '')
  while (!noted().endsWith('\n')) await new Promise(setImmediate)
  end.abort()
  await t.rejects(shown)
  await challenge.hide('token', 'x')
  t.match(noted(), /^add .*\nremove /)
})
