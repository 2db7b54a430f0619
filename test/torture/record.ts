import { execFileSync } from 'node:child_process'
import { appendFileSync, statfsSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { type Run, recordPath, recordText } from '../../docs/evidence.ts'
import type { ProofName } from '../../docs/proofs.ts'

const root = join(import.meta.dirname, '../..')

/** What a run has come to so far. */
export type Totals = Pick<Run, 'rounds' | 'checks' | 'violations'> & { counts?: Record<string, number> }

export interface RecordedRun {
  /** To be called after each round, and at the end: what was told last is what counts. */
  tell(totals: Totals): void
}

/**
 * Begins the record of a run of a proof. Nothing is recorded of a program that has no commit, because nobody could run it
 * again; the reason is said once.
 */
export function recordRun(
  { proof, seed, control }: { proof: ProofName; seed: number; control?: string | undefined },
  {
    commit = commitOf(root),
    file = join(root, recordPath),
    say = console.log
  }: { commit?: Commit; file?: string; say?: (line: string) => void } = {}
): RecordedRun {
  const began = performance.now()
  if ('problem' in commit) {
    say(`Not recorded: ${commit.problem}.`)
    return { tell() {} }
  }
  const run = {
    proof,
    date: new Date().toISOString(),
    commit: commit.name,
    machine: thisMachine(),
    options: process.argv.slice(2).join(' '),
    seed,
    ...(control !== undefined && { control })
  }
  return {
    tell({ rounds, checks, violations, counts = {} }) {
      const seconds = Math.round((performance.now() - began) / 1000)
      // One write in append mode: others may append at the same time.
      appendFileSync(file, recordText([{ ...run, rounds, checks, violations, counts, seconds }]))
    }
  }
}

type Commit = { name: string } | { problem: string }

/** The commit whose files these are, records and what is made from them aside. */
export function commitOf(folder: string): Commit {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no')
      .split('\n')
      .filter(line => line !== '' && !/ docs\/((evidence|curves)\.(jsonl|md)|images\/cost-by-\w+\.svg)$/.test(line))
    return changed.length > 0
      ? { problem: 'files of the repository have been changed' }
      : { name: git('rev-parse', '--short=12', 'HEAD').trim() }
  } catch {
    return { problem: 'this is no working copy of git' }
  }
}

export function thisMachine(): Run['machine'] {
  return {
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    fileSystem: fileSystemOf(tmpdir()),
    kernel: `${type()} ${/^\d+\.\d+/.exec(release())?.[0] ?? '?'}`,
    node: process.versions.node
  }
}

/** Where the proofs have their data. */
function fileSystemOf(folder: string): string {
  const names: Record<number, string> = {
    61267: 'ext4',
    1481003842: 'xfs',
    2435016766: 'btrfs',
    16914836: 'tmpfs',
    2035054128: 'overlay',
    801189825: 'zfs'
  }
  return names[statfsSync(folder).type] ?? 'another file system'
}
