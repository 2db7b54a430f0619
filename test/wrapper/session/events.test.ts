import t from 'tap'
import type { AgentState, SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import type { AgentEvent, Step } from '../../../lib/wrapper/agents/agent.ts'
import { followAgent } from '../../../lib/wrapper/session/events.ts'
import type { SessionParts } from '../../../lib/wrapper/session/parts.ts'
import type { Turns } from '../../../lib/wrapper/session/turns.ts'

const step: Step = { call: 'c', name: 'Bash', title: 'make', kind: 'execute', input: {}, locations: [], content: [] }

t.test('a permission is asked once its step is shown, and answered without a person if a rule decides', async t => {
  for (const choice of ['yes', undefined]) {
    const { take, calls } = following({ choice })
    await take({ type: 'permission-asked', asked: { ask: 'a', step, choices: [] } as never })
    const end = choice ? 'agent.answer a yes' : 'notices.asked a false'
    t.strictSame(calls, ['modelWaits.hear', 'notices.heard', 'narrator.showStep make', 'requests.askPermission', end])
  }
  const { take, calls } = following({ by: 'terminal' })
  await take({ type: 'permission-asked', asked: { ask: 'a', step, choices: [] } as never })
  t.equal(calls.at(-1), 'notices.asked a true', 'someone may see it at the terminal')
})

t.test('a retry of the model is told and is no sign of life', async t => {
  const { take, calls } = following()
  await take({ type: 'retrying', attempt: 1, of: 3, inMs: 5, why: 'overloaded' })
  t.strictSame(calls, ['modelWaits.hear', 'narrator.tell retrying'])
})

t.test('a question is asked after the words before it, and says whether a step shows its form', async t => {
  const { take, calls } = following({ by: 'terminal' })
  await take({ type: 'step-started', step: { ...step, call: 'form', name: 'AskUserQuestion' } })
  await take({ type: 'step-started', step })
  for (const call of ['form', 'c', undefined]) {
    calls.length = 0
    await take({ type: 'question-asked', asked: { ask: 'q', title: 'Which?', kind: 'form', questions: [], ...(call && { call }) } })
    const asked = ['narrator.settle', `requests.askQuestion ${call === 'form'}`, 'notices.questioned q true']
    t.strictSame(calls.slice(2), asked, `${call}`)
  }
  calls.length = 0
  await take({ type: 'question-closed', ask: 'q' })
  t.strictSame(calls.slice(2), ['requests.close q question-closed'])
})

t.test('the position in the history is noted once everything before it was told', async t => {
  const { take, calls } = following()
  await take({ type: 'history-read', upTo: { file: '/t', offset: 3 } })
  t.strictSame(calls.slice(2), ['narrator.settle', 'cursor.noteSent 3'])
  calls.length = 0
  await take({ type: 'goal', goal: undefined } as never)
  t.strictSame(calls.slice(2), ['goals.take'])
  calls.length = 0
  await take({ type: 'controlled', by: 'phone' })
  await take({ type: 'controlled', by: 'terminal' })
  t.strictSame(
    calls.slice(2).filter(call => !/heard|hear$/.test(call)),
    ['cursor.toPhone', 'uplink.setControl phone', 'uplink.setControl terminal']
  )
})

t.test('a step that ends is remembered for permissions, which are judged again; the current one has a title', async t => {
  const { take, calls, turns } = following()
  await take({ type: 'step-started', step })
  t.equal(turns.step, 'make')
  await take({ type: 'text-grew', block: 'b', text: 'a', thinking: false })
  t.equal(turns.step, undefined)
  calls.length = 0
  await take({ type: 'step-updated', step: { ...step, title: 'make all' } })
  t.equal(turns.step, 'make all')
  t.strictSame(calls.slice(2), ['requests.update make all', 'narrator.tell step-updated'])
  calls.length = 0
  await take({ type: 'step-ended', step, status: 'failed' })
  t.equal(turns.step, undefined)
  t.strictSame(calls.slice(2), ['approvals.noteStep make failed', 'requests.judgeAgain', 'narrator.tell step-ended'])
})

t.test('a text cut off by the end of its agent is replaced by what the agent recorded', async t => {
  const { take, calls } = following({ recorded: ['half a sentence, and the rest'] })
  await take({ type: 'text', block: 'b', text: 'half a sent', thinking: false, isCut: true })
  t.strictSame(calls.slice(2), ['cursor.resendTurn'])
  calls.length = 0
  await take({ type: 'text', block: 'b', text: 'another', thinking: false, isCut: true })
  t.strictSame(calls.slice(2), ['cursor.resendTurn', 'narrator.tell text'], 'nothing recorded begins like it')
  calls.length = 0
  await take({ type: 'text', block: 'b', text: 'half a sent', thinking: false })
  t.strictSame(calls.slice(2), ['narrator.tell text'])
})

t.test('what the agent says of itself is in the metadata', async t => {
  const { take, metadata } = following({ metadata: { path: '/', host: 'box', flavor: 'claude' } })
  await take({ type: 'conversation', id: 'talk-1' })
  t.strictSame(metadata(), { path: '/', host: 'box', flavor: 'claude', agentSessionId: 'talk-1', claudeSessionId: 'talk-1' })
  const codex = following({ metadata: { path: '/', host: 'box', flavor: 'codex' } })
  await codex.take({ type: 'conversation', id: 'talk-1' })
  t.strictSame(codex.metadata(), { path: '/', host: 'box', flavor: 'codex', agentSessionId: 'talk-1', codexThreadId: 'talk-1' })
  await take({ type: 'modes', modes: { available: [{ id: 'plan', name: 'Plan', description: 'Reads' }], current: 'plan' } })
  t.match(metadata(), { operatingModes: [{ code: 'plan', value: 'Plan' }], currentOperatingModeCode: 'plan' })
  await take({ type: 'title', title: 'Mine' })
  t.match(metadata(), { summary: { text: 'Mine', updatedAt: Number } })
  const long = 'word '.repeat(60)
  const commands = [
    { name: 'compact', description: 'Shortens\nthe talk' },
    { name: 'plain' },
    { name: 'long', description: long },
    ...Array.from({ length: 100 }, (_, n) => ({ name: `c${n}`, description: long })),
    { name: 'last', description: 'short' }
  ]
  await take({ type: 'commands', commands })
  const { slashCommands = [], slashDescriptions = {} } = metadata()
  t.equal(slashCommands.length, 104)
  t.equal(slashDescriptions['compact'], 'Shortens the talk')
  t.equal(slashDescriptions['long']?.length, 160)
  t.notOk('plain' in slashDescriptions)
  const size = Object.entries(slashDescriptions).flat().join('').length
  t.ok(size <= 12_000 && size > 11_500, 'what exceeds the limit is left out')
  t.notOk('last' in slashDescriptions, 'from the end')
})

t.test('whatever the agent says of itself leaves the rest of the metadata as it is', async t => {
  const events = [
    { type: 'conversation', id: 'talk' },
    { type: 'modes', modes: { available: [], current: 'x' } },
    { type: 'settings', settings: [] },
    { type: 'commands', commands: [] },
    { type: 'usage-windows', windows: [] },
    { type: 'title', title: 'Mine' }
  ]
  for (const event of events) {
    const { take, metadata, writes } = following({ metadata: { path: '/', host: 'box', version: '1' }, setSetting: async () => true })
    await take(event as AgentEvent)
    t.match(metadata(), { path: '/', host: 'box', version: '1' }, event.type)
    t.equal(writes(), event.type === 'usage-windows' ? 0 : 1, event.type)
  }
})

t.test('each part of the session hears what it is for, and the narrator does not', async t => {
  const cases = [
    [{ type: 'prompted', text: 'hello', isOurs: false }, 'turns.hearTerminal hello'],
    [{ type: 'turn-ended', reason: 'done' }, 'turns.end done'],
    [{ type: 'options', models: undefined, efforts: undefined }, 'choices.follow options'],
    [{ type: 'picture' }, 'pictures.show picture'],
    [{ type: 'permission-closed', ask: 'a' }, 'requests.close a permission-closed']
  ] as const
  for (const [event, heard] of cases) {
    const { take, calls } = following()
    await take(event as unknown as AgentEvent)
    t.strictSame(calls.slice(2), [heard])
  }
})

t.test('settings are in the metadata only if they can be set', async t => {
  const settings = [{ id: 's', name: 'Tone', isSwitch: false, current: 'dry', available: [{ id: 'dry', name: 'Dry' }] }]
  const without = following()
  await without.take({ type: 'settings', settings } as unknown as AgentEvent)
  t.notOk(without.metadata().agentSettings)
  const { take, metadata } = following({ setSetting: async () => true })
  await take({ type: 'settings', settings } as unknown as AgentEvent)
  t.match(metadata().agentSettings, [
    { id: 's', name: 'Tone', description: null, isSwitch: false, current: 'dry', choices: [{ code: 'dry' }] }
  ])
})

t.test('usage is written when it changed, each window once, the shortest first', async t => {
  const { take, metadata, writes } = following()
  const window = (minutes: number, used: number, of?: string) => ({ minutes, usedPercent: used, isReached: false, ...(of && { of }) })
  await take({ type: 'usage-windows', windows: [window(10_080, 1), window(300, 2)] } as AgentEvent)
  await take({ type: 'usage-windows', windows: [window(10_080, 1), window(300, 2)] } as AgentEvent)
  t.equal(writes(), 1)
  await take({ type: 'usage-windows', windows: [window(300, 3), window(300, 4, 'large')] } as AgentEvent)
  t.strictSame(metadata().usageWindows, [window(300, 3), window(300, 4, 'large'), window(10_080, 1)])
  await take({ type: 'usage-windows', windows: [window(300, 5, 'large')] } as AgentEvent)
  t.strictSame(metadata().usageWindows, [window(300, 3), window(300, 5, 'large'), window(10_080, 1)])
})

interface World {
  choice?: string | undefined
  by?: 'terminal'
  recorded?: string[]
  metadata?: SessionMetadata
  setSetting?(): Promise<boolean>
}

/** The parts of a session, which note what they are told. */
function following({ choice, by, recorded = [], metadata = { path: '/', host: 'box' }, setSetting }: World = {}) {
  const calls: string[] = []
  const note = (name: string, ...details: unknown[]) => void calls.push([name, ...details].join(' '))
  let writes = 0
  const parts = {
    agent: {
      answer: (ask: string, choice: string) => note('agent.answer', ask, choice),
      handover: by && { by },
      setSetting
    },
    cursor: {
      noteSent: (upTo: { offset: number }) => note('cursor.noteSent', upTo.offset),
      toPhone: () => note('cursor.toPhone'),
      async resendTurn() {
        note('cursor.resendTurn')
        return recorded
      }
    },
    narrator: {
      tell: async ({ type }: AgentEvent) => note('narrator.tell', type),
      async showStep({ title }: Step) {
        await new Promise(resolve => setImmediate(resolve))
        note('narrator.showStep', title)
      },
      async settle() {
        await new Promise(resolve => setImmediate(resolve))
        note('narrator.settle')
      }
    },
    approvals: { noteStep: ({ title }: Step, status: string) => note('approvals.noteStep', title, status) },
    requests: {
      askPermission() {
        note('requests.askPermission')
        return choice
      },
      askQuestion: (_: unknown, hasForm: boolean) => note('requests.askQuestion', hasForm),
      close: (ask: string, { type }: AgentEvent) => note('requests.close', ask, type),
      update: ({ title }: Step) => note('requests.update', title),
      judgeAgain: () => note('requests.judgeAgain')
    },
    choices: { follow: ({ type }: AgentEvent) => note('choices.follow', type) },
    pictures: { show: async ({ type }: AgentEvent) => note('pictures.show', type) },
    goals: { take: async () => note('goals.take') },
    notices: {
      heard: () => note('notices.heard'),
      asked: (ask: string, isAtTerminal: boolean) => note('notices.asked', ask, isAtTerminal),
      questioned: (ask: string, isAtTerminal: boolean) => note('notices.questioned', ask, isAtTerminal)
    },
    modelWaits: { hear: () => note('modelWaits.hear') },
    uplink: {
      setControl: (by: AgentState['controlledByUser'] | string) => note('uplink.setControl', by),
      changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata) {
        metadata = change(metadata)
        writes++
      }
    }
  }
  const turns: Pick<Turns, 'step' | 'hearTerminal' | 'end'> = {
    step: undefined,
    hearTerminal: async ({ text }) => note('turns.hearTerminal', text),
    end: async ({ reason }) => note('turns.end', reason)
  }
  const take = followAgent(parts as unknown as SessionParts, turns as unknown as Turns)
  return { take, calls, turns, metadata: () => metadata, writes: () => writes }
}
