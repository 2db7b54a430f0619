import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import type { ChangedFile } from '../../../../lib/protocol/sealed/calls/git.ts'
import { confine } from '../../../../lib/wrapper/home/confinement.ts'
import { gitMethods } from '../../../../lib/wrapper/session/methods/git.ts'
import { refusalOf } from '../../../../lib/wrapper/session/methods/git-program.ts'
import { makeRepository, type Repository } from '../../kit/repository.ts'

/** Git as a phone asks for it, in a session's folder. */
function phoneIn({ folder, env }: Pick<Repository, 'folder' | 'env'>, { hasShell = true } = {}) {
  const confinement = confine([folder], join(folder, '..', 'home'))
  const methods = gitMethods({ confinement: () => confinement, mayUseShell: () => hasShell, env })
  const need = <Name extends keyof typeof methods>(name: Name) => {
    const method = methods[name]
    if (!method) throw new Error(name)
    return method as NonNullable<(typeof methods)[Name]>
  }
  const repository = async () => {
    const told = await need('gitStatus')({})
    if (!told.isRepository) throw new Error(told.why)
    return told
  }
  return {
    status: () => need('gitStatus')({}),
    repository,
    async file(path: string): Promise<ChangedFile | undefined> {
      return (await repository()).files.find(file => file.path === path)
    },
    // Through async functions, so that what is thrown at once rejects too.
    diff: async (path: string, more = {}) => need('gitDiff')({ path, ...more }),
    stage: async (...paths: string[]) => need('gitStage')({ paths }),
    unstage: async (...paths: string[]) => need('gitUnstage')({ paths }),
    commit: async (message: string, paths?: string[]) => need('gitCommit')({ message, paths }),
    log: async (limit = 20, skip = 0) => need('gitLog')({ limit, skip }),
    show: async (commit: string) => need('gitShow')({ commit })
  }
}

function withHistory(t: Test): Repository {
  const repository = makeRepository(t)
  repository.write('src/a.ts', 'one\ntwo\nthree\n')
  repository.write('old name.md', 'a text\nof three\nlines\n')
  repository.write('gone.txt', 'gone\n')
  repository.git('add', '.')
  repository.git('commit', '--quiet', '-m', 'Begin')
  return repository
}

t.test('changes since the last commit are listed by file, with status letters, stages and lines', async t => {
  const repository = withHistory(t)
  const { folder, git, write } = repository
  const phone = phoneIn(repository)
  t.match(await phone.status(), {
    isRepository: true,
    branch: 'main',
    head: /^[0-9a-f]{40}$/,
    upstream: null,
    ahead: 0,
    behind: 0,
    files: []
  })
  write('src/a.ts', 'one\n2\nthree\nfour\n')
  git('mv', 'old name.md', 'new name.md')
  rmSync(join(folder, 'gone.txt'))
  write('new/deep.txt', 'a\nb\n')
  write('picture.bin', new Uint8Array([1, 0, 2]))
  const { files } = await phone.repository()
  t.same(
    files.map(({ path, from, letter, isStaged, isUnstaged, added, removed }) => [path, from, letter, isStaged, isUnstaged, added, removed]),
    [
      ['gone.txt', undefined, 'D', false, true, 0, 1],
      ['new name.md', 'old name.md', 'R', true, false, 0, 0],
      ['src/a.ts', undefined, 'M', false, true, 2, 1],
      ['new/deep.txt', undefined, '?', false, true, 2, 0],
      ['picture.bin', undefined, '?', false, true, undefined, undefined]
    ]
  )
  t.equal((await phone.file('picture.bin'))?.isBinary, true)
})

t.test('the hash of a file changes with the file, and not when it is staged', async t => {
  const repository = withHistory(t)
  const phone = phoneIn(repository)
  repository.write('src/a.ts', 'one\n')
  const first = (await phone.file('src/a.ts'))?.mark
  t.match(first, /^\w{16}$/)
  await phone.stage('src/a.ts')
  t.equal((await phone.file('src/a.ts'))?.mark, first)
  repository.write('src/a.ts', 'one and a half\n')
  t.not((await phone.file('src/a.ts'))?.mark, first)
})

