import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type Beginning, type FiledHistory, headOf, parse, type Saying } from './history.ts'

type Env = Readonly<Record<string, string>>

/** The threads that Codex wrote down. */
export function codexHistories(env: Env): FiledHistory[] {
  const sessions = join(env['CODEX_HOME'] || join(env['HOME'] ?? '', '.codex'), 'sessions')
  if (!existsSync(sessions)) return []
  return readdirSync(sessions, { recursive: true, encoding: 'utf8' }).flatMap(name => {
    const id = /rollout-[\dT:-]+-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/.exec(name)?.[1]
    const file = join(sessions, name)
    const stats = id === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
    return id === undefined || !stats ? [] : [{ agent: 'codex' as const, id, file, at: stats.mtimeMs }]
  })
}

const meta = z.looseObject({ type: z.literal('session_meta'), payload: z.looseObject({ cwd: z.string() }) })
// Versions before 0.169, and since.
const message = z.looseObject({ type: z.enum(['user_message', 'agent_message']), message: z.string() })
const item = z.looseObject({
  type: z.literal('item_completed'),
  item: z.looseObject({
    type: z.enum(['UserMessage', 'AgentMessage']),
    content: z.array(z.looseObject({ text: z.string().optional().catch(undefined) }))
  })
})
const said = z.looseObject({ type: z.literal('event_msg'), payload: z.discriminatedUnion('type', [message, item]) })

export function codexBeginning(file: string): Beginning | undefined {
  const lines = headOf(file)
  const folder = lines.map(line => meta.safeParse(parse(line)).data?.payload.cwd).find(cwd => cwd !== undefined)
  const title = lines.flatMap(codexSayings).find(({ by }) => by === 'person')?.text
  return title === undefined || folder === undefined ? undefined : { title, folder }
}

export function codexSayings(line: string): Saying[] {
  const { data } = said.safeParse(parse(line))
  if (!data) return []
  const { payload } = data
  if (payload.type !== 'item_completed') return [{ by: payload.type === 'user_message' ? 'person' : 'agent', text: payload.message }]
  const { type, content } = payload.item
  const text = content.flatMap(part => part.text ?? []).join('')
  return text === '' ? [] : [{ by: type === 'UserMessage' ? 'person' : 'agent', text }]
}
