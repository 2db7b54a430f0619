import { type Signal, signal } from '@preact/signals'
import type { Choice } from '../../../lib/protocol/sealed/session.ts'
import type { Life, MyAnswer } from '../../../web/model/decisions/answers.ts'
import type { Answered, OpenRequest } from '../../../web/model/decisions/decisions.ts'
import type { OpenQuestion } from '../../../web/model/decisions/questions.ts'
import type { ReplyState } from '../../../web/model/outbox/replies.ts'
import type { Attached } from '../../../web/model/session/attachment.ts'
import type { AskedChoices } from '../../../web/model/session/choices.ts'
import type { SessionFacts } from '../../../web/model/session/facts.ts'
import type { Attaching } from '../../../web/model/session/files.ts'
import type { Queued } from '../../../web/model/session/message-queue.ts'
import type { LoadState } from '../../../web/model/session/messages.ts'
import { type AskedOf, askedNothing, type SessionModel } from '../../../web/model/session/session.ts'
import type { WaitingText } from '../../../web/model/session/texts.ts'
import type { KnownMessage } from '../../../web/model/transcript/message.ts'
import { addMessages, emptyTranscript, type Transcript } from '../../../web/model/transcript/transcript.ts'
import { folder } from './fixtures.ts'

const modes: Choice[] = [
  { code: 'default', value: 'Default', description: '' },
  { code: 'acceptEdits', value: 'Accept edits', description: '' },
  { code: 'plan', value: 'Plan', description: '' },
  { code: 'bypassPermissions', value: 'Bypass', description: '' }
]

const facts: SessionFacts = {
  id: 's1',
  seq: 10,
  createdAt: Date.now() - 3_600_000,
  title: 'SSO loses return path',
  agent: 'Claude Code',
  agentShort: 'Claude',
  host: 'studio-mini',
  folder: 'orchard-api',
  isInCopy: false,
  path: folder,
  branch: 'main',
  version: '0.1.0',
  process: 4242,
  presence: 'here',
  isUnlinked: false,
  agentEnd: undefined,
  activeAt: Date.now() - 3000,
  isThinking: false,
  modelWait: undefined,
  diskTrouble: undefined,
  modes,
  mode: 'default',
  keepsMode: false,
  saysMode: undefined,
  models: [
    { code: 'opus', value: 'Opus', description: 'The most able.' },
    { code: 'sonnet', value: 'Sonnet' },
    { code: 'haiku', value: 'Haiku' }
  ],
  model: 'opus',
  efforts: [
    { code: 'low', value: 'Low' },
    { code: 'medium', value: 'Medium' },
    { code: 'high', value: 'High' }
  ],
  effort: 'medium',
  settings: [],
  unanswered: 'null',
  unansweredSince: 0,
  windows: [],
  commands: ['compact', 'context', 'review', 'init'],
  commandAbouts: {
    compact: 'Sums up what was said so far, so that more fits into the context.',
    context: 'Shows how full the context is.',
    review: 'Looks over a pull request, or over what has changed here.'
  },
  methods: ['findFiles', 'setMode', 'setModel', 'setEffort', 'setUnanswered'],
  deliveredSeq: 0,
  readSeq: 0,
  hasReceipts: true,
  canResume: false,
  editsQueue: true,
  wakesDeaf: false,
  isStateReadable: true,
  canForkAt: true,
  isInTerminal: false,
  hasOwnKey: true,
  compromisedAt: undefined,
  isReadable: true
}

export interface Given {
  facts?: Partial<SessionFacts>
  transcript?: Transcript
  feed?: LoadState
  requests?: OpenRequest[]
  answered?: Answered[]
  lives?: [string, { answer: MyAnswer; life: Life }][]
  waiting?: WaitingText[]
  questions?: OpenQuestion[]
  questionStates?: [string, ReplyState][]
  isOffline?: boolean
  isWorking?: boolean
  asked?: Partial<AskedOf>
  choices?: AskedChoices
  older?: 'none' | 'more' | 'loading' | 'failed'
  draft?: string
  queue?: Queued[]
  files?: Attaching[]
}

