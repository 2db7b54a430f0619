import { execFileSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

export interface Repository {
  readonly folder: string
  readonly env: Record<string, string>
  git(...args: string[]): string
  write(path: string, content: string | Uint8Array): void
}

/** A real repository in a folder of its own, whose person is known and whose computer has no settings of its own. */
export function makeRepository(t: Pick<Test, 'testdir'>, { name = 'code' } = {}): Repository {
  const top = realpathSync(t.testdir({ [name]: {}, home: {}, secret: { 'key.txt': 'secret\n' } }))
  const folder = join(top, name)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(top, 'home'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CEILING_DIRECTORIES: top,
    GIT_AUTHOR_NAME: 'Mira',
    GIT_AUTHOR_EMAIL: 'mira@home.example',
    GIT_COMMITTER_NAME: 'Mira',
    GIT_COMMITTER_EMAIL: 'mira@home.example'
  }
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  git('init', '--quiet', '--initial-branch=main')
  return {
    folder,
    env,
    git,
    write(path, content) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
  }
}
