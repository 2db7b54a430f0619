import { exec } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type AgentContext,
  type ContentBlock,
  methods,
  type PlanEntry,
  RequestError,
  type SessionUpdate,
  type ToolCall
} from '@agentclientprotocol/sdk'
import { asked, retell } from './requests.ts'
import { type Deed, readScript } from './script.ts'
import type { DemoSession } from './sessions.ts'
import { farewell, notesFile, planOnly, scratch, slowly, tellPlan, tellStory } from './story.ts'

interface Turn {
  session: DemoSession
  prompt: string
  /** The images that came with it. */
  images: string | undefined
  client: AgentContext
  /** Stores the messages. */
  note(update: SessionUpdate): void
  /** Whether the client shows forms. */
  canAsk: boolean
  signal: AbortSignal
}

/**
 * Executes the script of the prompt, or else plays the demo. Ends early, without an error, once the signal
 * aborts.
 */
export async function runTurn(turn: Turn): Promise<void> {
  const { session, prompt, note } = turn
  note({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: prompt } })
  const script = readScript(prompt)
  try {
    if (script) await perform(turn, script)
    else if (session.mode === 'plan') await perform(turn, [{ type: 'say', text: planOnly, overMs: 600 }])
    else if (isReason(prompt)) await perform(turn, [{ type: 'say', text: 'Then I leave it as it is.', overMs: 0 }])
    else if (/\bask me\b|^\/ask\b/i.test(prompt)) await perform(turn, [{ type: 'ask', what: undefined }])
    else if (/^\W*write slowly\W*$/i.test(prompt)) await perform(turn, [slowly])
    else if (/^\W*risky\W*$/i.test(prompt)) await risk(turn)
    else if (/\bplan\b/i.test(prompt)) await perform(turn, tellPlan)
    else await story(turn)
  } catch (error) {
    if (!turn.signal.aborted) throw error
  }
}

/** A person's text with a no, or with a stop. */
function isReason(prompt: string): boolean {
  return /^I (said no to|stopped you at) “/.test(prompt)
}

async function story(turn: Turn): Promise<void> {
  if (turn.images !== undefined) await say(turn, turn.images, 300)
  const deeds = tellStory(turn.prompt, contentOf(resolve(turn.session.directory, notesFile)) ?? undefined)
  const written = await perform(turn, deeds)
  await perform(turn, [{ type: 'say', text: farewell(written), overMs: 500 }])
}

async function risk(turn: Turn): Promise<void> {
  const file = resolve(turn.session.directory, scratch.file)
  const found = contentOf(file)
  if (found !== null && found !== scratch.content) return say(turn, scratch.notOurs, 0)
  if (found === null) {
    await say(turn, scratch.first, 500)
    if (!(await write(turn, { path: scratch.file, content: scratch.content }))) return say(turn, scratch.unmade, 300)
  }
  await say(turn, scratch.before, 500)
  await say(turn, (await run(turn, { command: scratch.command })) ? scratch.gone : scratch.stays, 300)
}

/** False if someone denied one of the actions; the demo then skips the rest. */
async function perform(turn: Turn, deeds: readonly Deed[]): Promise<boolean> {
  const plan = createPlan(turn)
  for (const deed of deeds) {
    turn.signal.throwIfAborted()
    switch (deed.type) {
      case 'think':
        await think(turn, deed.text)
        break
      case 'say':
        await say(turn, deed.text, deed.overMs)
        if (deed.isStep) await plan.stepDone()
        break
      case 'many':
        await count(turn, deed)
        break
      case 'plan':
        await plan.show(deed.steps)
        break
      case 'read':
        await read(turn, deed.input)
        await plan.stepDone()
        break
      case 'write':
        if (!(await write(turn, deed.input)) && plan.isShown()) return false
        await plan.stepDone()
        break
      case 'exec':
        await run(turn, deed.input)
        await plan.stepDone()
        break
      case 'ask':
        await askPerson(turn, deed.what)
        break
      case 'look':
        await say(turn, turn.images ?? 'There is no image.', 0)
        break
      case 'fail':
        throw new RequestError(-32603, 'Internal error', { details: 'The script asked for this error.' })
      case 'die':
        console.error('The script asked the agent to die.')
        process.exit(3)
    }
  }
  return true
}

async function think(turn: Turn, text: string): Promise<void> {
  const effort = isScripted(turn) ? 'medium' : turn.session.effort
  if (effort === 'low') return
  await report(turn, { sessionUpdate: 'agent_thought_chunk', ...said(text) })
  if (effort === 'high') await report(turn, { sessionUpdate: 'agent_thought_chunk', ...said('Let me check that again, to be sure.') })
}

async function askPerson(turn: Turn, what: string | undefined): Promise<void> {
  const { client, session, canAsk } = turn
  if (!canAsk) return say(turn, 'I would ask you something, but this program cannot show questions.', 0)
  const question = asked(session.id, what)
  const response = await client.request(methods.client.elicitation.create, question)
  turn.signal.throwIfAborted()
  await say(turn, retell(response), 0)
}

function isScripted({ prompt }: Turn): boolean {
  return readScript(prompt) !== undefined
}

async function say(turn: Turn, text: string, unhurriedMs: number): Promise<void> {
  const overMs = turn.session.model === 'quick' && !isScripted(turn) ? 0 : unhurriedMs
  const { messageId } = said('')
  const words = text.match(/\s*\S+\s*/g) ?? [text]
  for (const word of words) {
    if (overMs > 0) await pause(overMs / words.length, undefined, { signal: turn.signal })
    await report(turn, { sessionUpdate: 'agent_message_chunk', messageId, content: { type: 'text', text: word } })
  }
}

