import t from 'tap'
import { logOf, showCommit } from '../../../../lib/wrapper/session/methods/git-log.ts'
import type { Finished, Git } from '../../../../lib/wrapper/session/methods/git-program.ts'

const finished = (stdout: string, more: Partial<Finished> = {}): Finished => {
  return { exitCode: 0, stdout: Buffer.from(stdout), stderr: '', isCut: false, ...more }
}

/** One that answers as given, by command. */
function gitThat(answers: (args: readonly string[]) => Finished) {
  const asked: (readonly string[])[] = []
  const read: Git['read'] = async args => {
    asked.push(args)
    return answers(args)
  }
  const git: Git = { read, act: read }
  return { git, asked }
}

const record = (id: string, parents = '') => [id, parents, 'Mira', '7', `Change ${id}`, ''].join('\0')
const commits = (count: number) => Array.from({ length: count }, (_, at) => `${record(`c${at}`)}\0`).join('')

t.test('a page has at most as many commits as asked for, and says whether there are more', async t => {
  for (const [there, shown, hasMore] of [
    [0, 0, false],
    [1, 1, false],
    [2, 2, false],
    [3, 2, true]
  ] as const) {
    const { git, asked } = gitThat(() => finished(commits(there)))
    const page = await logOf(git, 2, 5)
    t.equal(page.commits.length, shown, `${there}`)
    t.equal(page.hasMore, hasMore, `${there}`)
    t.ok(asked[0]?.includes('--max-count=3') && asked[0].includes('--skip=5'))
  }
})

t.test('a commit has its parents, author, time and subject', async t => {
  const { git } = gitThat(() => finished(`${record('b', 'a z')}\0${record('a')}\0`))
  t.same((await logOf(git, 5, 0)).commits, [
    { id: 'b', parents: ['a', 'z'], author: 'Mira', at: 7000, subject: 'Change b' },
    { id: 'a', parents: [], author: 'Mira', at: 7000, subject: 'Change a' }
  ])
})

t.test('without a commit the list is empty; any other refusal is told', async t => {
  const failing = (stderr: string) => gitThat(() => finished('', { exitCode: 128, stderr })).git
  for (const stderr of ["fatal: your current branch 'main' does not have any commits yet", "fatal: bad default revision 'HEAD'"]) {
    t.same(await logOf(failing(stderr), 5, 0), { commits: [], hasMore: false })
  }
  await t.rejects(logOf(failing('fatal: broken\n'), 5, 0), { message: /broken/ })
  for (const stderr of ['fatal: bad object x', 'fatal: ambiguous argument x', 'fatal: bad revision x', 'fatal: unknown revision x']) {
    await t.rejects(showCommit(failing(stderr), '', 'x'), { message: 'There is no such commit.' })
  }
  await t.rejects(showCommit(failing('fatal: broken\n'), '', 'x'), { message: /broken/ })
})

/** A commit of these files below `sub/`. */
function showing(names: readonly string[], { parents = 'p', raw = {} as Partial<Finished>, body = '\n' } = {}) {
  return gitThat(args => {
    if (args[0] === 'log') return finished(`${record('c', parents)}${body}`)
    if (args[0] === 'hash-object') return finished('empty-tree\n')
    if (args.includes('--numstat')) return finished(names.map(name => `1\t2\tsub/${name}\0`).join(''))
    return finished(names.map(name => `:100644 100644 a b M\0sub/${name}\0`).join(''), raw)
  })
}

t.test('a commit is shown with its body and files, against its first parent, or against nothing', async t => {
  const { git, asked } = showing(['a', 'b'], { parents: 'p q', body: ' Why.\n\n' })
  const shown = await showCommit(git, 'sub/', 'c')
  t.equal(shown.body, 'Why.')
  t.same(shown.files, [
    { path: 'a', letter: 'M', added: 1, removed: 2 },
    { path: 'b', letter: 'M', added: 1, removed: 2 }
  ])
  t.notOk('isCut' in shown)
  const bases = (args: typeof asked) => args.filter(([command]) => command === 'diff-tree').map(each => each.at(-4))
  t.same(bases(asked), ['p', 'p'])
  const first = showing(['a'], { parents: '' })
  await showCommit(first.git, 'sub/', 'c')
  t.same(bases(first.asked), ['empty-tree', 'empty-tree'])
})

t.test('a renamed file says from where, also below the folder', async t => {
  const { git } = gitThat(args => {
    if (args[0] === 'log') return finished(record('c', 'p'))
    if (args.includes('--numstat')) return finished('1\t0\t\0sub/old\0sub/new\0')
    return finished(':100644 100644 a b R90\0sub/old\0sub/new\0')
  })
  const { files } = await showCommit(git, 'sub/', 'c')
  t.same(files, [{ path: 'new', from: 'old', letter: 'R', added: 1, removed: 0 }])
})

t.test('of a commit of more than 2000 files the first are shown, and it says that some are missing', async t => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `f${at}`)
  const most = await showCommit(showing(names(2000)).git, 'sub/', 'c')
  t.equal(most.files.length, 2000)
  t.notOk('isCut' in most)
  const more = await showCommit(showing(names(2001)).git, 'sub/', 'c')
  t.equal(more.files.length, 2000)
  t.equal(more.isCut, true)
  const truncated = await showCommit(showing(['a'], { raw: { isCut: true } }).git, 'sub/', 'c')
  t.equal(truncated.isCut, true)
})

t.test('a commit whose files cannot be read is refused', async t => {
  const { git } = showing(['a'], { raw: { exitCode: 128, stderr: 'fatal: broken\n' } })
  await t.rejects(showCommit(git, '', 'c'), { message: /broken/ })
})
