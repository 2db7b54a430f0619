import t from 'tap'
import {
  agentOf,
  byFolder,
  folderName,
  groupSessions,
  hostOf,
  isInCopy,
  isUnread,
  lastMovedAt,
  openDecisions,
  projectOf,
  titleOf
} from '../../../web/model/sessions.ts'
import { emptyHome, type MachineView, type SessionView } from '../../../web/model/store.ts'
import { sessionRow } from '../kit/session-row.ts'

const session = (id: string, more: Partial<SessionView> = {}): SessionView => ({
  ...sessionRow,
  id,
  last: undefined,
  metadata: undefined,
  ...more
})
const place = { path: '/work/pears', host: 'studio' }

t.test('an agent is named as it names itself, else by its kind, else as its wrapper calls it', async t => {
  const rows = [
    [{ agentTitle: 'Pear agent', flavor: 'codex' }, 'Pear agent'],
    [{}, 'Claude Code'],
    [{ flavor: '' }, 'Claude Code'],
    [{ flavor: 'codex' }, 'Codex'],
    [{ flavor: 'gemini' }, 'Gemini'],
    [{ flavor: 'opencode' }, 'OpenCode'],
    [{ flavor: 'openclaw' }, 'OpenClaw'],
    [{ flavor: 'agy' }, 'Antigravity'],
    [{ flavor: 'acp' }, 'Agent'],
    [{ flavor: 'demo' }, 'Demo agent'],
    [{ flavor: 'of tomorrow' }, 'of tomorrow']
  ] as const
  for (const [more, expected] of rows) t.equal(agentOf({ metadata: { ...place, ...more } }), expected)
  t.equal(agentOf({ metadata: undefined }), undefined)
})

t.test('a computer has the name that its owner gave it, else its own', async t => {
  const machine = (metadata: object | undefined) => ({ metadata }) as MachineView
  const of = { metadata: place }
  t.equal(hostOf(of, machine({ host: 'studio.local', displayName: 'Studio' })), 'Studio')
  t.equal(hostOf(of, machine({ host: 'studio.local' })), 'studio.local')
  t.equal(hostOf(of, machine(undefined)), 'studio')
  t.equal(hostOf(of, undefined), 'studio')
  t.equal(hostOf({ metadata: undefined }, undefined), undefined)
})

t.test('a session moved when its last line came, else when its row changed or began', async t => {
  const last = { seq: 1, at: 3, text: '' }
  t.equal(lastMovedAt({ last, updatedAt: 9, createdAt: 8 }), 3)
  t.equal(lastMovedAt({ last: undefined, updatedAt: 9, createdAt: 8 }), 9)
  t.equal(lastMovedAt({ last: undefined, updatedAt: 0, createdAt: 8 }), 8)
})

t.test('a folder is named by the last part of its path, of either kind', async t => {
  const rows = [
    ['/work/pears', 'pears'],
    ['/work/pears/', 'pears'],
    ['C:\\work\\pears\\', 'pears'],
    ['/', '/'],
    ['', '']
  ] as const
  for (const [path, expected] of rows) t.equal(folderName(path), expected, path)
})

t.test('a session is unread from the first message after those that were seen', async t => {
  const of = (seq: number, seen?: number) =>
    isUnread(session('s1', { seq }), { seenSeq: new Map(seen === undefined ? [] : [['s1', seen]]) })
  t.same([of(5, 5), of(6, 5), of(1), of(0)], [false, true, true, false])
})

t.test('permissions and questions of a connected session are one list, oldest first', async t => {
  const question = { tool: 'AskUserQuestion', arguments: {}, createdAt: 2, url: 'https://pears.example' }
  const requests = { p3: { tool: 'Bash', arguments: {}, createdAt: 3 }, q2: question, p1: { tool: 'Edit', arguments: {}, createdAt: 1 } }
  const asking = session('s1', { agentState: { requests } })
  const found = openDecisions(asking)
  t.match(found, [
    { type: 'permission', id: 'p1', createdAt: 1, request: { tool: 'Edit' } },
    { type: 'question', id: 'q2', createdAt: 2, question: { type: 'link' } },
    { type: 'permission', id: 'p3', createdAt: 3 }
  ])
  t.ok(found.every(({ session }) => session === asking))
  t.same(openDecisions({ ...asking, isActive: false }), [], 'nobody could take an answer')
})

t.test('decisions of all sessions come oldest first, and those that ask are in no other group', async t => {
  const asks = (id: string, createdAt: number) =>
    session(id, { agentState: { requests: { [id]: { tool: 'Bash', arguments: {}, createdAt } } } })
  const sessions = [asks('b', 2), asks('a', 1), session('works', { isThinking: true }), session('rests'), session('away')]
  const home = { ...emptyHome, sessions: new Map(sessions.map(each => [each.id, each])), seenSeq: new Map([['rests', 1]]) }
  const { decisions, working, quiet, archived } = groupSessions(home, ({ id }) => id === 'away')
  t.same(
    [decisions.map(({ id }) => id), ...[working, quiet, archived].map(group => group.map(({ id }) => id))],
    [['a', 'b'], ['works'], ['rests'], ['away']]
  )
  t.same(groupSessions(home).archived, [])
})

t.test('folders of the same name on two machines are two groups, and sessions that cannot be decrypted are one', async t => {
  const at = (id: string, machineId?: string) => session(id, { metadata: machineId === undefined ? undefined : { ...place, machineId } })
  const groups = byFolder([at('a', 'm1'), at('b', 'm2'), at('c', 'm1'), at('d'), at('e')])
  t.same(
    groups.map(({ folder, machineId, sessions }) => [folder, machineId, sessions.map(({ id }) => id)]),
    [
      ['pears', 'm1', ['a', 'c']],
      ['pears', 'm2', ['b']],
      ['', undefined, ['d', 'e']]
    ]
  )
  t.equal(new Set(groups.map(({ key }) => key)).size, 3)
})

t.test('a session without any name is named by its folder', async t => {
  t.equal(titleOf({ metadata: { ...place, name: '' } }), 'pears')
  t.equal(titleOf({ metadata: { ...place, name: 'Pears', summary: { text: 'Prune', updatedAt: 1 } } }), 'Prune')
})

t.test('a copy of a project counts as the project, whoever made it', async t => {
  const worktree = { path: '/copies/1', branch: 'b', repository: '/work/pears', base: 'c' }
  const rows: [string, boolean, string, boolean][] = [
    ['/copies/1', true, 'pears', true],
    ['/copies/1/web', true, 'web', true],
    ['/copies/12', true, '12', false],
    ['/elsewhere', true, 'elsewhere', false],
    ['/copies/2', true, '2', false],
    ['/work/pears/.claude/worktrees/x', false, 'pears', true],
    ['/work/pears/.claude/worktrees/x/web', false, 'web', true],
    ['/work/pears/.dev/worktree/x', false, 'pears', true],
    ['C:\\work\\pears\\.claude\\worktrees\\x', false, 'pears', true],
    ['/work/pears/.claude', false, '.claude', false],
    ['/', false, '/', false],
    ['', false, '', false]
  ]
  for (const [path, hasWorktree, folder, isCopy] of rows) {
    const place = { path, ...(hasWorktree && { worktree }) }
    t.same([projectOf(place), isInCopy(place)], [folder, isCopy], path)
  }
})
