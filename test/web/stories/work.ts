import { signal } from '@preact/signals'
import { CallFailed } from '../../../lib/client/index.ts'
import type { ChangedFile, CommitOutcome, GitDiff, GitStatus, LogEntry } from '../../../lib/protocol/sealed/calls/git.ts'
import type { SessionModel } from '../../../web/model/session/session.ts'
import type { FolderEntry } from '../../../web/session/work/calls.ts'
import { messageOf, type WorkComment } from '../../../web/session/work/diff/comments.ts'
import { markOf, type Work, type WorkTrouble } from '../../../web/session/work/work.ts'
import { callback } from './fixtures.ts'
import { stories } from './sessions.ts'

export interface WorkStory {
  readonly model: SessionModel
  readonly work: Work
  readonly view: readonly string[]
}

const file = (
  path: string,
  letter: ChangedFile['letter'],
  added?: number,
  removed?: number,
  more: Partial<ChangedFile> = {}
): ChangedFile => ({
  path,
  letter,
  isStaged: false,
  isUnstaged: true,
  ...(added !== undefined && { added }),
  ...(removed !== undefined && { removed }),
  mark: `${path} ${added}`,
  ...more
})

const returnPath = `/** Only a path on our own origin. */
export function safeReturnPath(p?: string) {
  if (!p?.startsWith('/')) return null;
  if (p.startsWith('//')) return null;
  const u = new URL(p, ORIGIN);
  return u.origin === ORIGIN ? p : null;
}
`
const before = `${'import { a } from "./a"\n'.repeat(30)}${callback.oldText}${'// the rest\n'.repeat(20)}`
const after = `${'import { a } from "./a"\n'.repeat(30)}${callback.newText}${'// the rest\n'.repeat(20)}`
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC'

