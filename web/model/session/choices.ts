import { type ReadonlySignal, signal } from '@preact/signals'
import { hasFullAuto } from '../../../lib/client/happy/modes.ts'
import { type Cipher, callSession } from '../../../lib/client/index.ts'
import type { MessageMeta } from '../../../lib/protocol/sealed/messages.ts'
import type { SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import type { Live } from '../account/live.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { SessionFacts } from './facts.ts'
import { changeMetadata } from './metadata.ts'

/** How an agent works: mode, model, effort, and other settings that it offers. */
export type ChoiceName = 'mode' | 'model' | 'effort' | 'unanswered' | SettingName
type SettingName = `setting ${string}`

export interface AskedChoice {
  readonly code: string
  /** `rides`: the wrapper accepts it only with a message, so it is sent with the next one. */
  readonly state: 'asking' | 'failed' | 'rides'
  /** The message that it was sent with. */
  readonly saidIn?: string
}

export type AskedChoices = Readonly<Partial<Record<ChoiceName, AskedChoice>>>

interface SessionChoices {
  readonly asked: ReadonlySignal<AskedChoices>
  choose(name: ChoiceName, code: string): Promise<void>
  /** Choices to send with the next message. */
  wishes(): Partial<MessageMeta>
  /** The choices that ride were sent with the message of this local id. */
  noteSaid(localId: string): void
  /** Progress of the conversation: a choice that the agent got and did not apply by the end of its turn will not be applied. */
  noteTurns(transcript: Pick<Transcript, 'items'>, isWorking: boolean): void
  /** The current state of the session; choices that now hold are dropped. */
  noteFacts(facts: SessionFacts | undefined): void
}

export function openChoices(of: {
  id: string
  live: Pick<Live, 'socket' | 'feed' | 'cipherOf'>
  cipher(): Cipher
  facts(): SessionFacts | undefined
}): SessionChoices {
  const asked = signal<AskedChoices>({})
  const note = (name: ChoiceName, choice: AskedChoice | undefined): void => {
    const { [name]: _, ...others } = asked.peek()
    asked.value = choice === undefined ? others : { ...others, [name]: choice }
  }
  return {
    asked,
    async choose(name, code) {
      const facts = of.facts()
      const isKept = name === 'mode' && facts?.keepsMode === true
      if (!isKept && !facts?.methods?.includes(methodOf(name))) return note(name, { code, state: 'rides' })
      note(name, { code, state: 'asking' })
      const isDone = await (isKept ? keepMode(of, code) : ask(of, name, code)).then(
        () => true,
        () => false
      )
      if (asked.peek()[name]?.code === code && !isDone) note(name, { code, state: 'failed' })
    },
    wishes() {
      const riding = (name: ChoiceName) => {
        const choice = asked.peek()[name]
        return choice?.state === 'rides' ? choice.code : undefined
      }
      const [mode, model, effort] = [riding('mode'), riding('model'), riding('effort')]
      const said = of.facts()?.saysMode
      return {
        ...((mode ?? said) !== undefined && { permissionMode: mode ?? said }),
        ...(model !== undefined && { model }),
        ...(effort !== undefined && { effort })
      }
    },
    noteSaid(localId) {
      for (const name of names) {
        const choice = asked.peek()[name]
        if (choice?.state === 'rides') note(name, { ...choice, saidIn: localId })
      }
    },
    noteTurns({ items }, isWorking) {
      if (isWorking) return
      for (const name of names) {
        const choice = asked.peek()[name]
        if (choice?.state !== 'rides' || choice.saidIn === undefined) continue
        const heard = items.findLastIndex(item => item.type === 'mine' && item.localId === choice.saidIn)
        const isAnswered = heard >= 0 && items.slice(heard + 1).some(item => item.type !== 'mine')
        if (isAnswered) note(name, { code: choice.code, state: 'failed' })
      }
    },
    noteFacts(facts) {
      if (facts === undefined) return
      const holds = (name: ChoiceName, code: string | undefined) => {
        // Not subscribed: a change made here would trigger itself.
        const choice = asked.peek()[name]
        if (choice !== undefined && choice.code === code) note(name, undefined)
      }
      for (const name of names) holds(name, facts[name])
      for (const { id, current } of facts.settings) holds(settingName(id), current)
    }
  }
}

const names = ['mode', 'model', 'effort', 'unanswered'] as const
const methods = { mode: 'setMode', model: 'setModel', effort: 'setEffort', unanswered: 'setUnanswered' } as const
const ofSetting = 'setting '

export function settingName(id: string): SettingName {
  return `${ofSetting}${id}`
}

function methodOf(name: ChoiceName): string {
  return name.startsWith(ofSetting) ? 'setSetting' : methods[name as Exclude<ChoiceName, SettingName>]
}

async function ask({ live, cipher, id }: Parameters<typeof openChoices>[0], name: ChoiceName, code: string): Promise<unknown> {
  switch (name) {
    case 'mode':
      return callSession(live.socket, cipher(), id, 'setMode', { mode: code })
    case 'model':
      return callSession(live.socket, cipher(), id, 'setModel', { model: code })
    case 'effort':
      return callSession(live.socket, cipher(), id, 'setEffort', { effort: code })
    case 'unanswered':
      return callSession(live.socket, cipher(), id, 'setUnanswered', {
        denyAfterMinutes: JSON.parse(code)
      })
    default:
      return callSession(live.socket, cipher(), id, 'setSetting', { setting: name.slice(ofSetting.length), value: code })
  }
}

/** Full auto ends with its agent, and a resumed one asks first. Rejects if that could not be stored. */
export async function endFullAuto(
  live: Pick<Live, 'feed' | 'socket' | 'cipherOf'>,
  id: string,
  metadata: SessionMetadata | null | undefined
): Promise<void> {
  if (metadata && hasFullAuto(metadata)) await keepMode({ live, id }, 'default')
}

function keepMode({ live, id }: { live: Pick<Live, 'feed' | 'socket' | 'cipherOf'>; id: string }, code: string): Promise<void> {
  return changeMetadata(live, id, metadata => ({ ...metadata, permissionMode: code }))
}
