import type { ReadonlySignal } from '@preact/signals'
import type { ServerLink } from '../account/server-link.ts'
import { hasDaemon } from '../machines.ts'
import type { AskedStart, sendFirstMessage, startSession } from '../start-and-stop.ts'
import type { MachineView } from '../store.ts'
import type { EntryState, Kind } from './durable-queue.ts'

/** A session to start once its machine is online. */
export interface WaitingStart {
  readonly key: string
  readonly kind: 'start'
  readonly machine: string
  /** The display name of the agent. */
  readonly agent: string
  readonly asked: AskedStart
  /** The first message; may be empty. */
  readonly text: string
  readonly at: number
  readonly state: EntryState
}

export interface StartSources {
  readonly link: Pick<ServerLink, 'socket' | 'feed' | 'cipherOf' | 'cipherOfMachine' | 'outbox'>
  readonly machines: ReadonlySignal<ReadonlyMap<string, MachineView>>
  readonly begin: typeof startSession
  readonly say: typeof sendFirstMessage
}

export function newStart(given: Pick<WaitingStart, 'machine' | 'agent' | 'asked' | 'text'>): WaitingStart {
  return { ...given, kind: 'start', key: crypto.randomUUID(), at: Date.now(), state: { type: 'queued' } }
}

/** Only queued ones start automatically: for one already requested, it is unknown here whether it was done. */
export function starts({ link, machines, begin, say }: StartSources): Kind<WaitingStart> {
  return {
    keepsFailed: true,
    mayLeave({ machine }) {
      const known = machines.value.get(machine)
      return known && hasDaemon(known) ? 0 : Number.POSITIVE_INFINITY
    },
    async send({ machine, asked, text }) {
      const outcome = await begin(link, machine, asked)
      if (outcome.type === 'wants-folder') return { type: 'wants-folder' }
      if (outcome.type === 'failed') return outcome
      await say(link, outcome.id, text, asked)
      return undefined
    },
    // The app was closed between the call and its answer.
    asLeft: start => ({ ...start, state: { type: 'failed', why: 'no-answer', says: '' } })
  }
}

/** Changes the first message, unless it is starting. */
export const startSaying =
  (text: string) =>
  (start: WaitingStart): WaitingStart =>
    start.state.type === 'sending' ? start : { ...start, text }

/** Back into the queue, as one that did not start. */
export const startAgain =
  (mayMakeFolder = false) =>
  (start: WaitingStart): WaitingStart => ({ ...start, asked: { ...start.asked, mayMakeFolder }, state: { type: 'queued' } })
