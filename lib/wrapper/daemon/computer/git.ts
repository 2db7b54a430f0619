import { execFile } from 'node:child_process'
import { agentEnvironment } from '../../home/credentials.ts'

type Env = Readonly<Record<string, string | undefined>>

/** git's output, without its last line break. Rejects with git's own message. */
export function git(folder: string, args: readonly string[], env: Env, withinMs = 30_000): Promise<string> {
  // It takes no lock for reading, and asks nobody for a password.
  const quiet = { ...agentEnvironment(env), GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' }
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: quiet, timeout: withinMs, killSignal: 'SIGKILL' as const, maxBuffer: 16 * 1024 * 1024 }
    execFile('git', [...args], options, (error, stdout, stderr) => {
      if (!error) resolve(stdout.trimEnd())
      else if (error.killed) reject(new Error(`git did not answer within ${withinMs / 1000} s.`))
      else
        reject(
          new Error(
            stderr
              .trim()
              .split('\n')
              .at(-1)
              ?.replace(/^(fatal|error): /, '') || error.message
          )
        )
    })
  })
}

interface RepositoryNow {
  branch: string | undefined
  /** How many files have changes. */
  dirty: number
}

/** Undefined if it is not a repository, or git does not answer in time. */
export async function lookAtRepository(folder: string, env: Env, withinMs: number): Promise<RepositoryNow | undefined> {
  try {
    const [head = '', ...files] = (await git(folder, ['status', '--porcelain=v1', '--branch', '--ignore-submodules'], env, withinMs)).split(
      '\n'
    )
    const branch = /^## (?:No commits yet on )?(.+?)(?:\.\.\.|$)/.exec(head)?.[1]
    return { branch: branch?.startsWith('HEAD (') ? undefined : branch, dirty: files.length }
  } catch {
    return undefined
  }
}
