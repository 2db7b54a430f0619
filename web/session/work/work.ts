import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { CallFailed, type CallFailureReason } from '../../../lib/client/index.ts'
import type { ChangedFile, GitDiff, GitStatus } from '../../../lib/protocol/sealed/calls/git.ts'
import type { SessionModel } from '../../model/session/session.ts'
import { readCache, type StatusTold, type WorkCache, writeCache } from './cache.ts'
import { type DiffAsked, openWorkCalls, type WorkCalls, type WorkSources } from './calls.ts'
import { openComments, type WorkComments } from './diff/comments.ts'

/** The folder of a session for its screens: the changes, and the actions on them. */
export interface Work {
  readonly id: string
  readonly calls: WorkCalls
  /** Undefined until loaded once, from the machine or this device's storage. */
  readonly status: ReadonlySignal<StatusTold | undefined>
  /** Why the last refresh failed. */
  readonly trouble: ReadonlySignal<WorkTrouble | undefined>
  readonly isReading: ReadonlySignal<boolean>
  /** The session is reachable, so actions are possible. */
  readonly isHere: ReadonlySignal<boolean>
  /** `shell`: a wrapper that supports only commands; it can list changes, nothing else. */
  readonly ability: ReadonlySignal<'whole' | 'shell'>
  refresh(): Promise<void>
  /** Both sides of a change; cached if it did not change since. */
  diff(file: ChangedFile, load?: boolean): Promise<GitDiff>
  /** Files marked as viewed, with their mark at that time. */
  readonly viewed: ReadonlySignal<ReadonlyMap<string, string>>
  setViewed(file: ChangedFile, isViewed: boolean): void
  readonly comments: WorkComments
  /** Unsaved text of a file, by its path. */
  readonly edits: Map<string, string>
  close(): void
}

export interface WorkTrouble {
  readonly why: CallFailureReason
  readonly says: string
}

/** The minimum interval for refreshing the folder while an agent works. */
const restMs = 5000

export function openWork(sources: WorkSources & { model: SessionModel; isLinked: ReadonlySignal<boolean> }): Work {
  const { id, model } = sources
  const calls = openWorkCalls(sources)
  const status = signal<StatusTold | undefined>(undefined)
  const trouble = signal<WorkTrouble | undefined>(undefined)
  const isReading = signal(false)
  const isHere = signal(false)
  const ability = signal<'whole' | 'shell'>('shell')
  const viewed = signal<ReadonlyMap<string, string>>(new Map())
  const diffs = new Map<string, GitDiff>()
  let isClosed = false

  const kept = (): WorkCache => ({ status: status.peek(), diffs, viewed: viewed.peek() })
  const restored = readCache(id).then(({ status: known, diffs: knownDiffs, viewed: seen }) => {
    if (isClosed) return
    status.value ??= known
    for (const [key, diff] of knownDiffs) if (!diffs.has(key)) diffs.set(key, diff)
    viewed.value = new Map([...seen, ...viewed.peek()])
  })

  const readStatus = async (): Promise<void> => {
    try {
      const value = await calls.status()
      status.value = { value, at: Date.now() }
      trouble.value = undefined
      await restored
      viewed.value = stillViewed(viewed.peek(), value)
      void writeCache(id, kept())
    } catch (error) {
      trouble.value = workTroubleOf(error)
    }
  }
  let reading: Promise<void> | undefined
  let isDue = false
  // A request made while it was loading may not be covered by the result: then it is loaded again.
  const readWhileDue = async (): Promise<void> => {
    isReading.value = true
    for (isDue = true; isDue && !isClosed; ) {
      isDue = false
      await readStatus()
    }
    isReading.value = false
    reading = undefined
  }
  const refresh = (): Promise<void> => {
    isDue = true
    reading ??= readWhileDue()
    return reading
  }

  let timer: ReturnType<typeof setTimeout> | undefined
  let lastAt = Number.NEGATIVE_INFINITY
  const refreshSoon = (): void => {
    if (timer !== undefined) return
    timer = setTimeout(
      () => {
        timer = undefined
        if (document.visibilityState !== 'visible') return
        lastAt = performance.now()
        void refresh()
      },
      Math.max(0, lastAt + restMs - performance.now())
    )
  }
  // Initially, after each action of the agent, and when it becomes idle.
  const unfollow = effect(() => {
    const facts = model.facts.value
    isHere.value = facts?.presence === 'here' && sources.isLinked.value && model.feed.value !== 'deleted'
    void model.transcript.value.messages.length
    void model.isWorking.value
    ability.value = sources.methods()?.includes('gitStatus') === true ? 'whole' : 'shell'
    if (isHere.value) refreshSoon()
  })

  return {
    id,
    calls,
    status,
    trouble,
    isReading,
    isHere,
    ability,
    refresh,
    async diff(file, load = false) {
      await restored
      const key = keyOf(file, load)
      const known = diffs.get(key)
      if (known !== undefined && (file.mark !== undefined || !isHere.peek())) return known
      if (!isHere.peek()) throw new CallFailed('away', '')
      const asked: DiffAsked = { path: file.path, from: file.from, load }
      const diff = await calls.diff(asked)
      diffs.set(key, diff)
      void writeCache(id, kept())
      return diff
    },
    viewed,
    setViewed(file, isViewed) {
      const next = new Map(viewed.peek())
      if (isViewed) next.set(file.path, markOf(file))
      else next.delete(file.path)
      viewed.value = next
      void writeCache(id, kept())
    },
    comments: openComments(id, model.texts),
    edits: new Map(),
    close() {
      isClosed = true
      clearTimeout(timer)
      unfollow()
    }
  }
}

/** Changes when the file looks different; for wrappers without marks, derived from the line counts. */
export function markOf({ mark, letter, added, removed }: ChangedFile): string {
  return mark ?? `${letter}.${added}.${removed}`
}

export function workTroubleOf(error: unknown): WorkTrouble {
  return error instanceof CallFailed ? { why: error.reason, says: error.message } : { why: 'unreadable', says: String(error) }
}

function keyOf(file: ChangedFile, load: boolean): string {
  return `${file.path}\0${markOf(file)}${load ? '\0load' : ''}`
}

// The viewed mark applies to the version seen, not to later ones.
function stillViewed(viewed: ReadonlyMap<string, string>, status: GitStatus): ReadonlyMap<string, string> {
  if (!status.isRepository) return new Map()
  const marks = new Map(status.files.map(file => [file.path, markOf(file)]))
  return new Map([...viewed].filter(([path, mark]) => marks.get(path) === mark))
}
