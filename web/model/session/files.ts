import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../../core/device-db.ts'
import type { photoWaitsFor, WaitsFor } from '../../core/low-data.ts'
import type { Live } from '../account/live.ts'
import { type Upload, unfinishedUploads } from '../outbox/uploads.ts'
import { type Attached, isPicture } from './attachment.ts'
import { readPicked, type Unfit } from './picked-file.ts'

/** A file for the draft. */
export interface Attaching {
  readonly key: string
  readonly name: string
  readonly size: number
  /** `sent` of 1. `failed` with `away`: it can be retried. */
  readonly state:
    | { readonly type: 'reading' }
    | { readonly type: 'waits'; readonly for: WaitsFor }
    | { readonly type: 'uploading'; readonly sent: number }
    | { readonly type: 'ready'; readonly file: Attached }
    | { readonly type: 'failed'; readonly why: Unfit | 'away' }
  /** The preview, if there is one before the upload. */
  readonly preview?: string | undefined
}

export interface SessionFiles {
  /** In the order in which they were chosen. */
  readonly chosen: ReadonlySignal<readonly Attaching[]>
  choose(files: readonly File[]): void
  remove(key: string): void
  /** Uploads one that waits anyway. */
  goNow(key: string): void
  tryAgain(key: string): void
  /** Removes the uploaded ones, for a message that is sent now, and those that failed permanently, which were reported. */
  take(): readonly Attached[]
  /** Adds files uploaded before, such as those of a message being edited. */
  offer(files: readonly Attached[]): void
  /** A blob: URL of a picture of this session; rejects if it is unavailable. */
  show(file: Attached): Promise<string>
  close(): void
}