t.test('before the first commit everything is new, and can be staged, unstaged and committed', async t => {
  const repository = makeRepository(t)
  const phone = phoneIn(repository)
  t.match(await phone.status(), { isRepository: true, branch: 'main', head: null, files: [] })
  t.strictSame(await phone.log(), { commits: [], hasMore: false })
  repository.write('a.txt', 'one\n')
  await phone.stage('a.txt')
  t.match(await phone.file('a.txt'), { letter: 'A', isStaged: true, isUnstaged: false, added: 1, removed: 0 })
  t.strictSame(await phone.diff('a.txt'), { type: 'text', oldText: null, newText: 'one\n' })
  await phone.unstage('a.txt')
  t.match(await phone.file('a.txt'), { letter: '?', isStaged: false })
  t.match(await phone.commit('Nothing'), { type: 'refused', why: 'nothing-staged' })
  const outcome = await phone.commit('Begin', ['a.txt'])
  t.match(outcome, { type: 'committed', id: repository.git('rev-parse', 'HEAD').trim() })
  const shown = outcome.type === 'committed' && (await phone.show(outcome.id))
  t.match(shown, { subject: 'Begin', parents: [], author: 'Mira', files: [{ path: 'a.txt', letter: 'A', added: 1, removed: 0 }] })
  t.strictSame(outcome.type === 'committed' && (await phone.diff('a.txt', { commit: outcome.id })), {
    type: 'text',
    oldText: null,
    newText: 'one\n'
  })
})

t.test('a folder without git, and a computer without it, are reported as such', async t => {
  const { folder, env } = makeRepository(t)
  rmSync(join(folder, '.git'), { recursive: true })
  const phone = phoneIn({ folder, env })
  t.strictSame(await phone.status(), { isRepository: false, why: 'no-repository' })
  const askings: (() => Promise<unknown>)[] = [
    () => phone.diff('a.txt'),
    () => phone.stage('a.txt'),
    () => phone.commit('x'),
    () => phone.log(),
    () => phone.show('abcd')
  ]
  for (const ask of askings) await t.rejects(ask, /not in a Git repository/)
  t.strictSame(await phoneIn({ folder, env: { ...env, PATH: folder } }).status(), { isRepository: false, why: 'no-git' })
})

t.test('both sides of a change are returned: text, image, binary, removed', async t => {
  const repository = withHistory(t)
  const { folder, write } = repository
  const phone = phoneIn(repository)
  write('src/a.ts', 'one\r\n\u{feff}2')
  t.strictSame(await phone.diff('src/a.ts'), { type: 'text', oldText: 'one\ntwo\nthree\n', newText: 'one\r\n\u{feff}2' })
  rmSync(join(folder, 'gone.txt'))
  t.strictSame(await phone.diff('gone.txt'), { type: 'text', oldText: 'gone\n', newText: null })
  repository.git('mv', 'old name.md', 'new name.md')
  t.match(await phone.diff('new name.md', { from: 'old name.md' }), { type: 'text', oldText: /^a text/, newText: /^a text/ })
  write('dot.PNG', new Uint8Array([137, 80, 0]))
  t.strictSame(await phone.diff('dot.PNG'), { type: 'image', mime: 'image/png', oldBytes: null, newBytes: 'iVAA' })
  write('latin.txt', new Uint8Array([0xe9, 10]))
  t.strictSame(await phone.diff('latin.txt'), { type: 'binary', oldSize: null, newSize: 2 })
  t.strictSame(await phone.diff('nowhere.txt'), { type: 'text', oldText: null, newText: null })
})

