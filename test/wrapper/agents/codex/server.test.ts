import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { version } from '../../../../lib/assets.ts'
import { greet, Refused, startCodexServer } from '../../../../lib/wrapper/agents/codex/server.ts'
import { ownName } from '../../../../lib/wrapper/home/processes.ts'

const how = { timeout: 60_000, skip: process.platform === 'win32' && 'the program is a script' }

const script = `#!/usr/bin/env node
import { listen } from '${pathToFileURL(resolve('test/wrapper/agents/codex/web-socket.mjs')).href}'

const { KIND } = process.env
if (KIND.startsWith('dies')) {
  if (KIND === 'dies') console.error('starting\\nunknown option --listen')
  process.exit(2)
}
const path = process.argv.at(-1).slice('unix://'.length)
listen(path, connection => {
  const send = message => connection.send(JSON.stringify(message))
  let waiting
  connection.onMessage = text => {
    const { id, method, params, result } = JSON.parse(text)
    switch (method) {
      case 'initialize':
        waiting = params.clientInfo
        return send({ id, result: {} })
      case 'initialized':
        return send({ method: 'greeted', params: { clientInfo: waiting } })
      case 'slow':
        waiting = { id, result: params }
        return
      case 'quick':
        send({ id, result: params })
        if (waiting?.id) send(waiting)
        waiting = undefined
        return
      case 'refuses':
        return send({ id, error: { code: -1, message: 'No such thread.' } })
      case 'silent':
        return
      case 'odd':
        connection.send('no json')
        send(['no message'])
        send({ id: 999, result: 'of nothing' })
        send({ result: 'of nobody' })
        send({ method: 'told', params: { of: 'it' } })
        send({ id: 'r1', method: 'asked', params: { may: 'I' } })
        send({ id, result: 'after all' })
        send({ id, result: 'twice' })
        return send({ method: 'told' })
      case 'dies':
        process.exit(7)
      case undefined:
        return send({ method: 'replied', params: { id, result } })
    }
  }
})
`

t.test('an app server that does not start is an error with its last words', how, async t => {
  await t.rejects(begin(t, 'dies'), {
    name: 'CannotStart',
    message: 'Codex did not start its app server (exit code 2).\nIts last output:\n  starting\n  unknown option --listen'
  })
  await t.rejects(begin(t, 'dies silently'), { message: 'Codex did not start its app server (exit code 2).' })
})

t.test('each request has its answer, whatever else the server says', how, async t => {
  const { line, heard } = await begin(t)
  await greet(line)
  const [slow, quick] = [line.request('slow', { a: 1 }), line.request('quick', { b: 2 })]
  t.strictSame(await quick, { b: 2 })
  t.strictSame(await slow, { a: 1 })
  const refused = await line.request('refuses', {}).catch((error: unknown) => error)
  t.ok(refused instanceof Refused)
  t.match(refused, { message: 'No such thread.' })
  t.strictSame(await line.request('odd', {}), 'after all')
  await line.request('quick', {})
  t.strictSame(heard, [
    ['greeted', { clientInfo: { name: 'afield', title: 'Afield', version: version() } }],
    ['told', { of: 'it' }],
    ['asked', 'r1', { may: 'I' }],
    ['told', undefined]
  ])
})

t.test('the answer to a question of the server is sent under its name', how, async t => {
  const { line, heard } = await begin(t)
  line.reply('r1', { decision: 'accept' })
  await line.request('quick', {})
  t.strictSame(heard, [['replied', { id: 'r1', result: { decision: 'accept' } }]])
})

t.test('with its server every open request fails, and each later one', how, async t => {
  const { line, process: child } = await begin(t)
  const [open, dies] = [line.request('silent', {}), line.request('dies', {})]
  for (const request of [open, dies]) await t.rejects(request, { message: 'Codex has exited.' })
  await line.closed
  t.equal(line.isClosed, true)
  await t.rejects(line.request('quick', {}), { message: 'Codex has exited.' })
  line.notify('late')
  line.reply('r1', {})
  t.equal(await child.ended, 'exit code 7')
})

t.test('a connection that we close is closed, and its server lives on', how, async t => {
  const { line, process: child } = await begin(t)
  t.equal(line.isClosed, false)
  line.close()
  await line.closed
  t.equal(line.isClosed, true)
  await child.end(0)
})

t.test('each server has a socket of its own, gone with it; those of wrappers that run stay', how, async t => {
  const home = t.testdir()
  const sockets = join(home, 'sockets')
  mkdirSync(sockets)
  const own = `codex-0@${ownName()}`
  for (const name of ['codex-1@999999-1', own]) writeFileSync(join(sockets, name), '')
  const one = await begin(t, '', home)
  const two = await begin(t, '', home)
  t.not(one.address, two.address)
  t.equal(existsSync(one.address.slice('unix://'.length)), true)
  t.equal(readdirSync(sockets).length, 3)
  for (const { process: child } of [one, two]) await child.end(0)
  t.strictSame(readdirSync(sockets), [own])
})

async function begin(t: Test, kind = '', home = t.testdir()) {
  const codex = join(t.testdirName, `codex-${kind.length}.mjs`)
  writeFileSync(codex, script)
  chmodSync(codex, 0o755)
  const heard: unknown[] = []
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const server = await startCodexServer({
    home,
    codex,
    directory: home,
    env: { PATH, KIND: kind },
    handlers: {
      onNotification: (method, params) => heard.push([method, params]),
      onRequest: (id, method, params) => heard.push([method, id, params])
    }
  })
  t.teardown(() => server.process.end(0))
  return { ...server, heard }
}
