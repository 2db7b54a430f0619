import { methods } from '@agentclientprotocol/sdk'
import * as v from '../../../schema.ts'
import type { AgentEvent, Options, Setting } from '../agent.ts'
import { type OpenedSession, openedSession } from './messages.ts'
import { isGone } from './server.ts'

type OptionKind = 'mode' | 'model' | 'effort'

/** The request that changes a choice, without its session. */
interface OptionRequest {
  method: string
  params: Record<string, string | boolean>
}

/** A choice of the agent with the request that changes it. */
interface Kept {
  options: Options
  request(value: string): OptionRequest
}

/** The choices of an ACP agent. Agents list them as configuration options, in older formats, or both. */
export function createOptions(emit: (event: AgentEvent) => void) {
  let kept: All = {}
  let settings: readonly Setting[] = []
  let emitted = ''
  let emittedSettings = '[]'
  let isOpen = false

  const tell = () => {
    isOpen = true
    const { model, effort } = kept
    const now = JSON.stringify([model?.options, effort?.options])
    if (emitted !== now && (model || effort || emitted !== '')) {
      emitted = now
      emit({ type: 'options', models: model?.options, efforts: effort?.options })
    }
    if (emittedSettings === JSON.stringify(settings)) return
    emittedSettings = JSON.stringify(settings)
    emit({ type: 'settings', settings: [...settings] })
  }

  return {
    of: (kind: OptionKind): Options | undefined => kept[kind]?.options,

    /** The current ones. */
    get chosen(): { [Kind in OptionKind]?: string | undefined } & { settings: readonly (readonly [id: string, value: string])[] } {
      const now = (kind: OptionKind) => kept[kind]?.options.current
      return { mode: now('mode'), model: now('model'), effort: now('effort'), settings: settings.map(({ id, current }) => [id, current]) }
    },

    /** Undefined if there is no such choice. */
    request: (kind: OptionKind, value: string): OptionRequest | undefined =>
      kept[kind]?.options.available.some(({ id }) => id === value) ? kept[kind].request(value) : undefined,

    settingRequest(id: string, value: string): OptionRequest | undefined {
      const setting = settings.find(setting => setting.id === id)
      if (!setting?.available.some(({ id }) => id === value)) return undefined
      const params = setting.isSwitch ? { configId: id, type: 'boolean', value: value === 'true' } : { configId: id, value }
      return { method: methods.agent.session.setConfigOption, params }
    },

    noteSetting(id: string, current: string): void {
      settings = settings.map(setting => (setting.id === id ? { ...setting, current } : setting))
      tell()
    },

    /** From now on also on every change. */
    tell,

    /** The agent listed its choices; omitted ones stay, unless it listed them as configuration options. */
    take(opened: OpenedSession): void {
      const before = kept
      kept = { ...kept, ...keptOf(opened, kept) }
      if (opened.configOptions) settings = settingsOf(opened.configOptions)
      if (kept.mode && before.mode && kept.mode.options.current !== before.mode.options.current) {
        emit({ type: 'modes', modes: kept.mode.options })
      }
      if (isOpen) tell()
    },

    /** The agent accepted this choice. */
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
      model: selectOf(modelIn(configOptions)) ?? (models ? modelsOf(models) : before.model),
      effort: selectOf(effortIn(configOptions)),
      mode: selectOf(configOptions.find(isSelect('mode'))) ?? before.mode
    }),
    // If both are listed, these are the ones that other programs have always used.
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

// Of protocol versions before configuration options.
function modelsOf({ currentModelId, availableModels }: NonNullable<OpenedSession['models']>): Kept {
  const available = availableModels.map(({ modelId, name, description }) => ({ id: modelId, name, description: description ?? undefined }))
  return {
    options: { current: currentModelId, available },
    request: modelId => ({ method: 'session/set_model', params: { modelId } })
  }
}

type ConfigOption = NonNullable<OpenedSession['configOptions']>[number]

const isSelect = (ofCategory: string) => (option: ConfigOption) => option.category === ofCategory && selectOf(option) !== undefined

function modelIn(configOptions: readonly ConfigOption[]): ConfigOption | undefined {
  return configOptions.find(isSelect('model'))
}

function effortIn(configOptions: readonly ConfigOption[]): ConfigOption | undefined {
  const isEffort = isSelect('model_config')
  return (
    configOptions.find(isSelect('thought_level')) ??
    configOptions.find(option => isEffort(option) && /effort|reason|think|thought/i.test(option.id))
  )
}

function selectOf(option: ConfigOption | undefined): Kept | undefined {
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

/** Everything without a place of its own. Unknown kinds are left out. */
function settingsOf(configOptions: readonly ConfigOption[]): Setting[] {
  const own = [modelIn(configOptions), effortIn(configOptions)]
  return configOptions
    .filter(option => !own.includes(option) && option.category !== 'mode')
    .flatMap((option): Setting[] => {
      const { id, type, currentValue } = option
      const about = { id, name: option.name ?? id, description: option.description ?? undefined }
      if (type === 'boolean' && typeof currentValue === 'boolean') {
        return [{ ...about, isSwitch: true, current: String(currentValue), available: onOff }]
      }
      const select = type === 'select' || type == null ? selectOf(option) : undefined
      return select ? [{ ...about, isSwitch: false, ...select.options }] : []
    })
}

const onOff = [
  { id: 'true', name: 'On', description: undefined },
  { id: 'false', name: 'Off', description: undefined }
]

type KnownOptions = ReturnType<typeof createOptions>

/** Changes the choices of an ACP agent. */
export function createOptionChanges({
  options,
  ask,
  openAgain
}: {
  options: KnownOptions
  ask(request: OptionRequest): Promise<unknown>
  /** The agent no longer knows its conversation. Resolves to whether it has it again. */
  openAgain(): Promise<boolean>
}) {
  const set = async (request: OptionRequest): Promise<true> => {
    const { data } = v.safeParse(openedSession, await ask(request))
    // Another model may have other reasoning levels.
    if (data) options.take(data)
    return true
  }
  const trySet = async (request: OptionRequest | undefined, note: () => void): Promise<boolean> => {
    if (!request) return false
    const isSet = await set(request).catch(async error => isGone(error) && (await openAgain()) && (await set(request).catch(() => false)))
    if (isSet) note()
    return isSet
  }
  /** Set even if it is reported as current: an agent may start in another than it reports. */
  const choose = (kind: OptionKind, id: string) => trySet(options.request(kind, id), () => options.note(kind, id))
  const chooseSetting = (id: string, value: string) => trySet(options.settingRequest(id, value), () => options.noteSetting(id, value))

  return {
    choose,
    chooseSetting,

    /** Requested even if already current: an agent may only notice then that its program has ended. */
    async isGone(): Promise<boolean> {
      const mode = options.of('mode')?.current
      const request = mode === undefined ? undefined : options.request('mode', mode)
      return request !== undefined && (await set(request).then(() => false, isGone))
    },

    /** As chosen before, except the mode. */
    async restore({ model, effort, settings }: KnownOptions['chosen']): Promise<void> {
      if (model !== undefined) await choose('model', model)
      if (effort !== undefined) await choose('effort', effort)
      for (const [id, value] of settings) await chooseSetting(id, value)
    }
  }
}
