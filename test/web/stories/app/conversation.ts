import { localId as localIdOf, sealed } from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import type { SessionView } from '../../../../web/model/store.ts'
import { callback, folder } from '../fixtures.ts'
import { edited, looked } from '../transcripts.ts'
import type { AppStory } from './app-story.ts'
import { at } from './at.ts'
import { type MachineResponses, machine, server } from './responses.ts'
import { buildAsk, editAsk, homeOf, machines, moving, publish, resting, tokens } from './world.ts'

/** What the wrapper of a session answers. */
const wrapper: MachineResponses = {
  abort: {},
  killSession: { success: true, message: '' },
  permission: {},
  setMode: { mode: 'plan' },
  setModel: { model: 'sonnet' },
  setEffort: { effort: 'high' },
  setUnanswered: { denyAfterMinutes: 15 },
  watch: {},
  'start-log': { lines: ['Starting Claude Code …', 'Reading its conversation …'] },
  findFiles: { paths: ['src/auth/callback.ts', 'test/auth/callback.test.ts'], isCut: false },
  gitStatus: {
    ...{ isRepository: true, branch: 'fix/sso-return', head: 'a1b2c3d4', upstream: 'origin/main', ahead: 2, behind: 0 },
    files: [
      { path: 'src/auth/callback.ts', letter: 'M', isStaged: false, isUnstaged: true, added: 2, removed: 1, mark: 'a' },
      { path: 'src/auth/return-path.ts', letter: '?', isStaged: true, isUnstaged: false, added: 7, removed: 0, mark: 'b' }
    ]
  },
  gitDiff: { type: 'text', oldText: callback.oldText, newText: callback.newText },
  gitStage: { staged: 1 },
  gitUnstage: { unstaged: 1 },
  gitCommit: { type: 'committed', id: 'a1b2c3d4e5f6' },
  gitLog: {
    commits: [{ id: 'a1b2c3d4e5f60718', parents: ['b'], author: 'Mira Holm', at: Date.now() - 600_000, subject: 'Lead people back' }],
    hasMore: false
  },
  gitShow: {
    ...{ id: 'a1b2c3d4e5f60718', parents: ['b'], author: 'Mira Holm', at: Date.now() - 600_000 },
    ...{ subject: 'Lead people back', body: 'The state held the way back.' },
    files: [{ path: 'src/auth/callback.ts', letter: 'M', added: 2, removed: 1 }]
  },
  searchText: {
    files: [{ path: 'src/auth/callback.ts', lines: [{ number: 4, text: 'readState(req)', ranges: [{ from: 0, to: 4 }] }] }],
    isCut: false
  },
  readFile: { success: true, content: 'ZXhwb3J0IGNvbnN0IG9uZSA9IDEK' },
  writeFile: { success: true, hash: '0'.repeat(64) },
  listDirectory: {
    success: true,
    path: folder,
    entries: [
      { name: 'src', type: 'directory' },
      { name: 'readme.md', type: 'file', size: 24 }
    ]
  }
}
const methods = Object.keys(wrapper)

const choices = {
  methods,
  operatingModes: [
    { code: 'default', value: 'Default', description: '' },
    { code: 'plan', value: 'Plan', description: '' }
  ],
  currentOperatingModeCode: 'default',
  models: [
    { code: 'opus', value: 'Opus' },
    { code: 'sonnet', value: 'Sonnet' }
  ],
  currentModelCode: 'opus',
  slashCommands: ['compact', 'review']
}

/** A session whose messages the server has and whose wrapper answers: everything else is the app itself. */
function conversation(path: string, of: SessionView | undefined, told: ReturnType<typeof looked>, given: Partial<AppStory> = {}): AppStory {
  const messages = told.messages()
  const metadata = { path: folder, host: 'studio-mini', ...of?.metadata, ...choices }
  const session = { ...(of ?? publish), id: 'talk', seq: messages.length, metadata, isThinking: false }
  return at(`/s/talk${path}`, {
    home: homeOf(machines, [session, ...moving, ...resting]),
    machine: { ...machine, ...wrapper },
    server: {
      ...server,
      readMessages: {
        messages: messages.toReversed().map(({ seq, localId, at, body }) => ({
          ...{ id: `m${seq}`, seq, localId: v.parse(v.nullable(localIdOf), localId), createdAt: at, updatedAt: at },
          content: { t: 'encrypted' as const, c: v.parse(sealed, JSON.stringify(body)) }
        })),
        hasMore: false
      }
    },
    ...given
  })
}

const away = {
  machine: { ...machine, ...Object.fromEntries(Object.keys(wrapper).map(name => [name, 'away' as const])), watch: {} },
  later: { ...machine, ...wrapper }
}
const working = moving[0]
const ended = resting[0] && { ...resting[0], isActive: false }
const done = () => edited().say('It leads back now, on our own origin only.').end()

export const conversations = {
  conversation: conversation('', working, done()),
  'conversation-runs': conversation('', working, edited().step({ kind: 'execute', args: { command: 'npm test' } })),
  'conversation-asks': conversation('', buildAsk, looked().step({ kind: 'execute', args: { command: 'npm run build' } })),
  'conversation-asks-edit': conversation('', editAsk, looked()),
  'conversation-question': conversation('', tokens, looked()),
  'conversation-ended': conversation('', ended, done()),
  'conversation-back': conversation('', working, done(), { stored: { 'looked.talk': { seq: 3, at: Date.now() - 40 * 60_000 } } }),
  'conversation-changes': conversation('/changes', working, done()),
  'conversation-change': conversation('/changes/src/auth/callback.ts', working, done()),
  'conversation-changes-back': conversation('/changes', working, done(), { ...away, machine: { ...away.later, gitStatus: 'away' } }),
  'conversation-change-back': conversation('/changes/src/auth/callback.ts', working, done(), away),
  'conversation-files-back': conversation('/files', working, done(), away),
  'conversation-file-back': conversation('/files/readme.md', working, done(), away),
  'conversation-log-back': conversation('/log', working, done(), away),
  'conversation-commit-back': conversation('/log/a1b2c3d4e5f60718', working, done(), away),
  'conversation-files': conversation('/files', working, done()),
  'conversation-file': conversation('/files/readme.md', working, done()),
  'conversation-log': conversation('/log', working, done()),
  'conversation-commit': conversation('/log/a1b2c3d4e5f60718', working, done())
}
