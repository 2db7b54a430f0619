import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import {
  claimConversation,
  clearClaimRequest,
  endOrphans,
  isClaimRequested,
  lease,
  listLeases,
  onClaimRequested,
  untilFree
} from '../../../lib/wrapper/home/ownership.ts'
import { nameOf, ownName } from '../../../lib/wrapper/home/processes.ts'
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

/** A process in its own group, as an agent is. */
function running(t: Pick<Test, 'teardown'>): { pid: number; name: string; ended: Promise<unknown> } {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const name = child.pid === undefined ? undefined : nameOf(child.pid)
  if (child.pid === undefined || name === undefined) throw new Error('it did not start')
  return { pid: child.pid, name, ended: once(child, 'exit') }
}

const agent = { of: 'agent' as const, title: 'Claude', folder: '/srv' }

/** As if the process that started it had died. */
function orphan(home: string): void {
  const folder = join(home, 'processes')
  for (const name of readdirSync(folder)) renameSync(join(folder, name), join(folder, name.replace(/@.*/, '@999999999-1.json')))
}

t.test('a running process is listed with the one that started it, until its record is removed', t => {
  const home = t.testdir({})
  const { pid, name } = running(t)
  const before = Date.now()
  const remove = lease(pid, agent, home)
  const [known, ...others] = listLeases(home)
  t.match(known, { ...agent, pid, name, owner: process.pid })
  t.ok(known && known.at >= before && known.at <= Date.now())
  t.same(others, [])
  remove()
  t.same(readdirSync(join(home, 'processes')), [])
  t.end()
})

t.test('the record of a process that has ended is removed, and a damaged one is passed over', t => {
  const home = t.testdir({ processes: { [`999999999-1@${ownName()}.json`]: JSON.stringify({ ...agent, at: 1 }), 'notes.txt': '' } })
  const { pid, name } = running(t)
  lease(pid, agent, home)
  writeFileSync(join(home, 'processes', `${name}@${ownName()}-cut.json`), '{"of":"ag')
  writeFileSync(join(home, 'processes', `${name}@${ownName()}-odd.json`), '{"of":"other"}')
  t.same(
    listLeases(home).map(({ name }) => name),
    [name]
  )
  t.notOk(readdirSync(join(home, 'processes')).some(file => file.startsWith('999999999')))
  t.ok(readdirSync(join(home, 'processes')).includes('notes.txt'))
  t.end()
})

t.test('a process that keeps no records writes none, nor of one that has ended', t => {
  const home = t.testdir({})
  const { pid } = running(t)
  lease(pid, agent)()
  lease(999_999_999, agent, home)()
  t.same(readdirSync(home), [])
  t.end()
})

t.test('only agents whose wrapper has died are ended, and have ended when it says so', async t => {
  const [left, session, held] = [running(t), running(t), running(t)]
  const home = t.testdir({})
  lease(left.pid, agent, home)
  lease(session.pid, { ...agent, of: 'session' }, home)
  orphan(home)
  lease(held.pid, agent, home)
  t.same(
    listLeases(home).map(({ name, owner }) => [name, owner]),
    listLeases(home).map(({ name }) => [name, name === held.name ? process.pid : undefined])
  )
  await endOrphans(home)
  t.equal(nameOf(left.pid), undefined)
  t.same([nameOf(session.pid), nameOf(held.pid)], [session.name, held.name])
  t.equal(listLeases(home).length, 2)
})

t.test('a request of this process or of a dead one is none, and both are cleared', t => {
  const folder = t.testdir({ [`wanted@${ownName()}`]: '', 'wanted@999999999-1': '' })
  t.equal(isClaimRequested(folder), false)
  writeFileSync(join(folder, wish), '')
  t.equal(isClaimRequested(folder), true)
  clearClaimRequest(folder)
  t.same(readdirSync(folder), [wish])
  t.equal(isClaimRequested(join(folder, 'nowhere')), false)
  t.end()
})

t.test('the first claim of a conversation is number 1, and each later one outbids those before', t => {
  const home = t.testdir({})
  const numbers = () => readdirSync(join(home, 'claims')).map(name => name.split('.')[1])
  const letGo = claimConversation(home, 'talk')
  t.same(numbers(), ['1'])
  letGo()
  letGo()
  t.same(numbers(), [])
  claimConversation(home, 'talk')
  const [name = ''] = readdirSync(join(home, 'claims'))
  writeFileSync(join(home, 'claims', name), '@999999999-1')
  claimConversation(home, 'talk')
  t.same(numbers(), ['2'], 'and no draft is left')
  t.end()
})
