import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as v from '../../../schema.ts'
import { readPrivateFile, writePrivateFile } from '../../home/private-files.ts'
import { comparedToTested, newestTested } from '../programs.ts'

const oldestTested = '2.1'

/** What to tell the person about an untested version; undefined for a tested one. */
export function unknownVersion(version: string | undefined): string | undefined {
  switch (comparedToTested('claude', version)) {
    case 'tested':
      return undefined
    case 'newer':
      return `Claude Code ${version} is newer than tested (${newestTested['claude']}). ${otherwise}`
    case 'older':
      return `Claude Code ${version} is older than tested (${oldestTested} and newer). ${otherwise}`
    case undefined:
      return 'Afield could not determine the version of Claude Code.'
  }
}

const otherwise = 'If something does not work at its terminal, use your phone.'

/** Queried once for each installed program; undefined if it does not say. */
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

const kept = v.object({ program: v.string(), size: v.number(), at: v.number(), version: v.string() })
const askWithinMs = 5_000

function readKept(file: string): v.InferOutput<typeof kept> | undefined {
  try {
    return v.parse(kept, JSON.parse(readPrivateFile(file) ?? ''))
  } catch {
    return undefined
  }
}

function ask(program: string, env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  return new Promise(resolve => {
    execFile(program, ['--version'], { env, timeout: askWithinMs }, (_, output) => resolve(/\d+(\.\d+)+/.exec(output)?.[0]))
  })
}
