import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { claimConversation, onClaimRequested, untilFree } from '../../../lib/wrapper/home/ownership.ts'
import { createSessionFolder, listSessions, reopen, takeOver } from '../../../lib/wrapper/home/session-folder.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const claimer = `
  import { claimConversation } from ${JSON.stringify(resolve('lib/wrapper/home/ownership.ts'))}
  process.stdin.once('data', () => {
    try {
      claimConversation(process.argv[1], 'talk')
      console.log('got it')
    } catch (error) {
      console.log(error.message)
    }
  })
  console.log('ready')
`

function startClaimer(home: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', claimer, home], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  return { child, line, claim: () => child.stdin.write('now\n') }
}

t.test('of many processes that want one conversation at once, at most one gets it, also after that one has died', async t => {
  const home = t.testdir({})
  const claimers = Array.from({ length: 6 }, () => startClaimer(home))
  t.teardown(() => claimers.forEach(({ child }) => void child.kill('SIGKILL')))
  for (const { line } of claimers) t.equal(await line(), 'ready')
  for (const { claim } of claimers) claim()
  const told = await Promise.all(claimers.map(({ line }) => line()))
  const holder = claimers[told.indexOf('got it')]
  t.equal(told.filter(line => line === 'got it').length, 1)
  t.equal(told.filter(line => / already open in a running session|has just taken over this conversation/.test(line)).length, 5)
  t.throws(() => claimConversation(home, 'talk'), new RegExp(`process ${holder?.child.pid}`))

  holder?.child.kill('SIGKILL')
  await once(holder?.child ?? process, 'exit')
  const letGo = claimConversation(home, 'talk')
  t.throws(() => claimConversation(home, 'talk'), new RegExp(`process ${process.pid}`))
  claimConversation(home, 'another talk')
  t.equal(readdirSync(join(home, 'claims')).length, 2, 'that of the dead one has gone')
  letGo()
  claimConversation(home, 'talk')
})

const notes = { tag: 'one', server: 's', key: null, metadata: { path: '/p', host: 'h' }, cursor: 0, turn: null }

/** The wish of a process that runs and is not this one. */
const wish = 'wanted@1-0'

/** What a killed process left behind, which this one delivers. */
function delivering(home: string) {
  const { path } = createSessionFolder(home, notes)
  const left = join(dirname(path), 'one@1-1')
  renameSync(path, left)
  const folder = takeOver(left)
  if (!folder) throw new Error('it is free')
  return folder
}

t.test('a request for a folder is noticed at once, without a timer', async t => {
  const folder = delivering(t.testdir())
  const clock = manualClock()
  const wanted = onClaimRequested(folder.path, { clock })
  t.teardown(wanted.close)
  const heard = new Promise(resolve => wanted.signal.addEventListener('abort', resolve))
  writeFileSync(join(folder.path, wish), '')
  await heard
  t.equal(clock.now(), 0)
  wanted.close()
  t.equal(clock.pending, 0)
})

t.test('without change notifications it is checked periodically', async t => {
  const folder = delivering(t.testdir())
  const clock = manualClock()
  const moved = `${folder.path}-away`
  renameSync(folder.path, moved)
  const wanted = onClaimRequested(folder.path, { clock })
  t.teardown(wanted.close)
  renameSync(moved, folder.path)
  writeFileSync(join(folder.path, wish), '')
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(wanted.signal.aborted)
  clock.advance(1000)
  t.ok(wanted.signal.aborted)
})

t.test('a process that wants a session continues it as soon as it is free', async t => {
  const home = t.testdir()
  const folder = delivering(home)
  const clock = manualClock()
  const find = () => listSessions(home).find(({ notes }) => notes.tag === 'one')
  const free = untilFree(find, 60_000, { clock })
  rmSync(join(folder.path, wish), { force: true })
  folder.giveBack()
  t.ok(reopen(await free))
  t.equal(clock.now(), 0)
})
