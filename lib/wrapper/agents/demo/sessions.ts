import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RequestError, type SessionUpdate } from '@agentclientprotocol/sdk'
import * as v from '../../../schema.ts'
import { type Choices, firstChoices } from './options.ts'

/** One conversation with the demo agent. `history` is what `session/load` replays. */
export interface DemoSession extends Choices {
  id: string
  directory: string
  history: SessionUpdate[]
}

interface DemoSessions {
  create(directory: string): DemoSession
  /** Also one of an earlier process; throws the protocol's "not found". */
  find(id: string): DemoSession
  /** A second one with the same history. Throws like `find`. */
  copy(id: string): DemoSession
  save(session: DemoSession): void
  /** Adds it to the history, where it stays even if this process is killed before the next `save`. */
  note(session: DemoSession, update: SessionUpdate): void
}

/** Conversations are stored as files, so that a later process can load or resume them. */
export function openSessions(folder: string): DemoSessions {
  const open = new Map<string, DemoSession>()
  const fileOf = (id: string) => join(folder, `${id.replace(/[^\w-]/g, '')}.json`)
  const save = (session: DemoSession) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Readers always find a complete file, even after this process was killed while writing.
    const next = `${fileOf(session.id)}.next`
    writeFileSync(next, JSON.stringify(session), { mode: 0o600 })
    renameSync(next, fileOf(session.id))
    rmSync(newestOf(fileOf(session.id)), { force: true })
  }
  const add = (session: DemoSession) => {
    open.set(session.id, session)
    save(session)
    return session
  }
  const find = (id: string) => {
    const session = open.get(id) ?? read(fileOf(id))
    if (!session) throw RequestError.sessionNotFound(id)
    open.set(id, session)
    return session
  }
  return {
    create: directory => add({ id: randomUUID(), directory, mode: 'default', ...firstChoices, history: [] }),
    find,
    note(session, update) {
      // The position, so that saved entries are not read as new ones. The line end comes first, so that an
      // entry after half a line is on its own line.
      appendFileSync(newestOf(fileOf(session.id)), `\n${JSON.stringify([session.history.length, update])}`, { mode: 0o600 })
      session.history.push(update)
    },
    copy: id => add({ ...structuredClone(find(id)), id: randomUUID() }),
    save
  }
}

const update = v.custom<SessionUpdate>(value => typeof value === 'object' && value !== null && 'sessionUpdate' in value)
const kept = v.object({
  id: v.string(),
  directory: v.string(),
  mode: v.string(),
  model: v.optional(v.string(), firstChoices.model),
  effort: v.optional(v.string(), firstChoices.effort),
  history: v.array(update)
})

const noted = v.tuple([v.number(), update])

/** Messages since the last `save`. */
function newestOf(file: string): string {
  return file.replace(/json$/, 'newest')
}

function read(file: string): DemoSession | undefined {
  try {
    // First: whatever is missing from it is then in the other.
    const lines = existsSync(newestOf(file)) ? readFileSync(newestOf(file), 'utf8').split('\n') : []
    const session = v.parse(kept, JSON.parse(readFileSync(file, 'utf8')))
    for (const [at, update] of lines.flatMap(readLine)) session.history[at] = update
    return session
  } catch {
    return undefined
  }
}

/** A crash, or a full disk, may leave half of one. */
function readLine(line: string): v.InferOutput<typeof noted>[] {
  try {
    return [v.parse(noted, JSON.parse(line))]
  } catch {
    return []
  }
}