/** In sequence, each at its time after the previous one. */
async function count(turn: Turn, { count, text, everyMs }: Extract<Deed, { type: 'many' }>): Promise<void> {
  for (let n = 1; n <= count; n++) {
    if (everyMs > 0) await pause(everyMs, undefined, { signal: turn.signal })
    await report(turn, { sessionUpdate: 'agent_message_chunk', ...said(`${text} ${n}`) })
  }
}

function createPlan(turn: Turn) {
  let steps: string[] = []
  let done = 0
  const show = async () => {
    const status = (index: number) => (index < done ? 'completed' : index === done ? 'in_progress' : 'pending')
    const entries = steps.map((content, index): PlanEntry => ({ content, priority: 'medium', status: status(index) }))
    await report(turn, { sessionUpdate: 'plan', entries })
  }
  return {
    isShown: () => steps.length > 0,
    async show(named: string[]) {
      steps = named
      done = 0
      await show()
    },
    async stepDone() {
      done++
      if (steps.length > 0) await show()
    }
  }
}

async function read(turn: Turn, { path = notesFile }: Record<string, string>): Promise<void> {
  const file = resolve(turn.session.directory, path)
  const step = newStep({
    title: `Read ${basename(path)}`,
    name: 'Read',
    kind: 'read',
    rawInput: { file_path: file },
    locations: [{ path: file }]
  })
  await report(turn, { sessionUpdate: 'tool_call', ...step, status: 'in_progress' })
  const content = contentOf(file)
  await finish(turn, step, content !== null, content ?? `There is no file ${path}.`)
}

async function write(turn: Turn, { path = notesFile, content = '' }: Record<string, string>): Promise<boolean> {
  const file = resolve(turn.session.directory, path)
  const oldText = contentOf(file)
  const step = newStep({
    title: `${oldText === null ? 'Write' : 'Edit'} ${basename(path)}`,
    name: oldText === null ? 'Write' : 'Edit',
    kind: 'edit',
    rawInput: { file_path: file, content },
    locations: [{ path: file }],
    content: [{ type: 'diff', path: file, oldText, newText: content }]
  })
  await report(turn, { sessionUpdate: 'tool_call', ...step })
  const allowed = turn.session.mode === 'acceptEdits' || (await ask(turn, step, 'acceptEdits'))
  if (allowed) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  await finish(turn, step, allowed)
  return allowed
}

async function run(turn: Turn, { command = '' }: Record<string, string>): Promise<boolean> {
  const step = newStep({ title: command, name: 'Bash', kind: 'execute', rawInput: { command } })
  await report(turn, { sessionUpdate: 'tool_call', ...step })
  if (!(await ask(turn, step))) {
    await finish(turn, step, false)
    return false
  }
  await report(turn, { sessionUpdate: 'tool_call_update', toolCallId: step.toolCallId, status: 'in_progress' })
  const { ok, output } = await execute(command, turn)
  await finish(turn, step, ok, output)
  return ok
}

function execute(command: string, { session, signal }: Turn): Promise<{ ok: boolean; output: string }> {
  return new Promise(resolve => {
    exec(command, { cwd: session.directory, signal, timeout: 30_000 }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: `${stdout}${stderr}`.trim() })
    })
  })
}

/** `remember` is the mode that "always" switches to. */
async function ask({ client, session, signal }: Turn, step: ToolCall, remember?: string): Promise<boolean> {
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId: session.id,
    toolCall: step,
    options: [
      { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
      ...(remember === undefined ? [] : [{ optionId: 'always', name: 'Always allow edits', kind: 'allow_always' as const }]),
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' }
    ]
  })
  signal.throwIfAborted()
  const choice = outcome.outcome === 'selected' ? outcome.optionId : 'reject'
  if (choice === 'always' && remember !== undefined) {
    session.mode = remember
    const update = { sessionUpdate: 'current_mode_update' as const, currentModeId: remember }
    await client.notify(methods.client.session.update, { sessionId: session.id, update })
  }
  // Some clients answer a rejection with an option that was not offered: only the two allowing ones count.
  return choice === 'allow' || choice === 'always'
}

async function finish(turn: Turn, step: ToolCall, ok: boolean, output?: string): Promise<void> {
  await report(turn, {
    sessionUpdate: 'tool_call_update',
    toolCallId: step.toolCallId,
    status: ok ? 'completed' : 'failed',
    ...(output !== undefined && { content: [{ type: 'content', content: { type: 'text', text: output } }] })
  })
}

async function report({ session, client, note }: Turn, update: SessionUpdate): Promise<void> {
  note(update)
  await client.notify(methods.client.session.update, { sessionId: session.id, update })
}

function newStep(about: Omit<ToolCall, 'toolCallId' | 'status'>): ToolCall {
  return { ...about, toolCallId: `step_${randomUUID().slice(0, 8)}`, status: 'pending' }
}

function said(text: string) {
  return { messageId: randomUUID(), content: { type: 'text' as const, text } }
}

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** What the demo can say about the images in a prompt: it cannot see them, but it can count. */
export function describeImages(prompt: readonly ContentBlock[]): string | undefined {
  const images = prompt.flatMap(block => (block.type === 'image' ? [describe(block.mimeType, Buffer.from(block.data, 'base64'))] : []))
  if (images.length === 0) return undefined
  return `You sent me ${images.length === 1 ? 'an image' : `${images.length} images`}: ${images.join('; ')}.`
}

function describe(mimeType: string, bytes: Buffer): string {
  const isPng = bytes.length > 24 && bytes.toString('latin1', 1, 4) === 'PNG'
  const size = isPng ? `, ${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)}` : ''
  return `${mimeType}${size}, ${bytes.length} bytes`
}