t.test('large content is returned on request, and larger is not', async t => {
  const repository = withHistory(t)
  const phone = phoneIn(repository)
  repository.write('long.txt', 'a line of a long text\n'.repeat(20_000))
  t.strictSame(await phone.diff('long.txt'), { type: 'too-large', lines: 20_000, bytes: 440_000, canLoad: true })
  t.match(await phone.diff('long.txt', { load: true }), { type: 'text', oldText: null, newText: /^a line/ })
  repository.write('longer.txt', 'a line of a long text\n'.repeat(100_000))
  t.match(await phone.diff('longer.txt', { load: true }), { type: 'too-large', canLoad: false })
})

t.test('a commit contains what is staged, or just the named files', async t => {
  const repository = withHistory(t)
  const { git, write } = repository
  const phone = phoneIn(repository)
  write('src/a.ts', 'changed\n')
  write('b.txt', 'b\n')
  write('c.txt', 'c\n')
  await phone.stage('b.txt')
  t.match(await phone.commit('Change a', ['src/a.ts']), { type: 'committed' })
  t.equal(git('show', '--format=', '--name-only', 'HEAD').trim(), 'src/a.ts')
  t.match(await phone.file('b.txt'), { letter: 'A', isStaged: true }, 'what else was staged stays so')
  const message = 'Add b\n\n# not a comment, and \'quotes\' "too" $(touch evil)'
  t.match(await phone.commit(message), { type: 'committed' })
  t.equal(git('log', '-1', '--format=%B').trim(), message)
  t.equal(git('show', '--format=', '--name-only', 'HEAD').trim(), 'b.txt')
  const { commits, hasMore } = await phone.log(2)
  t.strictSame([commits.map(({ subject }) => subject), hasMore], [['Add b', 'Change a'], true])
  t.strictSame(
    (await phone.log(2, 2)).commits.map(({ subject }) => subject),
    ['Begin']
  )
  t.match(await phone.show(commits[0]?.id ?? ''), { subject: 'Add b', body: /not a comment/, files: [{ path: 'b.txt', letter: 'A' }] })
  await t.rejects(phone.show('abcdef'), /no such commit/)
})

t.test('hooks run at a commit, and their output is returned; nothing else starts a program [W10]', async t => {
  const repository = withHistory(t)
  const { folder, env, git, write } = repository
  const trap = join(folder, '..', 'home', 'trapped')
  const script = (path: string, text: string) => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }
  const evil = script(
    join(folder, '..', 'home', 'evil'),
    // What is to be signed is read to its end, or git fails now and then.
    `echo "$0" >> '${trap}'; case "$1" in --status-fd*) cat > /dev/null;; esac; echo '-----BEGIN PGP SIGNATURE-----'; printf '\\n[GNUPG:] SIG_CREATED x\\n' >&2`
  )
  for (const hook of ['post-index-change', 'reference-transaction', 'fsmonitor-watchman'])
    script(join(folder, '.git', 'hooks', hook), `echo ${hook} >> '${trap}'`)
  git('config', 'core.fsmonitor', evil)
  git('config', 'diff.external', evil)
  git('config', 'core.pager', evil)
  git('config', 'log.showSignature', 'true')
  git('config', 'gpg.program', evil)
  write('signed.txt', 'signed\n')
  git('add', 'signed.txt')
  git('commit', '--quiet', '--gpg-sign', '-m', 'Signed')
  git('config', 'diff.evil.textconv', evil)
  git('config', 'diff.evil.command', evil)
  write('.gitattributes', '* diff=evil\n')
  write('src/a.ts', 'changed\n')
  rmSync(trap, { force: true })
  const phone = phoneIn(repository)
  await phone.repository()
  await phone.diff('src/a.ts')
  await phone.stage('src/a.ts')
  await phone.unstage('src/a.ts')
  const { commits } = await phone.log()
  await phone.show(commits[0]?.id ?? '')
  t.notOk(existsSync(trap), existsSync(trap) ? readFileSync(trap, 'utf8') : 'nothing ran')
  rmSync(join(folder, '.git', 'hooks'), { recursive: true })
  git('config', '--remove-section', 'core')
  mkdirSync(join(folder, '.git', 'hooks'))
  script(
    join(folder, '.git', 'hooks', 'pre-commit'),
    `echo "$GIT_LITERAL_PATHSPECS$GIT_ALLOW_PROTOCOL$LC_ALL" > '${trap}'; echo 'Tests fail' >&2; exit 1`
  )
  t.match(await phone.commit('Change', ['src/a.ts']), { type: 'refused', why: 'failed', says: 'Tests fail' })
  t.equal(readFileSync(trap, 'utf8'), '\n', 'a hook sees the environment of its person')
  await t.rejects(phoneIn({ folder, env }, { hasShell: false }).commit('x'), /does not let phones run commands/)
})