/** `waitsFor`: the condition a file waits for; without it none waits. */
export function openFiles({
  id,
  live,
  waitsFor = () => undefined
}: {
  id: string
  live: Pick<Live, 'files'>
  waitsFor?: typeof photoWaitsFor
}): SessionFiles {
  const chosen = signal<readonly Attaching[]>([])
  const draftName = `draft-files.${id}`
  const uploads = new Map<string, Upload>()
  const unfinished = unfinishedUploads(id)
  const underWay = new Map<string, AbortController>()
  const shown = new Map<string, Promise<string>>()
  const addresses: string[] = []
  let isClosed = false

  const change = (key: string, to: Partial<Attaching>): void => {
    chosen.value = chosen.peek().map(each => (each.key === key ? { ...each, ...to } : each))
  }
  const ready = () => chosen.peek().flatMap(({ state }) => (state.type === 'ready' ? [state.file] : []))
  const keep = (): void => {
    const files = ready()
    void deviceDb()
      .then(db => (files.length === 0 ? db.remove(draftName) : db.write(draftName, files)))
      .catch(() => {})
  }
  const addressOf = (bytes: Uint8Array<ArrayBuffer>, type: string): string => {
    const address = URL.createObjectURL(new Blob([bytes], { type }))
    addresses.push(address)
    return address
  }
  const forget = (key: string): void => {
    uploads.delete(key)
    void unfinished.drop(key)
  }
  const upload = async ({ key, sealed, ref: begun, ...about }: Upload): Promise<void> => {
    const end = new AbortController()
    underWay.set(key, end)
    change(key, { state: { type: 'uploading', sent: 0 } })
    try {
      const onProgress = (sent: number, total: number) => change(key, { state: { type: 'uploading', sent: sent / total } })
      const onBegun = (ref: string) => {
        uploads.set(key, { key, sealed, ref, ...about })
        return unfinished.noteRef(key, ref)
      }
      const ref = await live.files.upload(id, sealed, { onProgress, onBegun, begun, signal: end.signal })
      change(key, { state: { type: 'ready', file: { ref, seal: live.files.sealOf(sealed), ...about } } })
      keep()
      forget(key)
    } catch {
      change(key, { state: { type: 'failed', why: 'away' } })
    } finally {
      underWay.delete(key)
    }
  }
  const take = async (key: string, file: File): Promise<void> => {
    const picked = await readPicked(file)
    if (!chosen.peek().some(each => each.key === key)) return
    if (typeof picked === 'string') return change(key, { state: { type: 'failed', why: picked } })
    const { name, mimeType, bytes, image } = picked
    const preview = isPicture(picked) ? addressOf(picked.bytes, picked.mimeType) : undefined
    change(key, { name: picked.name, size: picked.bytes.length, preview })
    const going: Upload = { key, name, size: bytes.length, mimeType, image, sealed: live.files.seal(id, bytes) }
    uploads.set(key, going)
    await unfinished.keep(going)
    // Removed in the meantime.
    if (!uploads.has(key)) return forget(key)
    const cause = waitsFor(going)
    if (cause === undefined) await upload(going)
    else change(key, { state: { type: 'waits', for: cause } })
  }
  const offer = (files: readonly Attached[]): void => {
    const known = new Set(ready().map(({ ref }) => ref))
    const news = files.filter(({ ref }) => !known.has(ref))
    const added = news.map(file => ({ key: file.ref, name: file.name, size: file.size, state: { type: 'ready' as const, file } }))
    chosen.value = [...chosen.peek(), ...added]
    keep()
  }
  const go = (key: string): void => {
    const going = uploads.get(key)
    if (going !== undefined && !underWay.has(key)) void upload(going)
  }
  void deviceDb()
    .then(db => db.read(draftName))
    .then(kept => Array.isArray(kept) && kept.length > 0 && offer(kept.filter(isAttached)))
    .catch(() => {})

  // They resume where they were when the app was closed.
  void unfinished.read().then(left => {
    for (const going of left) {
      if (uploads.has(going.key) || isClosed) continue
      uploads.set(going.key, going)
      // A started upload continues: it was permitted then.
      const cause = going.ref === undefined ? waitsFor(going) : undefined
      const state = cause === undefined ? { type: 'uploading' as const, sent: 0 } : { type: 'waits' as const, for: cause }
      chosen.value = [...chosen.peek(), { key: going.key, name: going.name, size: going.size, state }]
      if (cause === undefined) void upload(going)
    }
  })
  const unwait = effect(() => {
    for (const { key, state } of chosen.value) {
      const going = state.type === 'waits' ? uploads.get(key) : undefined
      if (going === undefined || state.type !== 'waits') continue
      const cause = waitsFor(going)
      if (cause === undefined) void upload(going)
      else if (cause !== state.for) change(key, { state: { type: 'waits', for: cause } })
    }
  })

  return {
    chosen,
    choose(files) {
      const added = files.map(file => ({
        key: crypto.randomUUID(),
        name: file.name,
        size: file.size,
        state: { type: 'reading' as const },
        file
      }))
      chosen.value = [...chosen.peek(), ...added.map(({ file: _, ...attaching }) => attaching)]
      for (const { key, file } of added) void take(key, file)
    },
    remove(key) {
      chosen.value = chosen.peek().filter(each => each.key !== key)
      underWay.get(key)?.abort()
      forget(key)
      keep()
    },
    goNow: go,
    tryAgain: go,
    take() {
      const files = ready()
      chosen.value = chosen.peek().filter(({ state }) => state.type !== 'ready' && (state.type !== 'failed' || state.why === 'away'))
      keep()
      return files
    },
    offer,
    show(file) {
      const known = shown.get(file.ref)
      if (known !== undefined) return known
      const showing = live.files.download(id, file).then(bytes => addressOf(bytes, file.mimeType ?? ''))
      shown.set(file.ref, showing)
      // A download that failed offline may be requested again.
      showing.catch(() => shown.delete(file.ref))
      return showing
    },
    close() {
      isClosed = true
      unwait()
      for (const end of underWay.values()) end.abort()
      for (const address of addresses) URL.revokeObjectURL(address)
    }
  }
}

// Only this file writes the entry, and it is sealed.
function isAttached(value: unknown): value is Attached {
  return typeof value === 'object' && value !== null && 'ref' in value && 'name' in value
}
