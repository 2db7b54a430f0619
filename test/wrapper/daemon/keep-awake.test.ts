import { once } from 'node:events'
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openKeepAwake, setAwake } from '../../../lib/wrapper/daemon/keep-awake.ts'

t.test('a computer without the program for it is not kept awake, and remembers what its owner wants', t => {
  const home = t.testdir()
  const { methods, close } = openKeepAwake({ home, env: { PATH: '/nowhere' }, isWorking: () => true })
  const ask = askOf(methods)
  t.strictSame(ask(), { on: false, isAwake: false, canDo: false })
  t.strictSame(ask(true), { on: true, isAwake: false, canDo: false })
  t.strictSame(ask(), { on: true, isAwake: false, canDo: false }, 'asking changes nothing')
  t.strictSame(ask(false), { on: false, isAwake: false, canDo: false })
  setAwake(home, true)
  t.match(ask(), { on: true })
  for (const damaged of ['', '{}', '{"on":1}', 'x']) {
    writeFileSync(join(home, 'daemon', 'keep-awake.json'), damaged)
    t.match(ask(), { on: false }, damaged)
  }
  close()
  t.end()
})

const skip = process.platform === 'win32' && 'the program is a script of a shell'

t.test('a computer is kept awake while a session works, by one program that ends with the work', { skip }, async t => {
  const { ask, close, began, work } = computer(t, 'exec sleep 600')
  t.strictSame(ask(), { on: false, isAwake: false, canDo: true }, 'nobody wants it')
  work(false)
  t.match(ask(true), { on: true, isAwake: false }, 'nothing works')
  work(true)
  t.match(ask(), { isAwake: true })
  const pid = await began()
  t.match(ask(true), { isAwake: true })
  t.equal(await began(), pid, 'once')
  work(false)
  t.match(ask(), { on: true, isAwake: false })
  await gone(pid)

  work(true)
  t.match(ask(), { isAwake: true }, 'begun again at once for new work')
  const next = await began(pid)
  close()
  await gone(next)
})

t.test('where the program fails, it is not begun again at once', { skip }, async t => {
  const { ask, close, began } = computer(t, 'exit 1')
  t.match(ask(true), { isAwake: true })
  const pid = await began()
  while (ask().isAwake) await new Promise(setImmediate)
  t.match(ask(), { on: true, isAwake: false, canDo: true })
  t.equal(await began(), pid)
  close()
})

function askOf(methods: ReturnType<typeof openKeepAwake>['methods']) {
  return (on?: boolean) => Object(methods['keep-awake'](on === undefined ? {} : { on }, undefined as never, undefined as never))
}

/** One on which a session works, whose program notes its process and then does this. */
function computer(t: Test, program: string) {
  const home = t.testdir({ bin: {}, began: {} })
  const note = join(home, 'began', 'pid')
  const name = process.platform === 'darwin' ? 'caffeinate' : 'systemd-inhibit'
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\necho $$ > ${note}.new; mv ${note}.new ${note}\n${program}\n`, { mode: 0o755 })
  let isWorking = true
  const env = { PATH: `${join(home, 'bin')}:${process.env['PATH']}` }
  const { methods, close } = openKeepAwake({ home, env, isWorking: () => isWorking })
  t.teardown(close)
  const read = () => (existsSync(note) ? Number(readFileSync(note, 'utf8')) : undefined)
  return {
    ask: askOf(methods),
    close,
    work(now: boolean) {
      isWorking = now
    },
    /** The process of the program, as soon as it is not this one. */
    async began(but?: number): Promise<number> {
      const watcher = watch(join(home, 'began'))
      try {
        for (;;) {
          const changed = once(watcher, 'change')
          const pid = read()
          if (pid !== undefined && pid !== but) return pid
          await changed
        }
      } finally {
        watcher.close()
      }
    }
  }
}

async function gone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise(setImmediate)
  }
}
