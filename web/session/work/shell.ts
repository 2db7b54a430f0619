import { readCounts, readStatus } from '../../../lib/client/calls/git-output.ts'
import { CallFailed } from '../../../lib/client/index.ts'
import type { ResultOfCall } from '../../../lib/protocol/sealed/calls/calls.ts'
import type { GitDiff, GitStatus } from '../../../lib/protocol/sealed/calls/git.ts'

/** For sessions of existing wrappers, which have no git methods: simple commands in their shell. */
export interface Shell {
  run(command: string): Promise<ResultOfCall<'bash'>>
  read(path: string): Promise<Uint8Array>
}

const git = 'git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null'

export async function shellStatus(shell: Pick<Shell, 'run'>): Promise<GitStatus> {
  const run = outcomeOf(shell)
  const where = await run(`${git} rev-parse --is-inside-work-tree --show-prefix`)
  if (!where.success) {
    if (/not a git repository/i.test(`${where.stderr ?? ''} ${where.error ?? ''}`)) return { isRepository: false, why: 'no-repository' }
    if (where.exitCode === 127) return { isRepository: false, why: 'no-git' }
    throw new CallFailed('failed', where.error ?? where.stderr ?? '')
  }
  const prefix = (where.stdout ?? '').split('\n')[1] ?? ''
  const [status, counted] = await Promise.all([
    run(`${git} status --porcelain=v2 -z --branch --untracked-files=all --ignore-submodules=dirty -- .`),
    run(`${git} diff --numstat -z --find-renames --no-ext-diff --no-textconv HEAD -- .`)
  ])
  if (!status.success) throw new CallFailed('failed', status.error ?? status.stderr ?? '')
  const { files, ...rest } = readStatus(status.stdout ?? '')
  const counts = readCounts(counted.stdout ?? '')
  const below = files.filter(({ path }) => path.startsWith(prefix))
  return {
    isRepository: true,
    ...rest,
    files: below.map(({ head: _head, index: _index, from, ...file }) => {
      const { from: _from, ...count } = counts.get(file.path) ?? {}
      return { ...file, ...count, path: file.path.slice(prefix.length), ...(from !== undefined && { from: from.slice(prefix.length) }) }
    })
  }
}

export async function shellDiff(
  { read, ...shell }: Shell,
  { path, from = path }: { path: string; from?: string | undefined }
): Promise<GitDiff> {
  const run = outcomeOf(shell)
  const [before, now] = await Promise.all([run(`${git} cat-file blob ${quoted(`HEAD:./${from}`)}`), read(path).catch(noFile)])
  const oldText = before.success ? (before.stdout ?? '') : null
  const newText = now && textOf(now)
  if (newText === undefined || oldText?.includes('\0') === true) return { type: 'binary', oldSize: null, newSize: now?.length ?? null }
  return { type: 'text', oldText, newText }
}

// A wrapper that reports a failed command as `error` looks as if it had failed itself.
function outcomeOf({ run }: Pick<Shell, 'run'>): Shell['run'] {
  return command =>
    run(command).catch(error => {
      if (!(error instanceof CallFailed) || error.reason !== 'failed') throw error
      return { success: false, error: error.message }
    })
}

// Of a read that was refused for another reason, nothing is known: the file may be there.
function noFile(error: unknown): null {
  if (error instanceof CallFailed && error.reason === 'failed' && missing.test(error.message)) return null
  throw error
}

/** How wrappers say that there is no such file, or that there is a folder in its place. */
const missing = /ENOENT|ENOTDIR|EISDIR|no such file/i

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8000).includes(0)) return undefined
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