t.test('a commit needs a known author', async t => {
  const repository = withHistory(t)
  const { GIT_AUTHOR_NAME: _1, GIT_AUTHOR_EMAIL: _2, GIT_COMMITTER_NAME: _3, GIT_COMMITTER_EMAIL: _4, ...env } = repository.env
  writeFileSync(join(repository.folder, '..', 'home', '.gitconfig'), '[user]\n\tuseConfigOnly = true\n')
  repository.write('b.txt', 'b\n')
  t.match(await phoneIn({ ...repository, env }).commit('Add b', ['b.txt']), { type: 'refused', why: 'no-identity', says: /user\.name/ })
  t.match(await phoneIn({ ...repository, env }).file('b.txt'), { isStaged: false }, 'nothing was staged for it')
})

t.test('a file name may contain any characters', async t => {
  const repository = withHistory(t)
  const phone = phoneIn(repository)
  const names = ['--force', '-x', ':(top)*', '*', 'two\nlines', 'it\'s "so"', '$(touch evil)', ' space ', 'tab\there', 'ünï', ':!a', 'a\\b']
  for (const name of names) repository.write(name, `${name}\n`)
  t.same((await phone.repository()).files.map(({ path }) => path).toSorted(), names.toSorted())
  for (const name of names) t.strictSame(await phone.diff(name), { type: 'text', oldText: null, newText: `${name}\n` }, name)
  await phone.stage('*')
  t.same(
    (await phone.repository()).files.filter(({ isStaged }) => isStaged).map(({ path }) => path),
    ['*'],
    'and not a form of names'
  )
  await phone.unstage('*')
  await phone.stage(...names)
  await phone.unstage(':!a')
  t.same(
    (await phone.repository()).files.filter(({ isStaged }) => !isStaged).map(({ path }) => path),
    [':!a']
  )
  t.match(await phone.commit('Odd names', ['*', '--force']), { type: 'committed' })
  t.equal(repository.git('show', '--format=', '--name-only', '-z', 'HEAD'), '*\0--force\0')
  for (const name of ['*', '--force', 'two\nlines']) t.match(await phone.diff(name), { newText: `${name}\n` })
})

t.test('nothing outside the folder is read or staged, and nothing of git itself [W10]', async t => {
  const repository = withHistory(t)
  const { folder } = repository
  const phone = phoneIn(repository)
  symlinkSync(join(folder, '..', 'secret'), join(folder, 'way-out'))
  const outside = [
    '../secret/key.txt',
    'way-out/key.txt',
    join(folder, '..', 'secret', 'key.txt'),
    'src/../../secret/key.txt',
    '.git/config',
    'src/.GIT/hooks/x',
    'a\0b',
    './a'
  ]
  for (const path of outside) {
    await t.rejects(phone.diff(path), /outside the folder|allowed|Git’s own files|not a file path/, path)
    await t.rejects(phone.diff('src/a.ts', { from: path }), /outside the folder|allowed|Git’s own files|not a file path/, path)
    await t.rejects(phone.stage(path), /outside the folder|allowed|Git’s own files|not a file path/, path)
    await t.rejects(phone.unstage(path), /outside the folder|allowed|Git’s own files|not a file path/, path)
    await t.rejects(phone.commit('x', [path]), /outside the folder|allowed|Git’s own files|not a file path/, path)
  }
  t.strictSame(
    await phone.diff('way-out'),
    { type: 'text', oldText: null, newText: join(folder, '..', 'secret') },
    'of a link: where it leads, not what is there'
  )
  t.match(await phone.file('way-out'), { letter: '?', added: 1 })
})

