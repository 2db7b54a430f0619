import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RewindPoint } from '../../protocol/sealed/calls/machine-work.ts'
import * as v from '../../schema.ts'
import { readRow } from '../agents/claude/transcript/rows.ts'
import { configFolder } from '../agents/claude/transcript/transcript.ts'
import { writePrivateFile } from '../home/private-files.ts'
import { beganAt, nameOf } from '../home/processes.ts'
import { type Beginning, type FiledHistory, headOf, type Saying } from './history.ts'

type Env = Readonly<Record<string, string>>

/** Claude Code's recorded conversations. */
export function claudeHistories(env: Env): FiledHistory[] {
  const projects = join(configFolder(env), 'projects')
  if (!existsSync(projects)) return []
  return readdirSync(projects, { withFileTypes: true }).flatMap(project => {
    if (!project.isDirectory()) return []
    const folder = join(projects, project.name)
    return readdirSync(folder).flatMap(name => {
      const id = /^([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1]
      const file = join(folder, name)
      const stats = id === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
      return id === undefined || !stats ? [] : [{ agent: 'claude' as const, id, file, at: stats.mtimeMs }]
    })
  })
}

const placed = v.looseObject({ cwd: v.string() })

/** Undefined for a conversation without messages. */
export function claudeBeginning(file: string): Beginning | undefined {
  let folder: string | undefined
  let title: string | undefined
  for (const line of headOf(file)) {
    folder ??= v.safeParse(placed, v.jsonOf(line)).data?.cwd
    title ??= claudeSayings(line).find(({ by }) => by === 'person')?.text
    if (folder !== undefined && title !== undefined) return { title, folder }
  }
  return title === undefined || folder === undefined ? undefined : { title, folder }
}

export function claudeSayings(line: string): Saying[] {
  return readRow(line, 0).flatMap(row => {
    if (row.type !== 'block' || row.block.type !== 'text') return []
    return [{ by: row.by === 'user' ? ('person' as const) : ('agent' as const), text: row.block.text }]
  })
}

const live = v.looseObject({ pid: v.int(), sessionId: v.string() })

/** Those that Claude Code has open at a terminal, with its process. */
export function openInClaude(env: Env): Map<string, number> {
  const folder = join(configFolder(env), 'sessions')
  if (!existsSync(folder)) return new Map()
  const open = readdirSync(folder).flatMap(name => {
    const file = join(folder, name)
    const { data } = v.safeParse(live, v.jsonOf(readFileSync(file, 'utf8')))
    return data && isWriter(data.pid, file) ? [[data.sessionId, data.pid] as const] : []
  })
  return new Map(open)
}

/** After a reboot its id may be another program's, which started only after the file was written. */
function isWriter(pid: number, file: string): boolean {
  if (nameOf(pid) === undefined) return false
  const began = beganAt(pid)
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return began === undefined || written === undefined || began < written + clockMayDifferMs
}

const clockMayDifferMs = 60_000

/** The file of a conversation. Throws, with a sentence for the phone, if there is none. */
export function findClaudeHistory(env: Env, id: string): FiledHistory {
  const found = claudeHistories(env).find(history => history.id === id)
  if (!found) throw new Error('Claude Code has no such conversation on this computer.')
  return found
}

const row = v.looseObject({ type: v.optional(v.string()), uuid: v.optional(v.string()), timestamp: v.optional(v.string()) })

/** The person's messages, in order: a fork keeps the turn that starts with one of these. */
export function rewindPoints({ file }: FiledHistory): RewindPoint[] {
  return linesOf(file).flatMap(line => {
    const text = promptIn(line)
    const { uuid, timestamp } = v.safeParse(row, v.jsonOf(line)).data ?? {}
    return text === undefined || uuid === undefined ? [] : [{ uuid, text, timestamp: Date.parse(timestamp ?? '') || 0 }]
  })
}

/**
 * Copies a conversation under a new id, which Claude Code can continue like any other; with `at` only up to
 * the end of the turn that starts there. The copy is complete or does not exist.
 */
export function forkClaude({ file }: FiledHistory, at?: string): string {
  const lines = linesOf(file)
  const end = at === undefined ? lines.length : endOfTurn(lines, at)
  const id = randomUUID()
  const copied = lines.slice(0, end).map(line => withSession(line, id))
  writePrivateFile(join(dirname(file), `${id}.jsonl`), `${copied.join('\n')}\n`)
  return id
}

function endOfTurn(lines: readonly string[], at: string): number {
  const begin = lines.findIndex(line => v.safeParse(row, v.jsonOf(line)).data?.uuid === at)
  if (begin < 0) throw new Error('This message is no longer in the conversation.')
  const next = lines.findIndex((line, index) => index > begin && promptIn(line) !== undefined)
  return next < 0 ? lines.length : next
}

function promptIn(line: string): string | undefined {
  // Messages during a turn belong to that turn.
  if (v.safeParse(row, v.jsonOf(line)).data?.type !== 'user') return undefined
  for (const said of readRow(line, 0)) if (said.type === 'block' && said.by === 'user' && said.block.type === 'text') return said.block.text
  return undefined
}

function withSession(line: string, id: string): string {
  const value = v.jsonOf(line)
  if (typeof value !== 'object' || value === null || !('sessionId' in value)) return line
  return JSON.stringify({ ...value, sessionId: id })
}

/** Complete lines: a last one without its end is still being written. */
function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}
