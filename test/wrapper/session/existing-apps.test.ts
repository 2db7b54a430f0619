import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { MessageBody } from '../../../lib/protocol/sealed/messages.ts'
import type { AgentState, SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import * as v from '../../../lib/schema.ts'
import { startServer } from '../../kit/server.ts'
import { onePixel } from '../agents/contract.ts'
import { daemonOf } from '../kit/daemon.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'

// What existing apps read, as they read it: one value of another shape, and they show nothing of the whole.
const text = v.string()
const cuid2 = v.pipe(v.string(), v.regex(/^[a-z][0-9a-z]{1,31}$/))
const codes = v.optional(v.array(v.object({ code: text, value: text, description: v.nullish(text) })))
const metadata = v.object({
  path: text,
  host: text,
  // Theirs: a low number is a CLI that has to be updated.
  version: v.optional(v.undefined()),
  name: v.optional(text),
  os: v.optional(text),
  summary: v.optional(v.object({ text, updatedAt: v.number() })),
  machineId: v.optional(text),
  homeDir: v.optional(text),
  happyHomeDir: v.optional(text),
  startedFromDaemon: v.optional(v.boolean()),
  hostPid: v.optional(v.number()),
  startedBy: v.optional(v.picklist(['daemon', 'terminal'])),
  flavor: v.nullish(text),
  lifecycleState: v.optional(text),
  lifecycleStateSince: v.optional(v.number()),
  models: codes,
  currentModelCode: v.optional(text),
  operatingModes: codes,
  currentOperatingModeCode: v.optional(text),
  thoughtLevels: codes,
  currentThoughtLevelCode: v.optional(text),
  slashCommands: v.optional(v.array(text)),
  permissionMode: v.nullish(text),
  modelMode: v.nullish(text),
  effortLevel: v.nullish(text),
  // Another program's; a value here would change how a session is shown.
  rigMetadataVersion: v.optional(v.undefined()),
  client: v.optional(v.undefined()),
  capabilities: v.optional(v.undefined()),
  session: v.optional(v.undefined())
})

// The form of a question; another shape is drawn as any tool, with nothing to choose.
const form = v.object({
  questions: v.array(
    v.object({
      header: text,
      question: text,
      // Each question wants one of these before anything is sent.
      options: v.pipe(v.array(v.object({ label: text, description: text })), v.minLength(1)),
      multiSelect: v.boolean()
    })
  )
})
const request = v.object({ tool: text, arguments: v.unknown(), createdAt: v.number(), toolUseId: v.nullish(text) })
const state = v.object({
  controlledByUser: v.nullish(v.boolean()),
  requests: v.nullish(v.record(text, request)),
  completedRequests: v.nullish(
    v.record(
      text,
      v.object({
        ...request.entries,
        completedAt: v.number(),
        status: v.picklist(['canceled', 'denied', 'approved']),
        reason: v.nullish(text),
        mode: v.nullish(text),
        decision: v.nullish(v.picklist(['approved', 'approved_for_session', 'denied', 'abort']))
      })
    )
  ),
  // The screen of a session does not survive a form that is open here.
  communications: v.optional(v.undefined()),
  completedCommunications: v.optional(v.undefined()),
  agentGoalStatus: v.optional(v.undefined()),
  usageLimits: v.optional(v.undefined())
})

const envelope = v.object({
  id: cuid2,
  time: v.number(),
  role: v.literal('agent'),
  turn: cuid2,
  subagent: v.optional(cuid2),
  usage: v.optional(v.object({ input_tokens: v.number(), output_tokens: v.number(), context_window: v.optional(v.number()) })),
  ev: v.variant('t', [
    v.object({ t: v.literal('text'), text, thinking: v.optional(v.boolean()) }),
    v.object({ t: v.literal('service'), text: v.pipe(text, v.minLength(1)) }),
    v.object({
      t: v.literal('tool-call-start'),
      call: text,
      name: text,
      title: text,
      description: text,
      args: v.record(text, v.unknown())
    }),
    v.object({ t: v.literal('tool-call-end'), call: text }),
    v.object({ t: v.literal('turn-start') }),
    v.object({ t: v.literal('turn-end'), status: v.picklist(['completed', 'failed', 'cancelled']) }),
    v.object({ t: v.literal('start'), title: v.optional(text) }),
    v.object({ t: v.literal('stop') })
  ])
})
const message = v.union([
  v.object({ role: v.literal('session'), content: envelope, meta: v.object({ sentFrom: v.literal('cli') }) }),
  v.object({
    role: v.literal('agent'),
    content: v.object({ type: v.literal('event'), id: cuid2, data: v.object({ type: v.literal('ready') }) })
  })
])

function isOurs({ role, content }: MessageBody): boolean {
  return role === 'agent' || (role === 'session' && content['type'] !== 'session')
}

const machine = v.object({
  host: text,
  platform: text,
  happyCliVersion: text,
  homeDir: text,
  happyHomeDir: text,
  cliAvailability: v.object({
    claude: v.boolean(),
    codex: v.boolean(),
    gemini: v.boolean(),
    openclaw: v.boolean(),
    detectedAt: v.number()
  }),
  resumeSupport: v.object({
    rpcAvailable: v.literal(true),
    requiresSameMachine: v.boolean(),
    requiresHappyAgentAuth: v.literal(false),
    happyAgentAuthenticated: v.boolean(),
    detectedAt: v.number()
  })
})

t.test('what an existing app allows for the session is not asked again', async t => {
  const { session } = await demo(t)
  const write = (path: string) => `tool write ${JSON.stringify({ path, content: 'x' })}`
  await session.say(`SCRIPT: ${write('a.txt')} ;; ${write('b.txt')} ;; text done`)
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [[id = '', asked] = []] = Object.entries(session.state.requests ?? {})
  await session.call('permission', { id, approved: true, allowTools: [asked?.tool ?? ''] })
  await session.until(session => turnsEnded(session) === 1)
  t.strictSame(texts(session), ['done'])
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length === 2)
  const completed = Object.values(session.state.completedRequests ?? {})
  t.match(completed, [
    { decision: 'approved_for_session', allowTools: [asked?.tool] },
    { decision: 'approved', rule: '**' }
  ])
})

