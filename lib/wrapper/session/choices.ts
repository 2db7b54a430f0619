import type { MessageMeta } from '../../protocol/sealed/messages.ts'
import type { SessionMetadata } from '../../protocol/sealed/session.ts'
import type { Agent, Options } from '../agents/agent.ts'

type Kind = 'model' | 'effort'

/** The model and effort of an agent, as picked by a person. */
export interface Choices {
  /** The options that the agent offers now. */
  follow(offered: { models: Options | undefined; efforts: Options | undefined }): void
  /** Applies the choices of a message: omitted ones stay as they are, and null restores the initial one. */
  apply(meta: MessageMeta | undefined): Promise<void>
  /** Throws, with a sentence for the person who chose. */
  choose(kind: Kind, id: string): Promise<void>
}

export function createChoices(options: {
  agent: Pick<Agent, 'setModel' | 'setEffort'>
  publish(change: (metadata: SessionMetadata) => SessionMetadata): void
  tell(sentence: string): Promise<void>
}): Choices {
  const { agent, publish, tell } = options
  const now: Partial<Record<Kind, Options>> = {}
  const first: Partial<Record<Kind, string>> = {}
  /** Choices that the agent applies later. */
  const wished: Partial<Record<Kind, string>> = {}

  const set = async (kind: Kind, id: string) => (await (kind === 'model' ? agent.setModel?.(id) : agent.setEffort?.(id))) ?? false

  const apply = async (kind: Kind, wish: string | null | undefined) => {
    if (wish === undefined) return
    const has = (id: string) => now[kind]?.available.some(option => option.id === id)
    // Some existing apps send it where others send null.
    const id = wish === null || (wish === 'default' && !has(wish)) ? first[kind] : wish
    if (id === undefined || id === (wished[kind] ?? now[kind]?.current)) return
    const isSet = await set(kind, id)
    if (isSet === false) await tell(`The agent has no ${words[kind]} ${id}; nothing was changed.`)
    if (isSet !== 'later') return
    wished[kind] = id
    await tell(later(kind))
  }

  return {
    follow({ models, efforts }) {
      delete wished.model
      delete wished.effort
      if (models) now.model = models
      else delete now.model
      if (efforts) now.effort = efforts
      else delete now.effort
      if (models) first.model ??= models.current
      if (efforts) first.effort ??= efforts.current
      publish(metadata => ({
        ...metadata,
        models: codesOf(models),
        currentModelCode: models?.current,
        thoughtLevels: codesOf(efforts),
        currentThoughtLevelCode: efforts?.current
      }))
    },
    async apply(meta) {
      await apply('model', meta?.model)
      await apply('effort', meta?.effort)
    },
    async choose(kind, id) {
      const isSet = await set(kind, id)
      if (isSet === false) throw new Error(`The agent has no such ${words[kind]}.`)
      if (isSet === 'later') throw new Error(later(kind))
    }
  }
}

const later = (kind: Kind) =>
  `While the agent uses its own screen, its ${words[kind]} is chosen there. Your choice applies once your phone takes over.`
const words = { model: 'model', effort: 'effort level' }

/** The options in the format of the apps. */
export function codesOf(options: Options | undefined): SessionMetadata['models'] {
  return options?.available.map(({ id, name, description }) => ({ code: id, value: name, description: description ?? null }))
}