t.test('a session in a subfolder of a repository sees and commits that subfolder', async t => {
  const repository = withHistory(t)
  const { folder, git, write } = repository
  const phone = phoneIn({ folder: join(folder, 'src'), env: repository.env })
  write('src/a.ts', 'changed\n')
  write('b.txt', 'outside\n')
  git('add', 'b.txt')
  t.same(
    (await phone.repository()).files.map(({ path, added, removed }) => [path, added, removed]),
    [['a.ts', 1, 3]]
  )
  t.match(await phone.diff('a.ts'), { oldText: 'one\ntwo\nthree\n', newText: 'changed\n' })
  await phone.stage('a.ts')
  await t.rejects(phone.commit('All'), /outside the folder/)
  t.match(await phone.commit('Part', ['a.ts']), { type: 'committed' })
  t.equal(git('show', '--format=', '--name-only', 'HEAD').trim(), 'src/a.ts')
  const { commits } = await phone.log()
  t.match(await phone.show(commits[0]?.id ?? ''), { files: [{ path: 'a.ts', letter: 'M', added: 1, removed: 3 }] })
  t.match(await phone.diff('a.ts', { commit: commits[0]?.id }), { oldText: 'one\ntwo\nthree\n', newText: 'changed\n' })
  git('mv', 'src/a.ts', 'src/c.ts')
  t.same(
    (await phone.repository()).files.map(({ path, from, letter }) => [path, from, letter]),
    [['c.ts', 'a.ts', 'R']]
  )
})

t.test('a nested repository is shown by its commits; renames and merges by their effect', async t => {
  const repository = withHistory(t)
  const { folder, git, write } = repository
  const phone = phoneIn(repository)
  const inner = (...args: string[]) => git('-C', 'inner', ...args)
  git('init', '--quiet', 'inner')
  write('inner/x.txt', 'x\n')
  inner('add', '.')
  inner('commit', '--quiet', '-m', 'Inner')
  const first = inner('rev-parse', 'HEAD').trim()
  git('-c', 'advice.addEmbeddedRepo=false', 'add', 'inner')
  git('commit', '--quiet', '-m', 'Add inner')
  inner('commit', '--quiet', '--allow-empty', '-m', 'More')
  t.match(await phone.file('inner'), { letter: 'M', isUnstaged: true })
  t.strictSame(await phone.diff('inner'), { type: 'submodule', oldCommit: first, newCommit: inner('rev-parse', 'HEAD').trim() })
  git('mv', 'old name.md', 'moved.md')
  git('commit', '--quiet', '-m', 'Move')
  git('checkout', '--quiet', '-b', 'side', 'HEAD^')
  write('side.txt', 'side\n')
  git('add', 'side.txt')
  git('commit', '--quiet', '-m', 'Side')
  git('checkout', '--quiet', 'main')
  git('merge', '--quiet', '--no-edit', 'side')
  const { commits } = await phone.log()
  const find = (subject: RegExp) => commits.find(commit => subject.test(commit.subject))
  t.match(await phone.show(find(/^Move$/)?.id ?? ''), { files: [{ path: 'moved.md', from: 'old name.md', letter: 'R' }] })
  t.match(await phone.show(find(/^Merge/)?.id ?? ''), { parents: { length: 2 }, files: [{ path: 'side.txt', letter: 'A' }] })
  t.equal(dirname(join(folder, 'x')), folder)
})

