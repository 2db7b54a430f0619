import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import * as v from '../../lib/schema.ts'
import { programFile } from '../kit/program.ts'
import type { Stage } from './steps.ts'

/** The computer of somebody who uses the published CLI: a home of its own, the server, and agents on its path. */
export interface Computer {
  /** Entry file of the CLI. */
  entry: string
  home: string
  agents: string
  server: string
  /** What else its programs find in their environment. */
  env?: Readonly<Record<string, string>>
  teardown(end: () => unknown): void
}

/** A computer with nothing on it but agents: the scripted one under its own name, and under one that the daemon of the CLI can spawn. */
export function furnishComputer({ entry, folder, teardown }: Stage, server: string, env: Computer['env'] = {}): Computer {
  const computer: Computer = { entry, server, env, teardown, home: join(folder, 'home'), agents: join(folder, 'agents') }
  mkdirSync(computer.home)
  mkdirSync(computer.agents)
  const program = [process.execPath, programFile(), 'demo-agent', join(folder, 'conversations')]
  for (const name of ['scripted', 'gemini']) {
    const file = join(computer.agents, name)
    writeFileSync(file, `#!/bin/sh\nexec ${program.map(word => `'${word}'`).join(' ')}\n`)
    chmodSync(file, 0o755)
  }
  teardown(() => endStragglers(computer))
  return computer
}

/** Nothing of ours leaks in: no variables of an agent or a server that happens to run around this test. */
export function environmentOf({ home, agents, server, env }: Computer): NodeJS.ProcessEnv {
  return {
    PATH: [agents, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    SHELL: '/bin/sh',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    HAPPY_HOME_DIR: join(home, '.happy'),
    HAPPY_SERVER_URL: server,
    HAPPY_WEBAPP_URL: server,
    // Ink draws nothing until its end where it believes to be in CI; `open` must not look for a browser.
    HEADLESS: '1',
    ...env
  }
}

/** A scenario that broke off leaves a daemon and its sessions, which are detached; their ids are in the home of the CLI. */
function endStragglers({ home }: Computer): void {
  const read = (name: string) => {
    const file = join(home, '.happy', name)
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  }
  const sessions = v.object({ sessions: v.optional(v.record(v.string(), v.object({ metadata: v.object({ hostPid: v.number() }) })), {}) })
  const pids = Object.values(v.parse(sessions, read('sessions.json')).sessions).map(({ metadata }) => metadata.hostPid)
  for (const pid of [read('daemon.state.json').pid, ...pids]) {
    if (livesIn(home, pid)) process.kill(pid, 'SIGKILL')
  }
}

// A process id may have gone to somebody else by now. Where there is no /proc, stragglers are left alone.
function livesIn(home: string, pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)
  } catch {
    return false
  }
}
