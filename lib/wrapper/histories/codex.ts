import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from '../../schema.ts'
import { type Beginning, type FiledHistory, headOf, type Saying } from './history.ts'

type Env = Readonly<Record<string, string>>

/** The threads recorded by Codex. */
export function codexHistories(env: Env): FiledHistory[] {
  const sessions = join(env['CODEX_HOME'] || join(env['HOME'] ?? '', '.codex'), 'sessions')
  if (!existsSync(sessions)) return []
  return rollouts(sessions).flatMap(({ id, file }) => {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats ? [{ agent: 'codex' as const, id, file, at: stats.mtimeMs }] : []
  })
}

function rollouts(sessions: string): { id: string; file: string }[] {
  return readdirSync(sessions, { recursive: true, encoding: 'utf8' }).flatMap(name => {
    const id = /rollout-[\dT:-]+-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/.exec(name)?.[1]
    return id === undefined ? [] : [{ id, file: join(sessions, name) }]
  })
}

const base = v.looseObject({ thread_id: v.string(), end_byte_offset: v.pipe(v.int(), v.minValue(0)) })
const meta = v.looseObject({
  type: v.literal('session_meta'),
  payload: v.looseObject({ cwd: v.string(), history_base: v.fallback(v.nullish(base), undefined) })
})
// Versions before 0.169, and since.
const message = v.looseObject({ type: v.picklist(['user_message', 'agent_message']), message: v.string() })
const item = v.looseObject({
  type: v.literal('item_completed'),
  item: v.looseObject({
    type: v.picklist(['UserMessage', 'AgentMessage']),
    content: v.array(v.looseObject({ text: v.fallback(v.optional(v.string()), undefined) }))
  })
})
const said = v.looseObject({ type: v.literal('event_msg'), payload: v.variant('type', [message, item]) })

/** Undefined for a thread without messages. */
export function codexBeginning(file: string): Beginning | undefined {
  const parts = lineage(file)
  const folder = parts[0] && metaOf(parts[0].head)?.cwd
  const title = parts.flatMap(({ head }) => head.flatMap(codexSayings).find(({ by }) => by === 'person')?.text ?? []).at(-1)
  return title === undefined || folder === undefined ? undefined : { title, folder }
}

/** All its lines, with those it was forked from. */
export function codexLines(file: string): string[] {
  const parts = lineage(file).toReversed()
  return parts.flatMap(({ file, end }) => readFileSync(file).subarray(0, end).toString().split('\n'))
}

interface Part {
  file: string
  /** In bytes: anything after it is not part of this thread. */
  end: number | undefined
  head: string[]
}

const mostForks = 100

/** A fork contains only later messages, and names its origin: the latest part comes first. */
function lineage(file: string, end?: number, forks = 0): Part[] {
  const head = headOf(file)
  const from = forks < mostForks ? metaOf(head)?.history_base : undefined
  // Sessions are in folders by year, month and day.
  const base = from && rollouts(join(dirname(file), '..', '..', '..')).find(({ id }) => id === from.thread_id)
  return [{ file, end, head }, ...(base && from ? lineage(base.file, from.end_byte_offset, forks + 1) : [])]
}

function metaOf(head: readonly string[]) {
  return head.map(line => v.safeParse(meta, v.jsonOf(line)).data?.payload).find(payload => payload !== undefined)
}

export function codexSayings(line: string): Saying[] {
  const { data } = v.safeParse(said, v.jsonOf(line))
  if (!data) return []
  const { payload } = data
  if (payload.type !== 'item_completed') return [{ by: payload.type === 'user_message' ? 'person' : 'agent', text: payload.message }]
  const { type, content } = payload.item
  const text = content.flatMap(part => part.text ?? []).join('')
  return text === '' ? [] : [{ by: type === 'UserMessage' ? 'person' : 'agent', text }]
}
