import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RequestError, type SessionUpdate } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import { firstChoices } from './choices.ts'

/** One conversation with the demo agent. `history` is what `session/load` tells again. */
export interface DemoSession {
  id: string
  directory: string
  mode: string
  model: string
  effort: string
  history: SessionUpdate[]
}

export interface DemoSessions {
  create(directory: string): DemoSession
  /** Also one of an earlier process; throws the protocol's "not found". */
  find(id: string): DemoSession
  /** A second one with the same past. Throws like `find`. */
  copy(id: string): DemoSession
  save(session: DemoSession): void
}

/** Conversations are kept as files, so that a later process can load or resume them. */
export function openSessions(folder: string): DemoSessions {
  const open = new Map<string, DemoSession>()
  const fileOf = (id: string) => join(folder, `${id.replace(/[^\w-]/g, '')}.json`)
  const save = (session: DemoSession) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(fileOf(session.id), JSON.stringify(session), { mode: 0o600 })
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
    copy: id => add({ ...structuredClone(find(id)), id: randomUUID() }),
    save
  }
}

const update = z.custom<SessionUpdate>(value => typeof value === 'object' && value !== null && 'sessionUpdate' in value)
const kept = z.object({
  id: z.string(),
  directory: z.string(),
  mode: z.string(),
  model: z.string().default(firstChoices.model),
  effort: z.string().default(firstChoices.effort),
  history: z.array(update)
})

function read(file: string): DemoSession | undefined {
  try {
    return kept.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}
