import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuUs, privateBytes } from './process.ts'

/** The server under load and the credentials for it. */
export interface Target {
  port: number
  session: string
  token: string
  /** Tokens of the requested number of accounts, the first being `token`. */
  tokens: string[]
}

export interface Child {
  target: Target
  /** Processor time the child has used so far, user and system, in microseconds. */
  cpuUs(): Promise<number>
  /** Private memory of the child, in bytes, after a garbage collection. */
  privateBytes(): Promise<number>
  stop(): Promise<void>
}

type Question = 'cpu' | 'memory'

export const isChild = process.send !== undefined

/** Runs a bench file again as the server under test, on its own data directory. `more` are arguments for `furtherArguments`. */
export async function startChild(file: string, kind: string, accounts = 1, more: readonly string[] = []): Promise<Child> {
  const data = mkdtempSync(join(tmpdir(), 'afield-bench-'))
  const child = fork(file, [kind, data, String(accounts), ...more], { execArgv: [] })
  const target = await answerOf<Target>(child)
  const ask = (question: Question) => {
    child.send(question)
    return answerOf<number>(child)
  }
  return {
    target,
    cpuUs: () => ask('cpu'),
    privateBytes: () => ask('memory'),
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      rmSync(data, { recursive: true })
    }
  }
}

function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`The server under test ended with ${code}.`))
    child.once('exit', ended)
    child.once('message', answer => {
      child.off('exit', ended)
      resolve(answer as Answer)
    })
  })
}

/** In the child: reports that it is ready, and answers with its usage. */
export function serveParent(target: Pick<Target, 'port'> & Partial<Target>): void {
  process.on('message', question => void process.send?.(question === 'cpu' ? cpuUs() : privateBytes()))
  process.on('disconnect', () => process.exit())
  const tokens = Array.from({ length: accountsAsked() }, (_, index) => `token-${index}`)
  process.send?.({ token: 'token-0', session: 's', tokens, ...target })
}

export function dataDirectory(): string {
  return process.argv[3] ?? tmpdir()
}

export function accountsAsked(): number {
  return Number(process.argv[4] ?? 1)
}

export function furtherArguments(): string[] {
  return process.argv.slice(5)
}
