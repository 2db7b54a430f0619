import { methods } from '@agentclientprotocol/sdk'
import type { OpenedSession } from './acp-messages.ts'
import type { AgentEvent, Options } from './agent.ts'

export type OptionKind = 'mode' | 'model' | 'effort'

/** A choice of the agent's with the request, but for its session, that makes it another. */
interface Kept {
  options: Options
  request(value: string): { method: string; params: Record<string, string> }
}

/** What of an ACP agent can be chosen. Agents tell it as configuration options, in older ways, or in both at once. */
export function createOptions(emit: (event: AgentEvent) => void) {
  let kept: All = {}
  let told = ''
  let isOpen = false

  const tell = () => {
    isOpen = true
    const { model, effort } = kept
    const now = JSON.stringify([model?.options, effort?.options])
    if (told !== now && (model || effort || told !== '')) {
      told = now
      emit({ type: 'options', models: model?.options, efforts: effort?.options })
    }
  }

  return {
    of: (kind: OptionKind): Options | undefined => kept[kind]?.options,

    request: (kind: OptionKind, value: string) => kept[kind]?.request(value),

    /** From now on also whatever changes. */
    tell,

    /** The agent told what can be chosen now; what it leaves out stays, but for what it tells as configuration options. */
    take(opened: OpenedSession): void {
      const before = kept
      kept = { ...kept, ...keptOf(opened, kept) }
      if (kept.mode && before.mode && kept.mode.options.current !== before.mode.options.current) {
        emit({ type: 'modes', modes: kept.mode.options })
      }
      if (isOpen) tell()
    },

    /** The agent took this choice. */
    note(kind: OptionKind, current: string): void {
      const known = kept[kind]
      if (!known || known.options.current === current) return
      kept = { ...kept, [kind]: { ...known, options: { ...known.options, current } } }
      if (kind === 'mode') emit({ type: 'modes', modes: { ...known.options, current } })
      else tell()
    }
  }
}

type All = { [Kind in OptionKind]?: Kept | undefined }

function keptOf({ modes, models, configOptions }: OpenedSession, before: All): All {
  return {
    ...(models && { model: modelsOf(models) }),
    ...(configOptions && {
      model: selectOf(configOptions, ({ category }) => category === 'model') ?? (models ? modelsOf(models) : before.model),
      effort:
        selectOf(configOptions, ({ category }) => category === 'thought_level') ??
        selectOf(configOptions, ({ category, id }) => category === 'model_config' && /effort|reason|think|thought/i.test(id)),
      mode: selectOf(configOptions, ({ category }) => category === 'mode') ?? before.mode
    }),
    // Where both are told, these are the ones that other programs have always used.
    ...(modes && { mode: modesOf(modes) })
  }
}

function modesOf({ currentModeId, availableModes }: NonNullable<OpenedSession['modes']>): Kept {
  const available = availableModes.map(({ id, name, description }) => ({ id, name, description: description ?? undefined }))
  return {
    options: { current: currentModeId, available },
    request: modeId => ({ method: methods.agent.session.setMode, params: { modeId } })
  }
}

// Of versions of the protocol before there were configuration options.
function modelsOf({ currentModelId, availableModels }: NonNullable<OpenedSession['models']>): Kept {
  const available = availableModels.map(({ modelId, name, description }) => ({ id: modelId, name, description: description ?? undefined }))
  return {
    options: { current: currentModelId, available },
    request: modelId => ({ method: 'session/set_model', params: { modelId } })
  }
}

type ConfigOption = NonNullable<OpenedSession['configOptions']>[number]

function selectOf(configOptions: readonly ConfigOption[], isIt: (option: ConfigOption) => boolean): Kept | undefined {
  const option = configOptions.find(option => option.options && typeof option.currentValue === 'string' && isIt(option))
  if (!option?.options || typeof option.currentValue !== 'string') return undefined
  const { id: configId, currentValue: current } = option
  const available = option.options
    .flatMap(entry => ('options' in entry ? entry.options : [entry]))
    .map(({ value, name, description }) => ({ id: value, name, description: description ?? undefined }))
  return {
    options: { current, available },
    request: value => ({ method: methods.agent.session.setConfigOption, params: { configId, value } })
  }
}