/** The session model for a story, in any state; actions only show that they were called. */
export function model(given: Given): SessionModel {
  const transcript = signal(given.transcript ?? emptyTranscript)
  const waiting = signal<readonly WaitingText[]>(given.waiting ?? [])
  const requests = signal<readonly OpenRequest[]>(given.requests ?? [])
  const lives = signal<ReadonlyMap<string, { answer: MyAnswer; life: Life }>>(new Map(given.lives ?? []))
  const questionStates = signal<ReadonlyMap<string, ReplyState>>(new Map(given.questionStates ?? []))
  const asked = signal<AskedOf>({ ...askedNothing, ...given.asked })
  const isWorking = signal(given.isWorking ?? false)
  const chosen = signal(given.files ?? [])
  const queue = signal(given.queue ?? [])
  return {
    id: 's1',
    facts: signal({ ...facts, ...given.facts }),
    transcript,
    feed: signal(given.feed ?? 'live'),
    older: signal(given.older ?? 'none'),
    queue,
    unread: queue,
    files: {
      chosen,
      choose(files) {
        const reading = files.map(({ name, size }) => ({ key: name, name, size, state: { type: 'reading' as const } }))
        chosen.value = [...chosen.value, ...reading]
      },
      remove() {},
      goNow() {},
      tryAgain() {},
      take: () => [],
      offer() {},
      show: async () => drawnPicture(),
      close() {}
    },
    choices: signal(given.choices ?? {}),
    async choose() {},
    findFiles: async query => ['src/auth/callback.ts', 'src/auth/session.ts', 'test/auth.test.ts'].filter(path => path.includes(query)),
    stagesOf: () => ({}),
    texts: {
      takenBack: signal(new Set<string>()),
      moves: signal([]),
      async withdraw(localId) {
        queue.value = queue.value.filter(each => each.localId !== localId)
      },
      async move() {},
      waiting,
      async send(text) {
        waiting.value = [...waiting.value, { localId: `l${waiting.value.length}`, text, at: Date.now(), state: 'device' }]
      },
      async retry() {},
      async discard(localId) {
        waiting.value = waiting.value.filter(text => text.localId !== localId)
      },
      onDraft: () => () => {},
      takeLeaving: async () => undefined,
      async readDraft() {
        return given.draft ?? ''
      },
      keepDraft() {},
      close() {}
    },
    requests,
    answered: signal(given.answered ?? []),
    questions: signal(given.questions ?? []),
    questionStates,
    isOffline: signal(given.isOffline ?? false),
    lives,
    isWorking,
    asked,
    me: 'This phone',
    async answer(request, verdict) {
      const answer: MyAnswer = { request, verdict, at: Date.now(), state: { type: 'sending' } }
      lives.value = new Map(lives.value).set(request.id, { answer, life: { type: 'sending' } })
    },
    withdraw(id) {
      lives.value = new Map([...lives.value].filter(([each]) => each !== id))
    },
    async answerQuestion(question) {
      questionStates.value = new Map(questionStates.value).set(question.id, { type: 'sending' })
    },
    async tryRule({ pattern }) {
      // Its answer comes when a test says so.
      if (pattern === 'slow *') await new Promise(resolve => Object.assign(globalThis, { answerSlowly: resolve }))
      if (pattern === 'bash *') throw new Error('bash runs other programs, so this would allow any command.')
      const at = Date.now() - 3600_000
      return { looked: 50, passed: pattern === 'slow *' ? 1 : 41, entries: [{ at, what: 'npm run build', answer: 'allowed' as const }] }
    },
    dismiss(id) {
      lives.value = new Map([...lives.value].filter(([each]) => each !== id))
    },
    async stop() {
      asked.value = { ...asked.value, stop: { at: Date.now(), state: 'asked' } }
    },
    async end() {
      return true
    },
    async resume() {
      asked.value = { ...asked.value, resume: 'asking' }
    },
    async takeOver() {
      asked.value = { ...asked.value, takeOver: 'asking' }
    },
    async loadOlder() {},
    close() {}
  }
}

export const picture: Attached = {
  ref: 'r1',
  name: 'login-page.png',
  size: 812_000,
  mimeType: 'image/png',
  image: { width: 320, height: 200 }
}

let drawn: string | undefined

/** An image generated in the page. */
export function drawnPicture(): string {
  if (drawn !== undefined) return drawn
  const shape =
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><rect width="320" height="200" fill="#2d7c60"/><circle cx="240" cy="60" r="30" fill="#fddb91"/></svg>'
  drawn = URL.createObjectURL(new Blob([shape], { type: 'image/svg+xml' }))
  return drawn
}

/** The model on screen, for tests that change it. */
export function tellMore(of: SessionModel, ...messages: KnownMessage[]): void {
  const writable = of.transcript as Signal<Transcript>
  writable.value = addMessages(writable.value, messages)
}
