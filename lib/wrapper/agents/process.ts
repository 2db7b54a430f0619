import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { CannotStart } from '../../exit.ts'
import { findProgram } from '../../program-in-path.ts'
import { type LeaseNotes, lease } from '../home/ownership.ts'
import { hasGroups, signalGroup } from '../home/processes.ts'
import { startable } from './programs.ts'

export interface AgentProcess {
  readonly input: WritableStream<Uint8Array>
  readonly output: ReadableStream<Uint8Array>
  /** How it ended, in words for a person: `exit code 1`, `killed by SIGKILL`. */
  readonly ended: Promise<string>
  /** The end of its error output, at most some kilobytes, without stack traces. */
  lastLines(): string
  /** Closes its input, and after `graceMs` ends it and all its children. */
  end(graceMs?: number): Promise<void>
}

/**
 * Starts a program in its own process group, which never outlives this process. Throws CannotStart if it is
 * missing.
 */
export async function startProcess(how: {
  command: string
  args: readonly string[]
  directory: string
  env: Readonly<Record<string, string>>
}): Promise<AgentProcess> {
  const { command, args, directory, env } = how
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw new CannotStart(`The folder ${directory} does not exist.`)
  // Windows itself finds no script by its bare name.
  const program = process.platform === 'win32' && !isAbsolute(command) ? (findProgram(command, env) ?? command) : command
  const { shell, ...own } = startable(program, args)
  // Its own group: Ctrl-C in the terminal is for Afield, which decides what reaches the agent.
  const options = { cwd: directory, env, detached: hasGroups, windowsHide: true, shell }
  const child = spawn(own.command, own.args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', error => reject(whyNot(command, error)))
  })
  return watch(child, { of: 'agent', title: basename(command), folder: directory })
}

const running = new Set<number>()
const tailBytes = 8 * 1024
// For the last lines of a program whose pipe another process still holds open.
const lastWordsMs = 500

function watch(child: ChildProcessByStdio<Writable, Readable, Readable>, about: Omit<LeaseNotes, 'at'>): AgentProcess {
  const { pid } = child
  if (pid === undefined) throw new TypeError('a process that runs has an id')
  running.add(pid)
  const release = lease(pid, about)
  if (!process.listeners('exit').includes(killAll)) process.on('exit', killAll)

  let tail = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-tailBytes)
  })
  // `ended` reports a write to a program that has ended; the stream's own error adds nothing.
  child.stdin.on('error', () => {})
  const ended = new Promise<string>(resolve => {
    child.once('exit', (code, signal) => {
      running.delete(pid)
      release()
      // Its children may still run, and hold its pipes. Where there are no groups the id may belong to
      // another by now.
      if (hasGroups) signalGroup(pid, 'SIGKILL')
      const how = signal ? `killed by ${signal}` : `exit code ${code}`
      child.once('close', () => resolve(how))
      setTimeout(() => resolve(how), lastWordsMs).unref()
    })
  })
  return {
    input: Writable.toWeb(child.stdin),
    output: Readable.toWeb(child.stdout),
    ended,
    lastLines: () => withoutTraces(tail),
    async end(graceMs = 2000) {
      child.stdin.end()
      const timers = [setTimeout(() => signalGroup(pid, 'SIGTERM'), graceMs), setTimeout(() => signalGroup(pid, 'SIGKILL'), 2 * graceMs)]
      await ended
      for (const timer of timers) clearTimeout(timer)
    }
  }
}

function killAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}

function whyNot(command: string, error: Error & { code?: string }): CannotStart {
  const name = basename(command)
  switch (error.code) {
    case 'ENOENT':
      return new CannotStart(`The command ${name} was not found. Is it installed, and is its folder in PATH?`)
    case 'EACCES':
      return new CannotStart(`${command} cannot be run: this user may not execute it.`)
    default:
      return new CannotStart(`${name} could not be started: ${error.message}`)
  }
}

/** The lines of a program's error output that help a person: without its traces and the stacks of its errors. */
export function withoutTraces(text: string): string {
  return text
    .replace(thrownFrom, '')
    .split('\n')
    .map(line => line.replace(traced, '').trimEnd())
    .filter(line => line !== '' && !isNoise.test(line))
    .join('\n')
}

// Where Node.js reports an uncaught error: the file, its line, and a mark below it.
const thrownFrom = /^\S+:\d+\n.*\n[ \t]*\^+[ \t]*$/gm
const traced = /^\[\w+\/\w+\] /
const isNoise = /^\w+=\S+( \w+=\S+)*$|^\s+at .+(:\d+:\d+|<anonymous>|native|index \d+)\)?( \{)?$|^Node\.js v\d+/
