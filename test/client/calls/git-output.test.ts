import t from 'tap'
import { readCounts, readRaw, readStatus } from '../../../lib/client/calls/git-output.ts'

const z = (...records: string[]) => records.map(record => `${record}\0`).join('')
const entry = (kind: string, xy: string, path: string, score = '') => `${kind} ${xy} N... 100644 100644 100644 aaa bbb ${score}${path}`

t.test('the branch, its commit and how far it is from its upstream', t => {
  const cases: [lines: string[], status: object][] = [
    [
      ['branch.oid abc', 'branch.head main', 'branch.upstream origin/main', 'branch.ab +2 -10'],
      { branch: 'main', head: 'abc', upstream: 'origin/main', ahead: 2, behind: 10 }
    ],
    [['branch.oid (initial)', 'branch.head (detached)'], { branch: null, head: null }],
    [['branch.ab unknown', 'stash 3', 'branch.upstream'], { upstream: '', ahead: 0, behind: 0 }],
    [[], {}]
  ]
  const unknown = { branch: null, head: null, upstream: null, ahead: 0, behind: 0, files: [] }
  for (const [lines, status] of cases) t.strictSame(readStatus(z(...lines.map(line => `# ${line}`))), { ...unknown, ...status })
  t.end()
})

t.test('each file has the letter of its change, and says where the change is', t => {
  const had = { head: 'aaa', index: 'bbb' }
  const cases: [records: string[], files: object[]][] = [
    [[entry('1', '.M', 'a b.ts')], [{ path: 'a b.ts', letter: 'M', isStaged: false, isUnstaged: true, ...had }]],
    [[entry('1', 'M.', 'a')], [{ path: 'a', letter: 'M', isStaged: true, isUnstaged: false, ...had }]],
    [[entry('1', 'A.', 'a')], [{ path: 'a', letter: 'A', isStaged: true, isUnstaged: false, ...had }]],
    [[entry('1', '.A', 'a')], [{ path: 'a', letter: 'A', isStaged: false, isUnstaged: true, ...had }]],
    [[entry('1', 'AD', 'a')], [{ path: 'a', letter: 'D', isStaged: true, isUnstaged: true, ...had }]],
    [[entry('1', 'D.', 'a')], [{ path: 'a', letter: 'D', isStaged: true, isUnstaged: false, ...had }]],
    [[entry('2', 'R.', 'new', 'R100 '), 'old'], [{ path: 'new', from: 'old', letter: 'R', isStaged: true, isUnstaged: false, ...had }]],
    [[entry('2', 'C.', 'new', 'C75 '), 'old'], [{ path: 'new', letter: 'A', isStaged: true, isUnstaged: false, ...had }]],
    [['u UU N... 1 2 3 4 a b c both.ts'], [{ path: 'both.ts', letter: 'U', isStaged: false, isUnstaged: true }]],
    [['? new folder/', '? x'], ['new folder', 'x'].map(path => ({ path, letter: '?', isStaged: false, isUnstaged: true }))],
    [['! ignored', '1 .M', 'u UU', entry('2', 'R.', 'new', 'R100 ')], []]
  ]
  for (const [records, files] of cases) t.strictSame(readStatus(z(...records)).files, files, records.join(' | '))
  t.strictSame(readStatus(`${z('? whole')}? hal`).files.length, 1, 'a truncated entry is left out')
  t.end()
})

t.test('changed lines are counted for each file, also one that was renamed or is no text', t => {
  const counts = readCounts(
    `${z('1\t20\ta b.ts', '-\t-\tpicture.png', '3\t0\t', 'old', 'new', '4\t5\twith\ttab', '0\t1\t', 'lost')}7\t8\thal`
  )
  t.strictSame(
    [...counts],
    [
      ['a b.ts', { added: 1, removed: 20 }],
      ['picture.png', { isBinary: true }],
      ['new', { added: 3, removed: 0, from: 'old' }],
      ['with\ttab', { added: 4, removed: 5 }]
    ]
  )
  t.strictSame([...readCounts(z('1\t2\ta')).keys()], ['a'])
  t.end()
})

t.test('the changes of a commit have their letters, and a renamed file its previous path', t => {
  const of = (kind: string) => `:100644 100644 aaa bbb ${kind}`
  const raw = z(
    of('M'),
    'm',
    of('A'),
    'a',
    of('D'),
    'd',
    of('U'),
    'u',
    of('T'),
    't',
    of('R100'),
    'old',
    'new',
    of('C75'),
    'from',
    'to',
    'x'
  )
  t.strictSame(readRaw(raw), [
    { path: 'm', letter: 'M' },
    { path: 'a', letter: 'A' },
    { path: 'd', letter: 'D' },
    { path: 'u', letter: 'U' },
    { path: 't', letter: 'M' },
    { path: 'new', from: 'old', letter: 'R' },
    { path: 'to', letter: 'A' }
  ])
  t.strictSame(readRaw(z(of('M'), 'm', of('R100'), 'old')), [{ path: 'm', letter: 'M' }])
  t.strictSame(readRaw(z(of('M'))), [])
  t.end()
})
