import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startServer } from '../kit/server.ts'
import { runOnTerminal } from '../wrapper/kit/terminal.ts'

const columns = 40

t.test('questions wrap between words on a narrow terminal', async t => {
  const home = t.testdir()
  const which = runOnTerminal(t, { home, directory: home, columns, args: ['demo'], env: { AFIELD_DATA: home, AFIELD_PORT: '1' } })
  await which.sees(/Which server\? Type the address at\nwhich you open Afield, such as\nhttps:\/\/home\.example\n>/)
})

t.test('the contents of a backup wrap between words on a narrow terminal', async t => {
  const { data } = await startServer(t)
  const home = join(data, 'home')
  mkdirSync(home)
  const env = { AFIELD_BACKUP_PASSPHRASE: 'a few words of it' }
  const backup = runOnTerminal(t, { home, directory: home, columns, env, args: ['backup', join(home, 'copy'), '--data', data] })
  t.equal(await backup.ended, 0)
  t.match(backup.screen.replaceAll('\n', ' '), /Accounts: 0, sessions: 0, messages: 0\S*.*; every row was checked\./)
})

t.test('the next steps printed by a new server wrap between words on a narrow terminal', async t => {
  const home = t.testdir()
  const args = ['serve', '--port', '0', '--signup', 'open', '--data', join(home, 'data'), '--log-level', 'silent']
  const server = runOnTerminal(t, { home, directory: home, columns, args, env: { PATH: '/usr/bin:/bin' } })
  await server.sees(/Anyone[\s\S]*--signup\./)
  t.match(server.screen, /^1\. Open this in a browser on this\ncomputer\.$/m)
  t.match(server.screen, /^2\. On the computer where your agents\nwork, /m)
  t.match(server.screen, /^Phones cannot use this address: their\nbrowsers require HTTPS\./m)
  t.match(server.screen, /Anyone who can reach this server can\ncreate an account/)
})