const diffs: Record<string, GitDiff> = {
  'src/auth/callback.ts': { type: 'text', oldText: before, newText: after },
  'src/auth/return-path.ts': { type: 'text', oldText: null, newText: returnPath },
  'test/auth/callback.test.ts': {
    type: 'text',
    oldText: "test('opens home', () => {\n  expect(go()).toBe('/home')\n})\n",
    newText: "test('returns to the previous page', () => {\n  expect(go('/a')).toBe('/a')\n})\n"
  },
  'assets/logo.png': { type: 'image', mime: 'image/png', oldBytes: dot, newBytes: dot },
  'package-lock.json': { type: 'too-large', lines: 14_310, bytes: 480_000, canLoad: true },
  'data/seed.bin': { type: 'binary', oldSize: 20_480, newSize: 21_003 },
  'data/new.bin': { type: 'binary', oldSize: null, newSize: 512 },
  'themes/dark': { type: 'submodule', oldCommit: null, newCommit: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' },
  'long.ts': { type: 'text', oldText: null, newText: Array.from({ length: 1500 }, (_, i) => `export const value${i} = ${i}`).join('\n') }
}

const some: readonly ChangedFile[] = [
  file('src/auth/callback.ts', 'M', 2, 1),
  file('src/auth/return-path.ts', 'A', 7, 0, { isStaged: true, isUnstaged: false }),
  file('test/auth/callback.test.ts', 'M', 2, 2, { isStaged: true })
]

const entries: FolderEntry[] = [
  { name: '.github', type: 'directory' },
  { name: 'src', type: 'directory' },
  { name: 'test', type: 'directory' },
  { name: '.gitignore', type: 'file', size: 48 },
  { name: 'package.json', type: 'file', size: 1840 },
  { name: 'README.md', type: 'file', size: 5210 }
]

const commits: LogEntry[] = [
  {
    id: 'a1b2c3d4e5f60718',
    parents: ['b'],
    author: 'Mira Holm',
    at: Date.now() - 600_000,
    subject: 'Lead people back to where they came from'
  },
  { id: 'b2c3d4e5f6071829', parents: ['c', 'd'], author: 'Mira Holm', at: Date.now() - 7_200_000, subject: "Merge branch 'sso'" },
  {
    id: 'c3d4e5f607182930',
    parents: ['e'],
    author: 'Jon Aas',
    at: Date.now() - 200_000_000,
    subject: 'Read the state of a sign-in once, and only where it is needed'
  }
]

interface Given {
  files?: readonly ChangedFile[]
  status?: GitStatus | null
  trouble?: WorkTrouble
  isHere?: boolean
  ability?: 'whole' | 'shell'
  comments?: readonly WorkComment[]
  viewed?: readonly string[]
  outcome?: CommitOutcome
  changedMeanwhile?: boolean
}

function story(view: readonly string[], given: Given = {}): WorkStory {
  const made = stories['session']?.()
  if (made === undefined) throw new Error('no such story')
  const files = given.files ?? some
  const status = given.status === undefined ? repository(files) : given.status
  const told = signal(status === null ? undefined : { value: status, at: Date.now() - 1_800_000 })
  const viewed = signal<ReadonlyMap<string, string>>(
    new Map(files.filter(({ path }) => given.viewed?.includes(path)).map(each => [each.path, markOf(each)]))
  )
  const comments = signal<readonly WorkComment[]>(given.comments ?? [])
  const content = new TextEncoder().encode(callback.newText)
  const work: Work = {
    id: 's1',
    status: told,
    trouble: signal(given.trouble),
    isReading: signal(false),
    isHere: signal(given.isHere ?? true),
    ability: signal(given.ability ?? 'whole'),
    async refresh() {},
    async diff({ path }, load) {
      if (load === true) return diffs['long.ts'] as GitDiff
      return diffs[path] ?? { type: 'text', oldText: null, newText: '' }
    },
    viewed,
    setViewed(each, isViewed) {
      const next = new Map(viewed.value)
      if (isViewed) next.set(each.path, markOf(each))
      else next.delete(each.path)
      viewed.value = next
    },
    comments: {
      all: comments,
      add: comment => {
        comments.value = [...comments.value, { ...comment, id: `c${comments.value.length}` }]
      },
      remove: id => {
        comments.value = comments.value.filter(comment => comment.id !== id)
      },
      async send() {
        Object.assign(globalThis, { sent: messageOf(comments.value) })
        comments.value = []
      }
    },
    edits: new Map(given.changedMeanwhile === true ? [['src/auth/callback.ts', callback.newText.replace('target ??', 'target ||')]] : []),
    close() {},
    calls: {
      status: async () => repository(files),
      diff: async ({ path }) => diffs[path] ?? { type: 'text', oldText: null, newText: '' },
      stage: async paths => change(paths, true),
      unstage: async paths => change(paths, false),
      commit: async () => given.outcome ?? { type: 'committed', id: 'a1b2c3d4e5f6' },
      log: async () => ({ commits, hasMore: true }),
      show: async () => ({
        ...commits[0],
        id: 'a1b2c3d4e5f60718',
        parents: ['b'],
        author: 'Mira Holm',
        at: Date.now() - 600_000,
        subject: 'Lead people back to where they came from',
        body: 'The state of the sign-in held the way back, and nobody read it.',
        files: some.map(({ path, letter, added, removed }) => ({ path, letter, added, removed }))
      }),
      searchText: async ({ query }) => ({
        files: [
          {
            path: 'src/auth/callback.ts',
            lines: [{ number: 31, text: `  const state = await ${query}(req)`, ranges: [{ from: 22, to: 22 + query.length }] }]
          }
        ],
        isCut: false
      }),
      findFiles: async query => ({
        paths: query === 'nothing' ? [] : ['src/auth/callback.ts', 'test/auth/callback.test.ts'],
        isCut: false
      }),
      list: async path => {
        if (path.endsWith('.ts')) throw new CallFailed('failed', 'This is not a folder.')
        return entries
      },
      read: async () => new Uint8Array(content),
      write: async () => (given.changedMeanwhile === true ? 'changed' : 'saved')
    }
  }
  const change = (paths: readonly string[], isStaged: boolean) => {
    const now = told.value?.value
    if (now?.isRepository !== true) return
    const files = now.files.map(each => (paths.includes(each.path) ? { ...each, isStaged, isUnstaged: !isStaged } : each))
    told.value = { value: { ...now, files }, at: Date.now() }
  }
  return { model: made, work, view }
}

function repository(files: readonly ChangedFile[]): GitStatus {
  return { isRepository: true, branch: 'fix/sso-return', head: 'a1b2c3d4', upstream: 'origin/main', ahead: 2, behind: 0, files: [...files] }
}

const line = { number: 34, side: 'new', text: '  return redirect(target' } as const

/** The screens of a session's folder, in all states. */
export const workStories: Record<string, () => WorkStory> = {
  'work-changes': () => story(['changes']),
  'work-commented': () =>
    story(['changes'], {
      viewed: ['src/auth/return-path.ts'],
      comments: [
        { id: 'c1', path: 'src/auth/callback.ts', line, text: 'What if the path is on another origin?' },
        { id: 'c2', path: 'test/auth/callback.test.ts', line: undefined, text: 'One for //evil.example too, please.' }
      ]
    }),
  'work-kinds': () =>
    story(['changes'], {
      files: [
        file('assets/logo.png', 'M', undefined, undefined, { isBinary: true }),
        file('package-lock.json', 'M', 900, 12),
        file('data/seed.bin', 'M', undefined, undefined, { isBinary: true }),
        file('data/new.bin', 'A', undefined, undefined, { isBinary: true }),
        file('themes/dark', 'A'),
        file('src/new name.ts', 'R', 1, 0, { from: 'src/old name.ts' }),
        file('gone.md', 'D', 0, 12),
        file('src/both.ts', 'U', 4, 4)
      ]
    }),
  'work-file': () => story(['changes', 'src', 'auth', 'callback.ts']),
  'work-long': () => story(['changes', 'long.ts'], { files: [file('long.ts', '?', 1500, 0)] }),
  'work-clean': () => story(['changes'], { files: [] }),
  'work-none': () => story(['changes'], { status: { isRepository: false, why: 'no-repository' } }),
  'work-loading': () => story(['changes'], { status: null }),
  'work-trouble': () => story(['changes'], { status: null, trouble: { why: 'failed', says: 'Git took too long here.' } }),
  'work-away': () => story(['changes'], { isHere: false }),
  'work-away-unknown': () => story(['changes'], { isHere: false, status: null }),
  'work-old-wrapper': () => story(['log'], { ability: 'shell' }),
  'work-files': () => story(['files']),
  'work-open': () => story(['files', 'src', 'auth', 'callback.ts']),
  'work-conflict': () => story(['files', 'src', 'auth', 'callback.ts'], { changedMeanwhile: true }),
  'work-log': () => story(['log']),
  'work-commit': () => story(['log', 'a1b2c3d4e5f60718']),
  'work-refused': () => story(['changes'], { outcome: { type: 'refused', why: 'failed', says: 'Tests fail\n  3 of 40 in src/auth' } })
}
