import { spawn } from 'node:child_process'

/** The environment of a program that is not ours: without our variables, because some are secrets. */
export function foreignEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('AFIELD_')))
}

/** The end of another program: its exit code, undefined if there is no such program, and what it printed. */
export interface ProgramEnd {
  code: number | null | undefined
  output: string
  /** Its last line on standard error, shortened. */
  complaint: string
}

/** Runs a program that is not ours until it ends, for at most `limitMs`. Rejects only if `signal` aborts. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { limitMs, signal }: { limitMs: number; signal?: AbortSignal | undefined }
): Promise<ProgramEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ProgramEnd>()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: foreignEnvironment(), signal })
  const late = setTimeout(() => {
    child.kill()
    // A program that it started may hold them open.
    child.stdout.destroy()
    child.stderr.destroy()
  }, limitMs)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    output = (output + text).slice(0, mostOutput)
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    errors = (errors + text).slice(-1000)
  })
  child.once('error', error => {
    if (signal?.aborted) reject(error)
    else resolve({ code: undefined, output, complaint: 'code' in error ? String(error.code) : error.message })
  })
  child.once('close', code => resolve({ code, output, complaint: lastLine(errors) }))
  return promise.finally(() => clearTimeout(late))
}

const mostOutput = 4 * 1024 * 1024

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim().slice(0, 300) ?? ''
}
