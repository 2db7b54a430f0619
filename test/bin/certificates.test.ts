import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { lacks } from '../kit/needs.ts'
import { startPebble } from '../kit/pebble.ts'
import { portToKeep } from '../kit/port.ts'
import { programFile } from '../kit/program.ts'

t.test('serve orders a certificate, and says so without its keys', { skip: lacks('pebble') }, async t => {
  const data = join(t.testdir(), 'data')
  const pebble = await startPebble(t)
  const port = String(await portToKeep())
  const https = ['--https', 'auto', '--public-url', `https://home.example.net:${port}`, '--https-directory', pebble.directory]
  const where = ['--host', '127.0.0.1', '--port', port, '--data', data, '--https-challenge-port', String(pebble.challengePort)]
  const child = spawn(process.execPath, [programFile(), 'serve', ...https, ...where], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_EXTRA_CA_CERTS: pebble.ca }
  })
  t.teardown(() => child.kill('SIGKILL'))
  const errors = text(child.stderr)
  let said = ''
  for await (const line of createInterface({ input: child.stdout })) {
    said += `${line}\n`
    if (line.includes('is here, valid until')) break
  }
  const folder = join(data, 'https')
  t.match(new X509Certificate(readFileSync(join(folder, 'home.example.net.pem'))).issuer, 'Pebble Intermediate CA')
  t.match(said, `open this on your phone.\n  https://home.example.net:${port}`)
  child.stdout.resume()
  child.kill('SIGTERM')
  said += await errors
  const keys = readdirSync(folder).map(file => /BEGIN PRIVATE KEY-----\n(.+)\n/.exec(readFileSync(join(folder, file), 'utf8'))?.[1])
  t.equal(keys.length, 2)
  for (const key of keys) t.notMatch(said, key ?? 'PRIVATE KEY')
  t.notMatch(said, 'PRIVATE KEY')
})
