import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readRow } from '../agents/claude/transcript/rows.ts'
import { configFolder } from '../agents/claude/transcript/transcript.ts'
import { beganAt, nameOf } from '../home/processes.ts'
import { type Beginning, type FiledHistory, headOf, parse, type Saying } from './history.ts'

type Env = Readonly<Record<string, string>>

/** The conversations that Claude Code wrote down. */
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

const placed = z.looseObject({ cwd: z.string() })

/** Undefined when nobody said anything in it. */
export function claudeBeginning(file: string): Beginning | undefined {
  let folder: string | undefined
  let title: string | undefined
  for (const line of headOf(file)) {
    folder ??= placed.safeParse(parse(line)).data?.cwd
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

const live = z.looseObject({ pid: z.int(), sessionId: z.string() })

/** Those that Claude Code has open at a terminal, with its process. */
export function openInClaude(env: Env): Map<string, number> {
  const folder = join(configFolder(env), 'sessions')
  if (!existsSync(folder)) return new Map()
  const open = readdirSync(folder).flatMap(name => {
    const file = join(folder, name)
    const { data } = live.safeParse(parse(readFileSync(file, 'utf8')))
    return data && isWriter(data.pid, file) ? [[data.sessionId, data.pid] as const] : []
  })
  return new Map(open)
}

/** After a restart of the computer its id may be another program's, which began only after the file was written. */
function isWriter(pid: number, file: string): boolean {
  if (nameOf(pid) === undefined) return false
  const began = beganAt(pid)
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs
  return began === undefined || written === undefined || began < written + clockMayDifferMs
}

const clockMayDifferMs = 60_000
