import { type Clock, systemClock } from '../../../async/clock.ts'
import { createPartialTeller } from '../../../client/outbox/partials.ts'
import { newEnvelope, newId, newSessionMessage, readyEvent } from '../../../client/sealed/messages.ts'
import type { Envelope, MessageBody, PartialBody, PartialFrame, SessionEvent } from '../../../protocol/sealed/messages.ts'
import type { AgentEvent, Step } from '../../agents/agent.ts'
import { idOfRow, planStep } from '../../uplink/outbox.ts'

type NarratedEvent = Extract<
  AgentEvent,
  {
    type:
      | 'text-grew'
      | 'text'
      | 'step-started'
      | 'step-updated'
      | 'step-ended'
      | 'subagent-started'
      | 'subagent-stopped'
      | 'plan'
      | 'usage'
      | 'notice'
      | 'turn-ended'
      | 'retrying'
  }
>

/** Bytes sent alongside the messages. */
export interface SentFile {
  type: 'file'
  file: { ref: string; seal?: string; name: string; size: number; mimeType: string }
  row?: string | undefined
  subagent?: string | undefined
}

/** Turns the agent's events into messages of its session. */
export interface Narrator {
  /** Resolves to the id of the turn once its start is stored; `row` is the id of its prompt, if any. */
  beginTurn(of?: { row?: string | undefined; name?: string }): Promise<string>
  /** Resolves when everything so far is stored; otherwise a step waits until its arguments are complete. */
  settle(): Promise<void>
  /** Resolves when the event is stored; growing text is forwarded and not stored. */
  tell(event: NarratedEvent | SentFile): Promise<void>
  /** A step that waits for an answer must be on screen with it. */
  showStep(step: Step): Promise<void>
  /** A device opened the session: growing text is sent to it in full. */
  showAgain(): void
  /** A message about the session itself, from Afield. */
  say(text: string): Promise<void>
}

