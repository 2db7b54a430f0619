import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cannotMount } from '../kit/needs.ts'
import { programFile } from '../kit/program.ts'
import { startServer } from '../kit/server.ts'
import { texts, turnsEnded } from './kit/demo.ts'
import { linkedComputer } from './kit/world.ts'

const cannot = cannotMount()
/** A few pages are free again whenever a file was replaced: this does not fit in them. */
const long = 'said while full '.repeat(4_000).trim()

t.test(
  'a full disk is shown in the session while it lasts, with nothing lost, and its end is shown too [W16]',
  { skip: cannot },
  async t => {
    const { phone, home } = await linkedComputer(t, await startServer(t))
    const disk = demoOnSmallDisk(t, home)
    const session = await phone.session()
    await session.until(session => turnsEnded(session) === 1)
    t.equal(session.state.diskTrouble, undefined)

    disk.fill()
    await session.say(`SCRIPT: text ${long}`)
    await session.until(session => session.state.diskTrouble !== undefined)
    t.match(session.state.diskTrouble, { why: 'full' })
    t.notOk(texts(session).includes(long))

    disk.free()
    await session.until(session => turnsEnded(session) === 2 && session.state.diskTrouble === undefined)
    t.same(texts(session), ['hello', long])
    const isSaid = () =>
      session.events().some(event => event.t === 'service' && /^The disk of this computer was full for /.test(event.text))
    await session.until(isSaid)
    await session.call('killSession', {})
    t.equal(await disk.ended, 0)
  }
)

/** Its home is on a disk of a few megabytes that only it sees; the agent's own conversations are not, as those of other agents are not. */
function demoOnSmallDisk(t: Test, home: string) {
  const onOwnDisk = [
    'cp -a "$1" "$1.kept" && mkdir "$1.agent"',
    'mount -t tmpfs -o size=4m tmpfs "$1" && cp -a "$1.kept/." "$1"',
    'mkdir -p "$1/demo-conversations" && mount --bind "$1.agent" "$1/demo-conversations"',
    'shift && exec "$@"'
  ].join(' && ')
  const demo = [process.execPath, programFile(), 'demo', 'SCRIPT: text hello']
  const child = spawn('unshare', ['-m', 'sh', '-c', onOwnDisk, 'sh', home, ...demo], {
    env: { ...process.env, AFIELD_HOME: home },
    stdio: 'ignore'
  })
  const ended = once(child, 'exit').then(([code]) => code)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const ballast = () => join('/proc', String(child.pid), 'root', home, 'ballast')
  return {
    ended,
    fill() {
      const file = openSync(ballast(), 'a')
      const block = Buffer.alloc(4096)
      try {
        for (;;) writeSync(file, block)
      } catch {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast())
  }
}
