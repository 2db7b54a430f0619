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

/** A shell in which each command has the result of the first of these that it contains. */
function shellThatSays(results: Record<string, Partial<Awaited<ReturnType<Shell['run']>>>>): Pick<Shell, 'run'> {
  return {
    run: async command => {
      const [, result] = Object.entries(results).find(([part]) => command.includes(part)) ?? []
      return { success: true, ...result }
    }
  }
}

t.test('a machine without git is told apart from a git that fails', async t => {
  const whereSays = (result: object) => shellStatus(shellThatSays({ 'rev-parse': { success: false, ...result } }))
  t.strictSame(await whereSays({ exitCode: 127, stderr: 'sh: git: not found' }), { isRepository: false, why: 'no-git' })
  await t.rejects(whereSays({ exitCode: 128, stderr: 'dubious ownership' }), { reason: 'failed', message: 'dubious ownership' })
  await t.rejects(whereSays({ exitCode: 126, error: 'Timed out', stderr: 'x' }), { reason: 'failed', message: 'Timed out' })
  const statusSays = (result: object) => shellStatus(shellThatSays({ ' status ': { success: false, ...result } }))
  await t.rejects(statusSays({ error: 'Killed', stderr: 'x' }), { name: 'CallFailed', reason: 'failed', message: 'Killed' })
  await t.rejects(statusSays({ stderr: 'index file corrupt' }), { reason: 'failed', message: 'index file corrupt' })
})

t.test('a call that fails for another reason than the command is passed on', async t => {
  const run = () => Promise.reject(new CallFailed('no-answer', ''))
  await t.rejects(shellStatus({ run }), { name: 'CallFailed', reason: 'no-answer' })
})

t.test('a renamed file is shown with its former name, both seen from the folder of the session', async t => {
  const repository = makeRepository(t)
  const { folder, git, write } = repository
  write('src/a.ts', 'one\ntwo\nthree\n')
  git('add', '.')
  git('commit', '--quiet', '-m', 'Begin')
  git('mv', 'src/a.ts', 'src/b.ts')
  write('src/b.ts', 'one\ntwo\nthree\nfour\n')
  const status = await shellStatus(shellIn(repository, join(folder, 'src')))
  t.same(status.isRepository && status.files.map(({ path, from, added, removed }) => [path, from, added, removed]), [
    ['b.ts', 'a.ts', 1, 0]
  ])
})

t.test('a binary file is not shown as text, on either side', async t => {
  const bytes = (length: number, zeroAt: number) => new Uint8Array(length).fill(65).fill(0, zeroAt, zeroAt + 1)
  const diff = (stdout: string, now: Uint8Array | undefined) => {
    const read = now ? async () => now : () => Promise.reject(new CallFailed('failed', 'ENOENT'))
    return shellDiff({ ...shellThatSays({ 'cat-file': { stdout } }), read }, { path: 'a' })
  }
  t.strictSame(await diff('old', bytes(9000, 7999)), { type: 'binary', oldSize: null, newSize: 9000 })
  t.match(await diff('old', bytes(9000, 8000)), { type: 'text', oldText: 'old' })
  t.strictSame(await diff('o\0ld', new Uint8Array([65])), { type: 'binary', oldSize: null, newSize: 1 })
  t.strictSame(await diff('o\0ld', undefined), { type: 'binary', oldSize: null, newSize: null })
  t.strictSame(await diff('old', new Uint8Array()), { type: 'text', oldText: 'old', newText: '' })
})
