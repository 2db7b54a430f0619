import type { AgentEvent, Modes, Options } from '../agent.ts'
import { findMode } from '../modes.ts'
import type { Line } from './server.ts'
import type { Model, ThreadSettings } from './shapes.ts'

/**
 * The settings of Codex in a thread: mode, model, and reasoning level. Reported on every change, from
 * either screen.
 */
export interface Settings {
  readonly mode: string
  /** The thread's initial settings. */
  began(with_: { model: string | undefined; effort: string | undefined }): void
  /** A choice made here or at the terminal. */
  changed(settings: ThreadSettings): void
  /** Applies all of it to a thread. */
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
  const emitMode = (now: string) => {
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
      emitMode(modeAt(settings))
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
      emitMode(id)
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

/** How a mode of ours is set in Codex. In each of them a person answers requests, never a second model. */
interface CodexMode {
  id: string
  name: string
  description: string
  approvalPolicy: 'untrusted' | 'on-request' | 'never'
  sandbox: 'read-only' | 'workspace-write' | 'danger-full-access'
  collaboration: 'default' | 'plan'
}

const modes: readonly CodexMode[] = [
  {
    id: 'default',
    name: 'Ask first',
    description: 'Asks before it edits, and before commands that may change something.',
    approvalPolicy: 'untrusted',
    sandbox: 'workspace-write',
    collaboration: 'default'
  },
  {
    id: 'acceptEdits',
    name: 'Edit freely',
    description: 'Edits and runs commands in its folder; asks for more.',
    approvalPolicy: 'on-request',
    sandbox: 'workspace-write',
    collaboration: 'default'
  },
  {
    id: 'plan',
    name: 'Plan only',
    description: 'Reads, asks and plans.',
    approvalPolicy: 'on-request',
    sandbox: 'read-only',
    collaboration: 'plan'
  },
  {
    id: 'bypassPermissions',
    name: 'Full auto',
    description: 'Asks nothing and may do anything.',
    approvalPolicy: 'never',
    sandbox: 'danger-full-access',
    collaboration: 'default'
  }
]

const sandboxTypes = { 'read-only': 'readOnly', 'workspace-write': 'workspaceWrite', 'danger-full-access': 'dangerFullAccess' } as const

export function modesAt(current: string): Modes {
  const available = modes.map(({ id, name, description }) => ({ id, name, description }))
  const isKnown = available.some(({ id }) => id === current)
  return { current, available: isKnown ? available : [...available, { id: current, name: nameOf(current), description: undefined }] }
}

/** How every thread starts, before its mode is set: nothing is changed unless a person says yes. */
export const cautious = { approvalPolicy: 'on-request', sandbox: 'read-only', approvalsReviewer: 'user' } as const

/** For an existing thread. In `cautious` terms if the mode asks first and Codex rejects the others. */
function changeTo(id: string, { model, effort }: { model: string | undefined; effort: string | undefined }, isCautious = false): object {
  const mode = modeOf(id)
  const { approvalPolicy, sandbox } = isCautious && asksFirst(mode) ? cautious : mode
  const type = sandboxTypes[sandbox]
  const settings = { model, reasoning_effort: effort ?? null, developer_instructions: null }
  return {
    approvalPolicy,
    approvalsReviewer: 'user',
    sandboxPolicy:
      type === 'workspaceWrite'
        ? { type, writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false }
        : type === 'readOnly'
          ? { type, networkAccess: false }
          : { type },
    ...(model !== undefined && { collaborationMode: { mode: mode.collaboration, settings } })
  }
}

/** The mode of these settings; settings made at the terminal may match none of ours. */
function modeAt({ approvalPolicy, approvalsReviewer, sandboxPolicy, collaborationMode }: ThreadSettings): string {
  if (approvalsReviewer && approvalsReviewer !== 'user') return 'auto'
  if (collaborationMode?.mode === 'plan') return 'plan'
  if (approvalPolicy === cautious.approvalPolicy && sandboxPolicy.type === sandboxTypes[cautious.sandbox]) return 'default'
  const same = modes.find(
    mode => mode.approvalPolicy === approvalPolicy && sandboxTypes[mode.sandbox] === sandboxPolicy.type && mode.id !== 'plan'
  )
  return same?.id ?? 'custom'
}

function asksFirst({ id }: CodexMode): boolean {
  return id === 'default'
}

function modeOf(id: string): CodexMode {
  const found = modes.find(mode => mode.id === id) ?? modes[0]
  if (!found) throw new TypeError('there is a first mode')
  return found
}

function nameOf(id: string): string {
  return id === 'auto' ? 'A second model decides' : 'As set at the terminal'
}