export function createNarrator(deps: {
  /** A message with a `localId` is stored once, however often it is put. */
  put(body: MessageBody, localId?: string): Promise<void>
  /** False if it was not sent: then it is shown again, unless something newer replaces it. */
  showPartial(frame: PartialFrame): boolean
  clock?: Clock
}): Narrator {
  const { put, clock = systemClock } = deps
  let turn: string | undefined
  let usage: Envelope['usage']
  let lastText: string | undefined
  const idOfBlock = new Map<string, string>()
  // A step is sent once, so only after the agent has written its arguments: when it asks, runs on, or pauses, and within a second.
  const pendingSteps = new Map<string, { step: Step; row: string | undefined; subagent: string | undefined; since: number }>()
  let settling = () => {}
  let growing: string | undefined
  const diffsOfCall = new Map<string, string>()
  const partials = throttle(deps.showPartial, clock)

  // Output without its own id gets one from its turn and text, so that rereading it yields the same id.
  const timesSent = new Map<string, number>()
  const nameOf = (ev: SessionEvent, by = ''): string | undefined => {
    const words = saidBy(ev)
    if (words === undefined) return undefined
    const said = `${by} ${words}`
    const times = (timesSent.get(said) ?? 0) + 1
    timesSent.set(said, times)
    return `${turn} ${said} ${times}`
  }

  const tell = (
    ev: SessionEvent,
    { row, subagent, ...about }: { id?: string; usage?: Envelope['usage']; row?: string | undefined; subagent?: string | undefined } = {}
  ) => {
    turn ??= newId()
    const helper = subagent === undefined ? {} : { subagent: idOfRow(`subagent ${subagent}`) }
    const name = row ?? nameOf(ev, subagent)
    return put(
      newSessionMessage({ ...newEnvelope(ev, { role: 'agent', turn, ...helper }), ...about }),
      name === undefined ? undefined : idOfRow(name)
    )
  }

  const idOf = (block: string) => {
    const id = idOfBlock.get(block) ?? newId()
    idOfBlock.set(block, id)
    return id
  }

  const showStep = async (step: Step) => {
    const known = pendingSteps.get(step.call)
    if (!pendingSteps.delete(step.call)) return
    diffsOfCall.set(step.call, diffsOf(step))
    await tell(startOf(step), { row: known?.row, subagent: known?.subagent })
  }

  /** Growing text that was never completed: devices remove it. */
  const withdraw = () => {
    partials.drop()
    if (growing === undefined || turn === undefined) return
    const gone = { turn, block: idOf(growing), text: '', thinking: false }
    if (!deps.showPartial(gone)) partials.show(gone)
    growing = undefined
  }

  const renew = (step: Step) => {
    const known = pendingSteps.get(step.call)
    if (known) pendingSteps.set(step.call, { ...known, step })
  }

  /** Diffs can be large, and the first ones stay on screen. */
  const newContent = (step: Step) => {
    const isKnown = diffsOfCall.get(step.call) === diffsOf(step)
    return isKnown ? step.content.filter(({ type }) => type !== 'diff') : step.content
  }

  // Each update may still be an argument, but a command with continuous output must not stay hidden until it ends.
  const showSoon = () => {
    settling()
    const [oldest] = pendingSteps.values()
    if (!oldest) return
    const leftMs = oldest.since + heldAtMostMs - clock.now()
    settling = clock.after(Math.max(0, Math.min(settledAfterMs, leftMs)), () => void showAll())
  }

  const showAll = async () => {
    for (const { step } of [...pendingSteps.values()]) await showStep(step)
  }

  return {
    settle: showAll,
    async beginTurn({ row, name } = {}) {
      turn = name ?? (row === undefined ? newId() : idOfRow(`turn ${row}`))
      usage = undefined
      lastText = undefined
      idOfBlock.clear()
      diffsOfCall.clear()
      timesSent.clear()
      await tell({ t: 'turn-start' }, { row: `${turn} begins` })
      return turn
    },

    async tell(event) {
      switch (event.type) {
        case 'text-grew': {
          turn ??= newId()
          if (growing !== event.block) withdraw()
          growing = event.block
          partials.show({ turn, block: idOf(event.block), text: event.text, thinking: event.thinking })
          return
        }
        case 'retrying':
          return withdraw()
        case 'text':
          if (growing === event.block) growing = undefined
          partials.drop()
          await showAll()
          lastText = event.text.trim()
          return tell(
            {
              t: 'text',
              text: event.text,
              ...(event.thinking && { thinking: true }),
              ...((event.isCut || event.isStopped) && { cut: true })
            },
            {
              id: idOf(event.block),
              row: event.row,
              subagent: event.subagent
            }
          )
        case 'step-started':
        case 'step-updated':
          if (event.type === 'step-started')
            pendingSteps.set(event.step.call, { step: event.step, row: event.row, subagent: event.subagent, since: clock.now() })
          else renew(event.step)
          return showSoon()
        case 'step-ended':
          await showStep(event.step)
          return tell(
            { t: 'tool-call-end', call: event.step.call, status: event.status, content: newContent(event.step) },
            { row: event.row, subagent: event.subagent }
          )
        case 'subagent-started':
          await showAll()
          return tell(
            { t: 'start', ...(event.title !== undefined && { title: event.title }) },
            { row: event.row, subagent: event.subagent }
          )
        case 'subagent-stopped':
          await showAll()
          return tell({ t: 'stop' }, { row: event.row, subagent: event.subagent })
        case 'file':
          return tell({ t: 'file', ...event.file }, { row: event.row, subagent: event.subagent })
        case 'plan': {
          turn ??= newId()
          const name = event.row ?? nameOf({ t: 'plan', entries: event.entries }) ?? newId()
          const { start, end } = planStep(idOfRow(name), event.entries)
          await tell(start, { row: name })
          return tell(end, { row: `${name} ends` })
        }
        case 'usage':
          usage = { input_tokens: event.used, output_tokens: 0, context_window: event.size, ...(event.cost && { cost: { ...event.cost } }) }
          return
        case 'notice':
          return tell({ t: 'service', text: event.text })
        case 'turn-ended': {
          growing = undefined
          partials.drop()
          await showAll()
          turn ??= newId()
          // Some agents also report the error as their last text.
          if (event.reason === 'failed' && !(lastText && event.error.includes(lastText)))
            await tell({ t: 'service', text: event.error }, { row: `${turn} failed` })
          const status = event.reason === 'done' ? 'completed' : event.reason
          // A process that finds this turn open after a crash ends it again.
          await tell({ t: 'turn-end', status }, { ...(usage && { usage }), row: `${turn} ends` })
          return put(readyEvent(), idOfRow(`${turn} is ready`))
        }
      }
    },

    showStep,

    showAgain: () => partials.showAgain(),
    say: text => tell({ t: 'service', text })
  }
}

/** The same key for streamed and recorded output. None for messages of Afield. */
function saidBy(ev: SessionEvent): string | undefined {
  switch (ev.t) {
    case 'text':
      return `${ev.thinking ? 'thinks' : 'says'} ${ev.text.replace(/\s+/g, '')}`
    case 'tool-call-start':
      return `${ev.call} begins`
    case 'tool-call-end':
      return `${ev.call} ends`
    case 'plan':
      return `plans ${ev.entries.map(({ content, status }) => `${status} ${content}`).join('\n')}`
    default:
      return undefined
  }
}

const partialEveryMs = 250
const settledAfterMs = 400
const heldAtMostMs = 1000

function diffsOf({ content }: Step): string {
  return JSON.stringify(content.filter(({ type }) => type === 'diff'))
}

function startOf({ call, name, title, kind, input, locations, content }: Step): SessionEvent {
  const description = locations.join(', ') || title
  return { t: 'tool-call-start', call, name, title, description, args: input, kind, locations, content }
}

/** Sends the latest frame, at most a few times a second. */
function throttle(show: (frame: PartialFrame) => boolean, clock: Clock) {
  const teller = createPartialTeller(show, clock)
  let growing: PartialBody | undefined
  let next: PartialBody | undefined
  let isWaiting = false
  const turn = () => {
    isWaiting = next !== undefined
    if (!next) return
    // Otherwise devices would miss the last frame of an agent that pauses.
    if (teller.tell(next)) next = undefined
    clock.after(partialEveryMs, turn)
  }
  return {
    show(partial: PartialBody): void {
      growing = partial
      next = partial
      if (!isWaiting) turn()
    },
    showAgain(): void {
      if (!growing) return
      teller.startOver()
      this.show(growing)
    },
    drop(): void {
      growing = undefined
      next = undefined
    }
  }
}
