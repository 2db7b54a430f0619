import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../../program-in-path.ts'
import { makePrivateFolder } from '../../home/private-files.ts'
import { firstNotes, notesFile } from './story.ts'

/**
 * The folder of a demo, with a file that its agent can change. Where git is installed it is a repository with a first commit, so that the
 * phone shows the agent's changes. Whatever git refuses, the demo works without it.
 */
export function openDemoFolder(home: string, env: Readonly<Record<string, string | undefined>>): string {
  const folder = join(home, 'demo')
  makePrivateFolder(folder)
  const notes = join(folder, notesFile)
  if (!existsSync(notes)) writeFileSync(notes, firstNotes)
  const git = findProgram('git', env)
  if (git !== undefined && !existsSync(join(folder, '.git')) && !makeRepository(git, folder, env)) {
    rmSync(join(folder, '.git'), { recursive: true, force: true })
  }
  return folder
}

/** With an identity of its own; nothing of the person's settings is changed, and nothing they configured runs. */
function makeRepository(git: string, folder: string, env: Readonly<Record<string, string | undefined>>): boolean {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')))
  const plain = ['-c', 'init.defaultBranch=main', '-c', 'init.templateDir=', '-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null']
  const run = (...args: string[]) =>
    spawnSync(git, [...plain, ...args], { cwd: folder, env: own, stdio: 'ignore', timeout: withinMs, windowsHide: true }).status === 0
  return (
    run('init', '--quiet') &&
    run('config', 'user.name', 'Afield demo') &&
    run('config', 'user.email', 'demo@afield.invalid') &&
    run('add', '--', notesFile) &&
    run('commit', '--quiet', '--message', 'Notes from the field')
  )
}

const withinMs = 5_000
