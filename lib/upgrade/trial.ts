import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, statfsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { CannotStart, exitCodes } from '../exit.ts'
import type { Progress } from '../local-socket/ask.ts'
import type { ServerOptions } from '../options.ts'
import * as v from '../schema.ts'
import { askServer } from '../server/control/ask.ts'
import { ownerOf } from '../server/data-directory.ts'

type Data = Pick<ServerOptions, 'data' | 'store'>

/** What `afield trial-start` prints, in every version. */
const trialReport = v.object({
  version: v.string(),
  /** The newest schema that the program knows. */
  schema: v.int()
})
export type TrialReport = v.InferOutput<typeof trialReport>

interface TrialAsk {
  program: string
  options: Data
  tell: (progress?: Progress) => void
  signal: AbortSignal
}

/**
 * Lets a program start on a copy of the data, which it upgrades, and removes the copy. Throws `CannotStart` with what the program said
 * if it cannot.
 */
export async function tryOnCopy({ program, options, tell, signal }: TrialAsk): Promise<TrialReport> {
  const database = resolve(options.data, options.store.replace(/^sqlite:/, ''))
  // A database of PostgreSQL cannot be copied here either.
  if (!existsSync(database)) return tryAlone(program, signal)
  refuseFullDisk(options.data, statSync(database).size)
  const { directory } = await askServer(options, 'copyStore', {}, tell)
  try {
    tell()
    return await run(program, ['trial-start', '--data', directory], { as: ownerOf(options.data), signal })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Lets a program start without data. */
export function tryAlone(program: string, signal: AbortSignal): Promise<TrialReport> {
  return run(program, ['trial-start'], { as: {}, signal })
}

// The copy, and the copy that a schema upgrade makes of it.
function refuseFullDisk(data: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(data)
  const needed = 2 * bytes + 16 * 1024 * 1024
  if (bavail * bsize >= needed) return
  throw new CannotStart(
    `The new version is first tried on a copy of the data, which needs ${Math.ceil(needed / 1e6)} MB in ${data}: free that, or skip the trial with --no-trial. Nothing was changed.`,
    exitCodes.storage
  )
}

async function run(
  program: string,
  args: string[],
  { as, signal }: { as: { uid?: number; gid?: number }; signal: AbortSignal }
): Promise<TrialReport> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, ...as })
  let [printed, said] = ['', '']
  child.stdout.setEncoding('utf8').on('data', text => (printed += text))
  child.stderr.setEncoding('utf8').on('data', text => (said = (said + text).slice(-2000)))
  const code = await once(child, 'close').then(
    ([code, ended]) => code ?? ended,
    error => error
  )
  signal.throwIfAborted()
  const report = code === 0 ? v.safeParse(trialReport, v.jsonOf(printed)) : undefined
  if (report?.success) return report.data
  const why = reasonIn(said) || (code instanceof Error ? code.message : `it exited with ${code}`)
  throw new CannotStart(`The new version does not work here: ${why.replace(/\.$/, '')}. Nothing was changed.`)
}

/** A program of ours says it in its last line; a crash ends with the version of Node.js. */
function reasonIn(said: string): string | undefined {
  const lines = said.trim().split('\n')
  return lines.find(line => /^\w*Error\b.*: /.test(line)) ?? lines.at(-1)
}
