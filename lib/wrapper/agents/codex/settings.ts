import type { AgentEvent, Options } from '../agent.ts'
import { findMode } from '../modes.ts'
import type { Line } from './line.ts'
import { changeTo, modeAt, modesAt } from './modes.ts'
import type { Model, ThreadSettings } from './shapes.ts'

/** How Codex works in a thread: its mode, its model, and how long it thinks. Told whenever it changes, at whichever screen. */
export interface Settings {
  readonly mode: string
  /** What the thread began with. */
  began(with_: { model: string | undefined; effort: string | undefined }): void
  /** What somebody set, here or at the terminal. */
  changed(settings: ThreadSettings): void
  /** Sets all of it in a thread. */
  apply(thread: string): Promise<void>
  setMode(thread: string, wish: string): Promise<boolean>
  setModel(thread: string, model: string): Promise<boolean>
  setEffort(thread: string, effort: string): Promise<boolean>
}

export function createSettings(deps: {
  emit(event: AgentEvent): void
  line: Pick<Line, 'request'>
  models: readonly Model[]
  mode: string
}): Settings {
  const { emit, line, models } = deps
  let { mode } = deps
  let model: string | undefined
  let effort: string | undefined

  const tellOptions = () => emit({ type: 'options', models: modelsAt(models, model), efforts: effortsAt(models, model, effort) })
  const toldMode = (now: string) => {
    if (now === mode) return
    mode = now
    emit({ type: 'modes', modes: modesAt(mode) })
  }
  const update = async (thread: string, changes: object) => {
    try {
      await line.request('thread/settings/update', { threadId: thread, ...changes })
      return true
    } catch {
      return false
    }
  }

  const setAll = async (thread: string, id: string) => {
    const isSet = await update(thread, changeTo(id, { model, effort }))
    return isSet || (await update(thread, changeTo(id, { model, effort }, true)))
  }

  return {
    get mode() {
      return mode
    },
    began(with_) {
      model = with_.model
      effort = with_.effort
      emit({ type: 'modes', modes: modesAt(mode) })
      tellOptions()
    },
    changed(settings) {
      toldMode(modeAt(settings))
      if (settings.model === model && settings.effort === effort) return
      model = settings.model ?? model
      effort = settings.effort ?? undefined
      tellOptions()
    },
    async apply(thread) {
      await setAll(thread, mode)
    },
    async setMode(thread, wish) {
      const id = findMode(modesAt(mode), wish)
      if (id === undefined || !(await setAll(thread, id))) return false
      toldMode(id)
      return true
    },
    async setModel(thread, id) {
      if (!models.some(known => known.model === id) || !(await update(thread, { model: id }))) return false
      if (model === id) return true
      model = id
      tellOptions()
      return true
    },
    async setEffort(thread, id) {
      if (!effortsAt(models, model, effort)?.available.some(known => known.id === id)) return false
      if (!(await update(thread, { effort: id }))) return false
      if (effort === id) return true
      effort = id
      tellOptions()
      return true
    }
  }
}

function modelsAt(models: readonly Model[], current: string | undefined): Options | undefined {
  if (current === undefined) return undefined
  const shown = models.filter(({ hidden, model }) => !hidden || model === current)
  const available = shown.map(({ model, displayName, description }) => ({
    id: model,
    name: displayName,
    description: description ?? undefined
  }))
  const isKnown = available.some(({ id }) => id === current)
  return { current, available: isKnown ? available : [...available, { id: current, name: current, description: undefined }] }
}

function effortsAt(models: readonly Model[], current: string | undefined, effort: string | undefined): Options | undefined {
  const model = models.find(({ model }) => model === current)
  const now = effort ?? model?.defaultReasoningEffort ?? undefined
  if (!model || now === undefined || model.supportedReasoningEfforts.length === 0) return undefined
  const available = model.supportedReasoningEfforts.map(({ reasoningEffort, description }) => ({
    id: reasoningEffort,
    name: reasoningEffort.replace(/^./, letter => letter.toUpperCase()),
    description: description ?? undefined
  }))
  return { current: now, available }
}
