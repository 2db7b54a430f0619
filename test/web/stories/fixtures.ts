import {
  messageBody,
  type SessionEvent,
  type StepContent,
  type StepKind,
  type StepStatus,
  type Usage
} from '../../../lib/protocol/sealed/messages.ts'
import type { SealFault } from '../../../lib/protocol/sealed/sealed-for.ts'
import * as v from '../../../lib/schema.ts'
import { type Attached, fileEvent } from '../../../web/model/session/attachment.ts'
import type { KnownMessage } from '../../../web/model/transcript/message.ts'
import { addMessages, emptyTranscript, type Transcript } from '../../../web/model/transcript/transcript.ts'

export interface StepStart {
  kind: StepKind
  args: Record<string, unknown>
  name?: string
  title?: string
  call?: string
  locations?: string[]
  content?: StepContent[]
}

interface StepEnd {
  status?: StepStatus
  content?: StepContent[]
}

const started = Date.now() - 9 * 60_000

/** A transcript being built: each call adds a message, `after` seconds later than the last. */
export function tell() {
  const messages: KnownMessage[] = []
  let at = started
  let calls = 0
  let turn = 'turn0'
  let subagent: string | undefined
  const add = (body: unknown, localId: string | null = null): void => {
    const seq = messages.length + 1
    messages.push({ seq, localId, at, body: v.parse(messageBody, body) })
  }
  const event = (ev: SessionEvent, usage?: Usage): void => {
    add({
      role: 'session',
      content: { id: `e${messages.length}`, time: at, role: 'agent', turn, ...(subagent && { subagent }), ...(usage && { usage }), ev }
    })
  }
  const story = {
    wait(seconds: number) {
      at += seconds * 1000
      return story
    },
    mine(text: string, sentFrom = 'web') {
      add({ role: 'user', content: { type: 'text', text }, meta: { sentFrom } }, `local${messages.length}`)
      return story
    },
    /** A file before the text that it belongs to. */
    attach(file: Attached) {
      add({ role: 'session', content: { id: `f${messages.length}`, time: at, role: 'user', ev: fileEvent(file) } })
      return story
    },
    withdrawn(text: string) {
      story.mine(text)
      add({
        role: 'session',
        content: { id: `w${messages.length}`, time: at, role: 'user', ev: { t: 'withdraw', localId: messages.at(-1)?.localId } }
      })
      return story
    },
    turn() {
      turn = `turn${messages.length}`
      event({ t: 'turn-start' })
      return story
    },
    end(status: 'completed' | 'failed' | 'cancelled' = 'completed', usage?: Usage) {
      event({ t: 'turn-end', status }, usage)
      return story
    },
    say(text: string, usage?: Usage) {
      event({ t: 'text', text }, usage)
      return story
    },
    think(text: string) {
      event({ t: 'text', text, thinking: true })
      return story
    },
    /** The events that `tell` adds come from a subagent. */
    by(id: string, title: string, tell: () => void) {
      subagent = id
      event({ t: 'start', title })
      tell()
      event({ t: 'stop' })
      subagent = undefined
      return story
    },
    plan(...entries: [string, 'pending' | 'in_progress' | 'completed'][]) {
      event({ t: 'plan', entries: entries.map(([content, status]) => ({ content, status })) })
      return story
    },
    /** Ends after `seconds`; undefined leaves it running. */
    step(start: StepStart, seconds?: number, end: StepEnd = { status: 'completed' }) {
      const call = start.call ?? `call${calls++}`
      event({ name: 'Tool', title: '', description: '', ...start, t: 'tool-call-start', call })
      if (seconds === undefined) return story
      at += seconds * 1000
      event({ ...end, t: 'tool-call-end', call })
      return story
    },
    old(content: unknown) {
      add({ role: 'agent', content })
      return story
    },
    /** A fault that the machine found in the messages it received. */
    fault(type: SealFault['type'], count = 1) {
      event({ t: 'service', text: type, fault: { type, count } })
      return story
    },
    /** A message with this number of one sender. */
    mineAs(number: number, text: string) {
      const sealedBy = { sender: 'this tab', number }
      add({ role: 'user', content: { type: 'text', text }, meta: { sentFrom: 'web', sealedBy } }, `local${messages.length}`)
      return story
    },
    closed(count: number) {
      for (let i = 0; i < count; i++) messages.push({ seq: messages.length + 1, localId: null, at, body: undefined, closed: 'unreadable' })
      return story
    },
    messages(): readonly KnownMessage[] {
      return messages
    },
    done(): Transcript {
      return addMessages(emptyTranscript, messages)
    }
  }
  return story
}

export const callback = {
  path: '/home/mira/work/orchard-api/src/auth/callback.ts',
  oldText:
    "import { redirect } from '../http'\n\nexport async function handleCallback(req: Request) {\n  const state = await readState(req);\n  return redirect('/home');\n}\n",
  newText:
    "import { redirect } from '../http'\n\nexport async function handleCallback(req: Request) {\n  const state = await readState(req);\n  const target = safeReturnPath(state.returnTo);\n  return redirect(target ?? '/home');\n}\n"
}

export const folder = '/home/mira/work/orchard-api'
