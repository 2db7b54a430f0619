import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Clock, systemClock } from '../../../lib/async/clock.ts'
import { pause } from '../../../lib/async/pause.ts'
import { login } from '../../../lib/wrapper/account/login.ts'
import { findDaemon } from '../../../lib/wrapper/daemon/single-daemon.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { listLeases } from '../../../lib/wrapper/home/ownership.ts'
import { listSessions } from '../../../lib/wrapper/home/session-folder.ts'
import type { Terminal } from '../../../lib/wrapper/terminal/terminal.ts'
import { type Phone, startPhone } from './phone.ts'
import { watchHome } from './watchdog.ts'
import type { WrapperProcess } from './wrapper.ts'

/**
 * A computer that was linked to the account of a phone as `afield login` does it, without the time that a process takes to start.
 * It asks again as soon as the phone has answered.
 */
export async function linkedComputer(t: Pick<Test, 'teardown'>, server: { url: string }): Promise<{ phone: Phone; home: string }> {
  const phone = await startPhone(t, server)
  const home = openTestHome(t)
  const own = openHome({ AFIELD_HOME: home })
  const { terminal, says } = readTerminal()
  const answered = Promise.withResolvers<void>()
  const clock = clockUntil(answered.promise)
  const linked = login({ home: own, server: server.url, env: {}, terminal, forHappy: false, clock })
  const { link, checkCode } = await readCode({ says })
  await phone.pair(link, checkCode)
  answered.resolve()
  if ((await linked) !== 0) throw new Error('the computer was not linked')
  return { phone, home: own.path }
}

/** What waits by this clock goes on when the promise has resolved, and no sooner. */
function clockUntil(happened: Promise<void>): Clock {
  return {
    ...systemClock,
    after(_, run) {
      void happened.then(run)
      return () => {}
    }
  }
}

/** Of a computer, and all that is started for it, until the test is over. */
export function openTestHome(t: Pick<Test, 'teardown'>): string {
  // A second `t.testdir()` would take away the first, which may be the server's.
  const folder = mkdtempSync(join(tmpdir(), 'afield-test-'))
  const home = join(folder, 'home')
  const watchdog = watchHome(home)
  t.teardown(async () => {
    await endEverything(home)
    await watchdog.endAll()
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  return home
}

/** One without a person, whose lines the test reads. */
function readTerminal(): { terminal: Terminal } & Pick<WrapperProcess, 'says'> {
  let output = ''
  const bell = new EventTarget()
  return {
    terminal: {
      isTTY: false,
      columns: Number.POSITIVE_INFINITY,
      rows: 24,
      write(text) {
        output += text
        bell.dispatchEvent(new Event('news'))
      },
      onResize: () => () => {},
      ask: async () => undefined
    },
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(output)
        if (match) return match
        await once(bell, 'news')
      }
    }
  }
}

/** What the daemon started outlives it, and would outlive the test. */
async function endEverything(home: string): Promise<void> {
  if (!existsSync(home)) return
  const running = () =>
    [findDaemon(home)?.pid, ...listSessions(home).map(({ pid }) => pid), ...listLeases(home).map(({ pid }) => pid)].filter(
      pid => pid !== undefined && pid !== process.pid
    )
  for (let pids = running(); pids.length > 0; pids = running()) {
    for (const pid of pids) kill(pid ?? 0)
    await pause(20)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** What a person sees of a computer that asks to be linked. */
export async function readCode(login: Pick<WrapperProcess, 'says'>): Promise<{ link: string; checkCode: string }> {
  const [link] = await login.says(/http\S+\/terminal\/connect#v2=\S+/)
  const [, checkCode = ''] = await login.says(/Check code (\d{4})/)
  return { link, checkCode }
}
