import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { nameAsStarted } from '../../../lib/assets.ts'
import { homePath, leanEnvironment, leanNames, ownProgram, spareMemory } from '../../../lib/wrapper/home/own-process.ts'
import { manualClock } from '../../kit/manual-clock.ts'

/** What a person is told to type, and what that prints where they are. */
function told(cwd: string): { command: string; prints: string } {
  const source = resolve('lib/wrapper/home/own-process.ts')
  const print = `import { typed } from ${JSON.stringify(source)}; console.log(typed('--version'))`
  const command = execFileSync(process.execPath, ['--input-type=module', '-e', print], { cwd, encoding: 'utf8' }).trim()
  return { command, prints: execFileSync(command, { cwd, shell: true, encoding: 'utf8' }) }
}

t.test("a printed command works when pasted in the person's folder", async t => {
  t.match(told(resolve('.')), { command: 'node build.mjs start --version', prints: /\d+\.\d+\.\d+/ })
  t.match(told(t.testdir()), { command: `node ${resolve('build.mjs')} start --version`, prints: /\d+\.\d+\.\d+/ })
})

t.test('the program is started again as it was, with other arguments', async t => {
  const [node, script] = process.argv
  t.strictSame(ownProgram(['daemon', 'run']), { command: node, args: [...process.execArgv, script, 'daemon', 'run'] })
  t.intercept(process, 'argv', { value: [node] })
  t.strictSame(ownProgram(['daemon']), { command: node, args: ['daemon'] })
})

t.test("variables that spare memory leave the person's own alone, and are known as ours", async t => {
  const names = 'NODE_COMPILE_CACHE MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_ MALLOC_TRIM_THRESHOLD_ MALLOC_TOP_PAD_'
  const env = leanEnvironment({}, '/home/mira/.afield')
  t.match(env, { NODE_COMPILE_CACHE: '/home/mira/.afield/compiled', MALLOC_ARENA_MAX: '1', AFIELD_LEAN: names })
  t.strictSame([...leanNames(env)], names.split(' '))
  const own = leanEnvironment({ MALLOC_ARENA_MAX: '8' }, '/home/mira/.afield')
  t.notOk('MALLOC_ARENA_MAX' in own)
  t.notOk(leanNames(own).has('MALLOC_ARENA_MAX'))
  t.equal(leanNames({}).size, 0)
})

t.test('the folder of the wrapper is where the person says, or in theirs', async t => {
  t.equal(homePath({ AFIELD_HOME: '/srv/afield' }), '/srv/afield')
  t.equal(homePath({ AFIELD_HOME: '' }), join(homedir(), '.afield'))
})

t.test('garbage is given back to the system', async t => {
  const clock = manualClock()
  spareMemory(undefined, clock)
  let garbage: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, index) => ({ index }))
  const before = getHeapStatistics().total_physical_size
  t.equal(garbage.length, 1_000_000)
  garbage = undefined
  clock.advance(3_000)
  t.ok(getHeapStatistics().total_physical_size < before - 20 * mb)
})

const mb = 1024 * 1024

/** One that is as large as it is said to be, and half of that when it was collected. */
function heapOf(bytes: number) {
  const heap = { size: bytes, collected: 0 }
  return {
    heap,
    bytes: () => heap.size,
    collect() {
      heap.collected += 1
      heap.size /= 2
    }
  }
}

t.test('memory used at startup is freed once, and not during a turn', async t => {
  const clock = manualClock()
  const own = heapOf(60 * mb)
  spareMemory(own, clock)
  clock.advance(3_000)
  t.equal(own.heap.collected, 1)
  own.heap.size = 100 * mb
  clock.advance(3_600_000)
  t.equal(own.heap.collected, 1)
})

t.test('a turn that left much garbage is collected after, unless the next one starts at once', async t => {
  const clock = manualClock()
  const own = heapOf(60 * mb)
  const memory = spareMemory(own, clock)
  clock.advance(3_000)
  memory.follow(true)
  own.heap.size = 100 * mb
  clock.advance(60_000)
  t.equal(own.heap.collected, 1, 'not while it works')
  memory.follow(false)
  clock.advance(2_000)
  memory.follow(true)
  clock.advance(60_000)
  t.equal(own.heap.collected, 1, 'the next turn began')
  memory.follow(false)
  for (let tick = 0; tick < 4; tick++) {
    memory.follow(false)
    clock.advance(1_000)
  }
  t.equal(own.heap.collected, 2)
})

t.test('nothing is collected after the end, and a session that stays idle is collected once', async t => {
  const clock = manualClock()
  const ended = heapOf(60 * mb)
  spareMemory(ended, clock).close()
  const idle = heapOf(60 * mb)
  const memory = spareMemory(idle, clock)
  clock.advance(2_000)
  memory.follow(false)
  clock.advance(1_000)
  t.equal(idle.heap.collected, 1, 'it did not begin to wait again')
  clock.advance(60_000)
  t.equal(ended.heap.collected, 0)
})

t.test('a turn that left little garbage costs no collection', async t => {
  const clock = manualClock()
  const own = heapOf(60 * mb)
  const memory = spareMemory(own, clock)
  clock.advance(3_000)
  memory.follow(true)
  own.heap.size += 7 * mb
  memory.follow(false)
  clock.advance(60_000)
  t.equal(own.heap.collected, 1)
})

t.test('a program outside PATH is typed as it was started', { skip: process.platform === 'win32' && 'paths of Linux' }, async t => {
  const path = '/usr/local/bin:/usr/bin'
  t.equal(nameAsStarted('./afield', '/home/mira/afield', path), './afield')
  t.equal(nameAsStarted('./my tools/afield', '/home/mira/my tools/afield', path), '"./my tools/afield"')
  t.equal(nameAsStarted('./afield-2', '/usr/bin/afield-2', path), './afield-2')
  t.equal(nameAsStarted('/usr/bin/afield', '/usr/bin/afield', path), 'afield')
  t.equal(nameAsStarted('afield', '/opt/afield/afield', path), 'afield', 'a link in PATH')
})
