import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as v from '../../schema.ts'
import { findOpencode } from '../agents/programs.ts'
import type { History, Saying, ToldHistory } from './history.ts'

type Env = Readonly<Record<string, string>>

interface OpencodeHistories {
  list(): Promise<readonly ToldHistory[]>
  /** Messages with all the words, latest first. Rejects if opencode cannot search. */
  search(words: readonly string[]): Promise<(Pick<History, 'id'> & Saying)[]>
}

/**
 * opencode stores all its conversations in one database, which its own program reads; queried again only
 * after a write.
 */
export function openOpencodeHistories(env: Env): OpencodeHistories {
  let known: { state: string; histories: readonly ToldHistory[] } | undefined
  return {
    async list() {
      const state = stateOfDatabase(env)
      if (state === '') return []
      if (known?.state === state) return known.histories
      // Another version may store them differently: then none are shown, and nothing else is affected.
      const histories = await ask(env, everyConversation, conversation).catch(() => [])
      known = {
        state,
        histories: histories.map(({ id, at, title, folder }) => ({ agent: 'opencode', id, at, beginning: { title, folder } }))
      }
      return known.histories
    },
    search: async words => (stateOfDatabase(env) === '' ? [] : ask(env, sayingsWith(words), saying))
  }
}

const conversation = v.object({ id: v.string(), at: v.number(), title: v.string(), folder: v.string() })
const saying = v.pipe(
  v.object({ id: v.string(), role: v.string(), text: v.string() }),
  v.transform(({ id, role, text }) => ({ id, by: role === 'user' ? ('person' as const) : ('agent' as const), text }))
)

const mostListed = 3_000
const mostFound = 500

// Without those of subagents, and without empty ones.
const everyConversation = `select id, time_updated as at, title, directory as folder from session
  where parent_id is null and time_archived is null and exists (select 1 from message where session_id = session.id)
  order by time_updated desc limit ${mostListed}`

function sayingsWith(words: readonly string[]): string {
  // Its `lower` only handles ASCII, and text is stored as JSON: the caller compares the rest.
  const comparable = words.filter(word => /^[ -~]+$/.test(word) && !/["\\]/.test(word))
  const hasWords = comparable.map(word => `and instr(lower(part.data), '${word.replaceAll("'", "''")}') > 0`)
  return `select part.session_id as id, json_extract(message.data, '$.role') as role, json_extract(part.data, '$.text') as text
    from part join message on message.id = part.message_id
    where json_extract(part.data, '$.type') = 'text' ${hasWords.join(' ')} order by part.time_created desc limit ${mostFound}`
}

/** Changes with every write; empty if there is no database. */
function stateOfDatabase(env: Env): string {
  const file = join(env['XDG_DATA_HOME'] || join(env['HOME'] ?? '', '.local', 'share'), 'opencode', 'opencode.db')
  const stats = [file, `${file}-wal`].map(each => statSync(each, { throwIfNoEntry: false }))
  return stats[0] ? stats.map(each => `${each?.size} ${each?.mtimeMs}`).join(' ') : ''
}

const answerWithinMs = 10_000
const mostBytes = 64 * 1024 * 1024

function ask<Row>(env: Env, query: string, row: v.GenericSchema<unknown, Row>): Promise<Row[]> {
  const program = findOpencode(env)
  const args = ['db', '--format', 'json', query]
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, timeout: answerWithinMs, maxBuffer: mostBytes }, (error, output) => {
      const rows = v.safeParse(v.array(row), v.jsonOf(output))
      if (rows.success) resolve(rows.data)
      else reject(error ?? new v.Misfit(rows.problem))
    })
  })
}