t.test('existing apps can read what a computer can do', async t => {
  const bin = mkdtempSync(join(tmpdir(), 'afield-bin-'))
  t.teardown(() => rmSync(bin, { recursive: true }))
  writeFileSync(join(bin, 'codex'), '#!/bin/sh\n', { mode: 0o755 })
  const { machine: daemon } = await daemonOf(t, await startServer(t), { PATH: bin, CLAUDE_CODE_EXECUTABLE: '', CODEX_BIN: '' })
  await daemon.until(async () => (await daemon.metadata())?.cliAvailability !== undefined)
  const told = v.parse(machine, await daemon.metadata())
  t.match(told.cliAvailability, { claude: false, codex: true, gemini: false, openclaw: false })
})

t.test('existing apps can read everything that a session writes', async t => {
  const { session } = await demo(t)
  const states: AgentState[] = []
  const metadatas: SessionMetadata[] = []
  const until = (what: (now: typeof session) => boolean) =>
    session.until(now => {
      states.push(now.state)
      metadatas.push(now.metadata)
      return what(now)
    })
  const first = (record: object | null | undefined) => Object.keys(record ?? {})[0]

  await session.attach('cat.png', onePixel, 'image/png')
  await session.say('Mend the gate')
  await until(({ state }) => first(state.requests) !== undefined)
  await session.call('permission', { id: first(session.state.requests) ?? '', approved: true })
  await until(session => turnsEnded(session) === 1)
  await session.say('ask me', { model: 'quick', effort: 'low' })
  await until(({ state }) => first(state.requests) !== undefined)
  const asked = v.parse(form, Object.values(session.state.requests ?? {})[0]?.arguments)
  const answers = Object.fromEntries(asked.questions.map(({ question, options }) => [question, options[0]?.label]))
  const id = first(session.state.requests) ?? ''
  await session.call('permission', { id, approved: true, decision: 'approved', updatedInput: { answers } })
  await until(session => turnsEnded(session) === 2)
  await session.say('SCRIPT: ask https://example.org/')
  await until(({ state }) => first(state.requests) !== undefined)
  t.ok(v.safeParse(form, Object.values(session.state.requests ?? {})[0]?.arguments).success, 'a page to open is a form too')
  await session.call('abort', {})
  await until(session => turnsEnded(session) === 3)
  await session.say('Make a plan')
  await until(session => turnsEnded(session) === 4)
  await session.say('SCRIPT: tool write {"path":"b.txt","content":"x"}')
  await until(({ state }) => first(state.requests) !== undefined)
  await session.call('permission', { id: first(session.state.requests) ?? '', approved: false, decision: 'denied' })
  await until(session => turnsEnded(session) === 5)
  await session.say('SCRIPT: error')
  await until(session => turnsEnded(session) === 6)
  await session.call('killSession', {})
  await until(({ metadata }) => metadata.lifecycleState === 'archived')

  const wrong = (what: string, shape: v.GenericSchema, values: readonly unknown[]) => {
    t.not(values.length, 0, what)
    for (const value of values) {
      const { problem } = v.safeParse(shape, value)
      if (problem) t.fail(`${what}: ${new v.Misfit(problem).message}`, { value })
    }
  }
  wrong('a message', message, session.messages.filter(isOurs))
  wrong('a state', state, states)
  wrong('a metadata', metadata, metadatas)
  const kinds = new Set(session.events().map(event => event.t))
  for (const kind of ['text', 'service', 'tool-call-start', 'tool-call-end', 'turn-start', 'turn-end', 'file'] as const)
    t.ok(kinds.has(kind), kind)
  const names = session.events().flatMap(event => (event.t === 'tool-call-start' ? event.name : []))
  t.ok(names.includes('TodoWrite'), 'a plan is a list of theirs')
  const calls = session.events().flatMap(event => (event.t === 'tool-call-start' ? event.call : []))
  for (const { tool, toolUseId } of Object.values(session.state.completedRequests ?? {}))
    if (tool !== 'AskUserQuestion') t.ok(calls.includes(toolUseId ?? ''), 'its permission is joined to its step')
})