t.test('ahead and behind match git', async t => {
  const repository = withHistory(t)
  const { folder, git } = repository
  git('init', '--quiet', '--bare', join(folder, '..', 'home', 'far'))
  git('remote', 'add', 'origin', join(folder, '..', 'home', 'far'))
  git('push', '--quiet', '--set-upstream', 'origin', 'main')
  git('commit', '--quiet', '--allow-empty', '-m', 'More')
  t.match(await phoneIn(repository).repository(), { upstream: 'origin/main', ahead: 1, behind: 0 })
  git('checkout', '--quiet', '--detach')
  t.match(await phoneIn(repository).repository(), { branch: null, upstream: null })
})

t.test('files in conflict are listed', async t => {
  const repository = withHistory(t)
  const { git, write } = repository
  git('checkout', '--quiet', '-b', 'side')
  write('src/a.ts', 'side\n')
  git('commit', '--quiet', '-am', 'Side')
  git('checkout', '--quiet', 'main')
  write('src/a.ts', 'main\n')
  git('commit', '--quiet', '-am', 'Main')
  t.throws(() => git('merge', '--quiet', 'side'))
  t.match(await phoneIn(repository).file('src/a.ts'), { letter: 'U', isUnstaged: true })
  t.match(await phoneIn(repository).commit('x'), { type: 'refused', why: 'failed' })
})

t.test(
  'of more changes than fit the first are listed, and the list says that it was cut',
  { skip: process.platform === 'win32' },
  async t => {
    const top = t.testdir({ code: {}, bin: {} })
    const says = join(top, 'says')
    const cases = `case "$*" in *rev-parse*) printf 'true\\n\\n' ;; *status*) if [ -f '${says}' ]; then /bin/cat '${says}'; else echo odd >&2; exit 1; fi ;; esac`
    writeFileSync(join(top, 'bin', 'git'), `#!/bin/sh\n${cases}\n`, { mode: 0o755 })
    const phone = phoneIn({ folder: join(top, 'code'), env: { PATH: join(top, 'bin') } })
    await t.rejects(async () => phone.status(), /Git said: odd/)
    const listed = async (count: number, name: string) => {
      writeFileSync(says, Array.from({ length: count }, (_, at) => `? ${name}${at}\0`).join(''))
      const { files, isCut } = await phone.repository()
      return { count: files.length, isCut }
    }
    t.strictSame(await listed(2000, 'a'), { count: 2000, isCut: undefined })
    t.strictSame(await listed(2001, 'a'), { count: 2000, isCut: true })
    t.match(await listed(1100, 'a'.repeat(4000)), { isCut: true }, 'as is one with too many bytes')
  }
)

t.test('a failure of git is one sentence: ours where a person can act, otherwise the first of its own', t => {
  const failures: [stderr: string, says: string][] = [
    ["fatal: Unable to create '/r/.git/index.lock': File exists.", 'Git is busy here. Try again in a moment.'],
    ['Another git process seems to be running', 'Git is busy here. Try again in a moment.'],
    [
      "fatal: detected dubious ownership in repository at '/r'",
      'This repository belongs to another user of the computer, so Git does not use it.'
    ],
    ['\nhint: try this\n  fatal: bad revision\nerror: more', 'Git said: fatal: bad revision'],
    ['hint: try this\nfatal: bad revision \nerror: more', 'Git said: bad revision'],
    ['error: no such file', 'Git said: no such file'],
    ['hint: only hints\n\n', 'Git said: nothing']
  ]
  const failed = { exitCode: 1, stdout: Buffer.alloc(0), isCut: false }
  for (const [stderr, says] of failures) t.equal(refusalOf({ ...failed, stderr }).message, says)
  t.equal(refusalOf({ ...failed, stderr: 'fatal: x', isCut: true }).message, 'Git took too long here.')
  t.end()
})
