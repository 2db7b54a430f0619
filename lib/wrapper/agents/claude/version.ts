import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readPrivateFile, writePrivateFile } from '../../private-files.ts'

// Run with its own screen, its hooks and its transcript, in test/real. Another patch of these is taken to be the same.
const tried = { oldest: '2.1', newest: '2.1.329' }

/** What to tell the person about a version that was not tried; undefined for one that was. */
export function unknownVersion(version: string | undefined): string | undefined {
  const [major, minor] = numbersOf(version ?? '')
  const [triedMajor = 0, triedMinor = 0] = numbersOf(tried.newest)
  if (major === undefined || minor === undefined) return 'Afield could not find out which version of Claude Code this is.'
  if (major === triedMajor && minor === triedMinor) return undefined
  const isNewer = major > triedMajor || (major === triedMajor && minor > triedMinor)
  return isNewer
    ? `Claude Code ${version} is newer than tested (${tried.newest}). What does not work at its terminal, your phone drives instead.`
    : `Claude Code ${version} is older than tested (${tried.oldest} and newer). What does not work at its terminal, your phone drives instead.`
}

/** Asked once for each program that is installed; undefined when it does not say. */
export async function versionOf(
  program: string,
  home: string,
  env: Readonly<Record<string, string | undefined>>
): Promise<string | undefined> {
  const file = join(home, 'claude-version.json')
  const stats = statSync(program, { throwIfNoEntry: false })
  const about = { program, size: stats?.size ?? 0, at: stats?.mtimeMs ?? 0 }
  const known = readKept(file)
  if (known && known.program === program && known.size === about.size && known.at === about.at) return known.version
  const version = await ask(program, env)
  if (version !== undefined) writePrivateFile(file, JSON.stringify({ ...about, version }))
  return version
}

const kept = z.object({ program: z.string(), size: z.number(), at: z.number(), version: z.string() })
const askWithinMs = 5_000

function readKept(file: string): z.infer<typeof kept> | undefined {
  try {
    return kept.parse(JSON.parse(readPrivateFile(file) ?? ''))
  } catch {
    return undefined
  }
}

function ask(program: string, env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  return new Promise(resolve => {
    execFile(program, ['--version'], { env, timeout: askWithinMs }, (_, output) => resolve(/\d+(\.\d+)+/.exec(output)?.[0]))
  })
}

function numbersOf(version: string): number[] {
  return version.split('.').map(Number).filter(Number.isInteger)
}
