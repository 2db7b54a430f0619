import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CallFailed } from '../../../../lib/client/index.ts'
import { type Shell, shellDiff, shellStatus } from '../../../../web/session/work/shell.ts'
import { makeRepository, type Repository } from '../../../wrapper/kit/repository.ts'

/** The shell of an existing wrapper, in the folder of a session. */
function shellIn({ env }: Pick<Repository, 'env'>, folder: string): Shell {
  return {
    run: command =>
      new Promise(resolve => {
        execFile('/bin/sh', ['-c', command], { cwd: folder, env }, (error, stdout, stderr) => {
          const exitCode = typeof error?.code === 'number' ? error.code : 0
          resolve({ success: exitCode === 0, stdout, stderr, exitCode })
        })
      }),
    async read(path) {
      try {
        return readFileSync(join(folder, path))
      } catch (error) {
        throw new CallFailed('failed', String(error))
      }
    }
  }
}

t.test('changes in the session of an existing wrapper are read through its shell', async t => {
  const repository = makeRepository(t)
  const { folder, git, write } = repository
  write('src/a.ts', 'one\ntwo\n')
  write("it's $(odd).txt", 'odd\n')
  write('gone.txt', 'gone\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Begin')
  write('src/a.ts', 'one\n2\nthree\n')
  write("it's $(odd).txt", 'odder\n')
  write('src/new.ts', 'new\n')
  rmSync(join(folder, 'gone.txt'))
  const shell = shellIn(repository, folder)
  const status = await shellStatus(shell)
  t.match(status, { isRepository: true, branch: 'main', ahead: 0 })
  t.same(status.isRepository && status.files.map(({ path, letter, added, removed }) => [path, letter, added, removed]), [
    ['gone.txt', 'D', 0, 1],
    ["it's $(odd).txt", 'M', 1, 1],
    ['src/a.ts', 'M', 2, 1],
    ['src/new.ts', '?', undefined, undefined]
  ])
  t.strictSame(await shellDiff(shell, { path: "it's $(odd).txt" }), { type: 'text', oldText: 'odd\n', newText: 'odder\n' })
  t.strictSame(await shellDiff(shell, { path: 'src/new.ts' }), { type: 'text', oldText: null, newText: 'new\n' })
  t.strictSame(await shellDiff(shell, { path: 'gone.txt' }), { type: 'text', oldText: 'gone\n', newText: null })

  const part = shellIn(repository, join(folder, 'src'))
  const below = await shellStatus(part)
  t.same(below.isRepository && below.files.map(({ path, added }) => [path, added]), [
    ['a.ts', 2],
    ['new.ts', undefined]
  ])
  t.match(await shellDiff(part, { path: 'a.ts' }), { oldText: 'one\ntwo\n', newText: 'one\n2\nthree\n' })
})

t.test('a file that could not be read is not shown as deleted, one in whose place there is a folder is', async t => {
  const repository = makeRepository(t)
  const { folder, git, write } = repository
  write('src/a.ts', 'one\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Begin')
  const shell = shellIn(repository, folder)
  const refusals = ['EACCES: permission denied', 'Access denied: outside the working directory', 'Failed to read file']
  for (const says of refusals) {
    const refused: Shell = { ...shell, read: () => Promise.reject(new CallFailed('failed', says)) }
    await t.rejects(shellDiff(refused, { path: 'src/a.ts' }), { name: 'CallFailed', message: says })
  }
  rmSync(join(folder, 'src/a.ts'))
  write('src/a.ts/b.ts', 'two\n')
  t.strictSame(await shellDiff(shell, { path: 'src/a.ts' }), { type: 'text', oldText: 'one\n', newText: null })
  rmSync(join(folder, 'src'), { recursive: true })
  write('src', 'three\n')
  t.strictSame(await shellDiff(shell, { path: 'src/a.ts' }), { type: 'text', oldText: 'one\n', newText: null })
})

t.test('a folder without git is reported as such', async t => {
  const { folder, env } = makeRepository(t)
  rmSync(join(folder, '.git'), { recursive: true })
  t.strictSame(await shellStatus(shellIn({ env }, folder)), { isRepository: false, why: 'no-repository' })
  const happys: Shell['run'] = () => Promise.reject(new CallFailed('failed', 'Command failed: git\nfatal: not a git repository'))
  t.strictSame(await shellStatus({ run: happys }), { isRepository: false, why: 'no-repository' })
})
