import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import * as z from 'zod'
import type { MessageBody } from '../../../lib/protocol/sealed/messages.ts'
import type { AgentState, SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { startServer } from '../../kit/server.ts'
import { onePixel } from '../agents/contract.ts'
import { daemonOf } from '../kit/daemon.ts'
import { demo, texts, turnsEnded } from '../kit/demo.ts'

// What existing apps read, as they read it: one value of another shape, and they show nothing of the whole.
const text = z.string()
const cuid2 = z.string().regex(/^[a-z][0-9a-z]{1,31}$/)
const codes = z.array(z.object({ code: text, value: text, description: text.nullish() })).optional()
const metadata = z.object({
  path: text,
  host: text,
  // Theirs: a low number is a CLI that has to be updated.
  version: z.undefined().optional(),
  name: text.optional(),
  os: text.optional(),
  summary: z.object({ text, updatedAt: z.number() }).optional(),
  machineId: text.optional(),
  homeDir: text.optional(),
  happyHomeDir: text.optional(),
  startedFromDaemon: z.boolean().optional(),
  hostPid: z.number().optional(),
  startedBy: z.enum(['daemon', 'terminal']).optional(),
  flavor: text.nullish(),
  lifecycleState: text.optional(),
  lifecycleStateSince: z.number().optional(),
  models: codes,
  currentModelCode: text.optional(),
  operatingModes: codes,
  currentOperatingModeCode: text.optional(),
  thoughtLevels: codes,
  currentThoughtLevelCode: text.optional(),
  slashCommands: z.array(text).optional(),
  permissionMode: text.nullish(),
  modelMode: text.nullish(),
  effortLevel: text.nullish(),
  // Another program's; a value here would change how a session is shown.
  rigMetadataVersion: z.undefined().optional(),
  client: z.undefined().optional(),
  capabilities: z.undefined().optional(),
  session: z.undefined().optional()
})

// The form of a question; another shape is drawn as any tool, with nothing to choose.
const form = z.object({
  questions: z.array(
    z.object({
      header: text,
      question: text,
      // Each question wants one of these before anything is sent.
      options: z.array(z.object({ label: text, description: text })).min(1),
      multiSelect: z.boolean()
    })
  )
})
const request = z.object({ tool: text, arguments: z.unknown(), createdAt: z.number(), toolUseId: text.nullish() })
const state = z.object({
  controlledByUser: z.boolean().nullish(),
  requests: z.record(text, request).nullish(),
  completedRequests: z
    .record(
      text,
      request.extend({
        completedAt: z.number(),
        status: z.enum(['canceled', 'denied', 'approved']),
        reason: text.nullish(),
        mode: text.nullish(),
        decision: z.enum(['approved', 'approved_for_session', 'denied', 'abort']).nullish()
      })
    )
    .nullish(),
  // The screen of a session does not survive a form that is open here.
  communications: z.undefined().optional(),
  completedCommunications: z.undefined().optional(),
  agentGoalStatus: z.undefined().optional(),
  usageLimits: z.undefined().optional()
})

const envelope = z.object({
  id: cuid2,
  time: z.number(),
  role: z.literal('agent'),
  turn: cuid2,
  subagent: cuid2.optional(),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number(), context_window: z.number().optional() }).optional(),
  ev: z.discriminatedUnion('t', [
    z.object({ t: z.literal('text'), text, thinking: z.boolean().optional() }),
    z.object({ t: z.literal('service'), text: text.min(1) }),
    z.object({
      t: z.literal('tool-call-start'),
      call: text,
      name: text,
      title: text,
      description: text,
      args: z.record(text, z.unknown())
    }),
    z.object({ t: z.literal('tool-call-end'), call: text }),
    z.object({ t: z.literal('turn-start') }),
    z.object({ t: z.literal('turn-end'), status: z.enum(['completed', 'failed', 'cancelled']) }),
    z.object({ t: z.literal('start'), title: text.optional() }),
    z.object({ t: z.literal('stop') })
  ])
})
const message = z.union([
  z.object({ role: z.literal('session'), content: envelope, meta: z.object({ sentFrom: z.literal('cli') }) }),
  z.object({
    role: z.literal('agent'),
    content: z.object({ type: z.literal('event'), id: cuid2, data: z.object({ type: z.literal('ready') }) })
  })
])

function isOurs({ role, content }: MessageBody): boolean {
  return role === 'agent' || (role === 'session' && content['type'] !== 'session')
}

const machine = z.object({
  host: text,
  platform: text,
  happyCliVersion: text,
  homeDir: text,
  happyHomeDir: text,
  cliAvailability: z.object({
    claude: z.boolean(),
    codex: z.boolean(),
    gemini: z.boolean(),
    openclaw: z.boolean(),
    detectedAt: z.number()
  }),
  resumeSupport: z.object({
    rpcAvailable: z.literal(true),
    requiresSameMachine: z.boolean(),
    requiresHappyAgentAuth: z.literal(false),
    happyAgentAuthenticated: z.boolean(),
    detectedAt: z.number()
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
  const told = machine.parse(await daemon.metadata())
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
  const asked = form.parse(Object.values(session.state.requests ?? {})[0]?.arguments)
  const answers = Object.fromEntries(asked.questions.map(({ question, options }) => [question, options[0]?.label]))
  const id = first(session.state.requests) ?? ''
  await session.call('permission', { id, approved: true, decision: 'approved', updatedInput: { answers } })
  await until(session => turnsEnded(session) === 2)
  await session.say('SCRIPT: ask https://example.org/')
  await until(({ state }) => first(state.requests) !== undefined)
  t.ok(form.safeParse(Object.values(session.state.requests ?? {})[0]?.arguments).success, 'a page to open is a form too')
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

  const wrong = (what: string, shape: z.ZodType, values: readonly unknown[]) => {
    t.not(values.length, 0, what)
    for (const value of values) {
      const { error } = shape.safeParse(value)
      if (error) t.fail(`${what}: ${z.prettifyError(error)}`, { value })
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
