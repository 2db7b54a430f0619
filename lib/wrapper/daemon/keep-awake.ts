import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import { findProgram } from '../../program-in-path.ts'
import * as v from '../../schema.ts'
import { agentEnvironment } from '../home/credentials.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from '../home/private-files.ts'

type Env = Readonly<Record<string, string | undefined>>

interface KeepAwakeOptions {
  home: string
  env: Env
  /** Whether a session of this computer works right now. */
  isWorking(): boolean
}

interface KeepAwake {
  methods: Pick<MachineHandlers, 'keep-awake'>
  close(): void
}

const lookEveryMs = 5_000
const againAfterMs = 60_000

/** Keeps this computer from sleeping while a session works, if its owner wants that. */
export function openKeepAwake({ home, env, isWorking }: KeepAwakeOptions): KeepAwake {
  const command = commandFor(env)
  let child: ChildProcess | undefined
  let endedAt = Number.NEGATIVE_INFINITY

  const start = () => {
    const [program = '', ...args] = command ?? []
    const started = spawn(program, args, { stdio: 'ignore', detached: process.platform !== 'win32', env: agentEnvironment(env) })
    const forget = () => {
      if (child !== started) return
      child = undefined
      endedAt = performance.now()
    }
    started.once('error', forget).once('exit', forget)
    started.unref()
    child = started
  }
  const stop = () => {
    const [pid] = [child?.pid]
    child = undefined
    if (pid !== undefined) endGroup(pid)
  }
  const look = () => {
    const isClaimRequested = command !== undefined && wantsAwake(home) && isWorking()
    if (!isClaimRequested) return stop()
    // On a system without the service every attempt would fail.
    if (!child && performance.now() - endedAt > againAfterMs) start()
  }
  const timer = setInterval(look, lookEveryMs)
  return {
    methods: {
      'keep-awake'({ on }) {
        if (on !== undefined) setAwake(home, on)
        look()
        return { on: wantsAwake(home), isAwake: child !== undefined, canDo: command !== undefined }
      }
    },
    close() {
      clearInterval(timer)
      stop()
    }
  }
}

export function setAwake(home: string, on: boolean): void {
  makePrivateFolder(join(home, 'daemon'))
  writePrivateFile(fileIn(home), JSON.stringify({ on }))
}

const setting = v.object({ on: v.boolean() })

function wantsAwake(home: string): boolean {
  try {
    return v.parse(setting, JSON.parse(readPrivateFile(fileIn(home)) ?? '{}')).on
  } catch {
    return false
  }
}

function fileIn(home: string): string {
  return join(home, 'daemon', 'keep-awake.json')
}

/** Each ends with this process, however that ends. */
function commandFor(env: Env): string[] | undefined {
  const name = process.platform === 'darwin' ? 'caffeinate' : 'systemd-inhibit'
  const program = findProgram(name, env)
  if (program === undefined) return undefined
  if (process.platform === 'darwin') return [program, '-i', '-s', '-w', String(process.pid)]
  const whileHere = `while kill -0 ${process.pid} 2>/dev/null; do sleep 5; done`
  return [program, '--what=sleep:idle', '--who=Afield', '--why=An agent is working', '--mode=block', 'sh', '-c', whileHere]
}

function endGroup(pid: number): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGTERM')
  } catch {
    // It has already ended.
  }
}
