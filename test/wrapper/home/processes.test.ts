import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { beganAt, inShells, memoryOf, nameOf, ownerOf, readChildren, signalGroup, treeOf } from '../../../lib/wrapper/home/processes.ts'

const skip = process.platform === 'win32' && 'no shells of this kind'

t.test("of a process's children only those run in a shell are listed, under the names they were called by", { skip }, async t => {
  const waits = 'process.stdout.write("up"); setInterval(() => {}, 1000)'
  const shell = spawn('/bin/sh', ['-c', `"${process.execPath}" -e '${waits}' watch; true`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true
  })
  const other = spawn(process.execPath, ['-e', waits], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => {
    process.kill(-(shell.pid ?? 0), 'SIGKILL')
    other.kill('SIGKILL')
  })
  await Promise.all([once(shell.stdout, 'data'), once(other.stdout, 'data')])
  const children = readChildren()
  const told = inShells(treeOf(process.pid, children), children)
  t.equal(told?.length, 1)
  t.match(told?.[0], / watch$/)
})

const noProc = process.platform !== 'linux' && 'these are in /proc'

t.test(
  'of a process whose share is unknown the resident memory is counted, and nothing of one that has ended',
  { skip: noProc },
  async t => {
    const own = memoryOf([process.pid])
    t.equal(own.memoryIs, 'share')
    t.ok(own.memoryBytes > 1024 * 1024)
    const withEnded = memoryOf([process.pid, 999_999_999])
    t.equal(withEnded.memoryIs, 'resident')
    t.ok(withEnded.memoryBytes > own.memoryBytes / 4)
    t.strictSame(memoryOf([999_999_999]), { memoryBytes: 0, memoryIs: 'resident' })
    t.strictSame(memoryOf([]), { memoryBytes: 0, memoryIs: 'share' })
  }
)

t.test('macOS has no /proc: there ps knows the children, their shells and memory', { skip }, async t => {
  onMac(
    t,
    `case "$*" in
  '-axo pid=,ppid=') printf '    1     0\\n   10     1\\n   11    10\\n   12    11\\n   13    10\\n\\nodd\\n' ;;
  '-o command= -p 10') echo node afield ;;
  '-o command= -p 11') echo ' /bin/zsh -c make' ;;
  '-o command= -p 12') echo 'make  all' ;;
  '-o rss= -p 11,12') printf '  2048\\n   512\\n' ;;
esac`
  )
  const children = readChildren()
  t.strictSame(
    children,
    new Map([
      [0, [1]],
      [1, [10]],
      [10, [11, 13]],
      [11, [12]]
    ])
  )
  t.strictSame(treeOf(10, children), [10, 11, 12, 13])
  t.strictSame(inShells(treeOf(10, children), children), ['make  all'])
  t.strictSame(inShells([13], children), [])
  t.strictSame(memoryOf([11, 12]), { memoryBytes: 2560 * 1024, memoryIs: 'resident' })
})

t.test('where ps says nothing, no process is known', { skip }, async t => {
  onMac(t, 'exit 1')
  t.strictSame(readChildren(), new Map())
  t.strictSame(inShells([10], new Map()), [])
  t.strictSame(memoryOf([10]), { memoryBytes: 0, memoryIs: 'resident' })
})

t.test('the name of a process holds its start, in seconds on macOS', { skip: noProc }, async t => {
  const began = beganAt(process.pid) ?? 0
  t.ok(Math.abs(began - (Date.now() - process.uptime() * 1000)) < 2_000)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true })
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const ended = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  const inTicks = nameOf(pid)
  t.match(inTicks, new RegExp(`^${pid}-\\d+$`))
  t.intercept(process, 'platform', { value: 'darwin' })
  const onMacs = nameOf(pid)
  t.equal(onMacs, `${pid}-${(beganAt(pid) ?? 0) / 1000}`)
  t.ok(Math.abs((beganAt(pid) ?? 0) - Date.now()) < 60_000)
  for (const [name, owner] of [
    [`one@${onMacs}`, pid],
    [`one@${onMacs}.json`, pid],
    [`one@${pid}-0`, pid],
    [`one@${pid}-1`, undefined],
    [`one@${onMacs}.other`, undefined],
    ['one', undefined]
  ] as const)
    t.equal(ownerOf(name), owner, name)
  signalGroup(pid, 'SIGTERM')
  t.strictSame(await ended, [null, 'SIGTERM'])
  t.equal(ownerOf(`one@${onMacs}`), undefined)
  t.equal(nameOf(pid), undefined)
  t.equal(beganAt(pid), undefined)
  signalGroup(pid, 'SIGTERM')
})

/** As on macOS, with a `ps` of these lines. */
function onMac(t: Test, lines: string): void {
  const bin = t.testdir()
  writeFileSync(join(bin, 'ps'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  const { PATH } = process.env
  process.env['PATH'] = bin
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
  t.intercept(process, 'platform', { value: 'darwin' })
}
