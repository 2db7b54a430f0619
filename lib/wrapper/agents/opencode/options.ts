import type { AgentEvent, Modes, Options } from '../agent.ts'
import { findMode, noSuchMode } from '../modes.ts'
import type { AgentList, Message, Providers } from './shapes.ts'

/** The part that a prompt contains. */
export interface Chosen {
  agent: string
  model?: { providerID: string; modelID: string }
  variant?: string
}

/** Its agents as modes, its models, and their reasoning levels. Choices at its own screen apply here too. */
export interface OpencodeChoices {
  readonly chosen: Chosen
  /** In this mode a person need not be asked about edits. */
  readonly editsFreely: boolean
  setMode(wish: string): boolean
  /** Sets the initial one, and reports it if unavailable. */
  beginIn(wish: string | undefined): void
  setModel(model: string): boolean
  setEffort(effort: string): boolean
  /** The context size of a model. */
  roomOf(model: { providerID?: string | undefined; modelID?: string | undefined }): number | undefined
  /** A person wrote at the screen, with this agent and this model. */
  follow(message: Message): void
  tell(): void
}

// opencode has no agent for it: its own asks, and we say yes.
const freely = 'acceptEdits'

export function createOptions(deps: {
  agents: AgentList
  providers: Providers
  first: string | undefined
  model: string | undefined
  emit(event: AgentEvent): void
}) {
  const { agents, providers, emit } = deps
  const primary = agents.filter(({ mode, hidden }) => mode !== 'subagent' && !hidden)
  const first =
    primary.find(({ name }) => name === deps.first)?.name ?? primary.find(({ name }) => name === 'build')?.name ?? primary[0]?.name
  let mode = first ?? 'build'
  let model = deps.model
  // Until someone chose, opencode itself knows best.
  let isChosen = false
  let effort: string | undefined

  const modes = (): Modes => ({
    current: mode,
    available: [
      ...primary.map(({ name, description }) => ({ id: name, name: name.charAt(0).toUpperCase() + name.slice(1), description })),
      { id: freely, name: 'Edit freely', description: `As ${first ?? 'build'}, without a question before each edit.` }
    ]
  })
  const known = providers.providers.flatMap(provider =>
    Object.entries(provider.models).map(([id, about]) => ({ ...about, id: `${provider.id}/${id}`, provider, modelID: id }))
  )
  const modelNow = () => known.find(({ id }) => id === model)
  const models = (): Options | undefined =>
    model === undefined || !modelNow()
      ? undefined
      : {
          current: model,
          available: known.map(({ id, name, provider }) => ({ id, name: name || id, description: provider.name || undefined }))
        }
  const efforts = (): Options | undefined => {
    const names = Object.keys(modelNow()?.variants ?? {})
    if (names.length === 0) return undefined
    return { current: effort ?? 'default', available: ['default', ...names].map(id => ({ id, name: id, description: undefined })) }
  }
  const tellModels = () => emit({ type: 'options', models: models(), efforts: efforts() })

  const options: OpencodeChoices = {
    get chosen() {
      const now = modelNow()
      return {
        agent: mode === freely ? (first ?? 'build') : mode,
        ...(now && isChosen && { model: { providerID: now.provider.id, modelID: now.modelID } }),
        ...(effort !== undefined && { variant: effort })
      }
    },
    get editsFreely() {
      return mode === freely
    },
    setMode(wish) {
      const id = findMode(modes(), wish) ?? (wish === 'default' ? first : undefined)
      if (id === undefined) return false
      if (id !== mode) {
        mode = id
        emit({ type: 'modes', modes: modes() })
      }
      return true
    },
    beginIn(wish) {
      if (wish !== undefined) options.setMode(wish)
      const text = noSuchMode('opencode', modes(), wish)
      if (text !== undefined) emit({ type: 'notice', text })
    },
    setModel(id) {
      if (!known.some(model => model.id === id)) return false
      isChosen = true
      if (model === id) return true
      effort = undefined
      model = id
      tellModels()
      return true
    },
    setEffort(id) {
      if (!efforts()?.available.some(effort => effort.id === id)) return false
      effort = id === 'default' ? undefined : id
      tellModels()
      return true
    },
    roomOf: ({ providerID, modelID }) => known.find(({ id }) => id === `${providerID}/${modelID}`)?.limit?.context,
    follow({ agent, model: named }) {
      // An agent with a name that means a mode elsewhere, such as “safe-yolo”, is no wish for that mode.
      const isOther = agent !== options.chosen.agent && primary.some(({ name }) => name === agent)
      if (agent !== undefined && isOther) options.setMode(agent)
      if (named) options.setModel(`${named.providerID}/${named.modelID}`)
    },
    tell() {
      emit({ type: 'modes', modes: modes() })
      if (known.length > 0) tellModels()
    }
  }
  return options
}
