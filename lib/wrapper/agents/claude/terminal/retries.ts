import * as z from 'zod'
import type { RetryReason } from '../../../../protocol/sealed/session.ts'
import type { Console } from '../../../terminal/console.ts'
import type { AgentEvent } from '../../agent.ts'

type Retrying = Extract<AgentEvent, { type: 'retrying' }>

/** What its adapter is asked to hand on as Claude Code says it: only at the end of a stream is it told that its text does not count. */
export const handedOn = { claudeCode: { emitRawSDKMessages: [{ type: 'system', subtype: 'api_retry' }, { type: 'stream_event' }] } }

const frame = z.object({
  message: z.object({
    type: z.literal('system'),
    subtype: z.literal('api_retry'),
    attempt: z.number(),
    max_retries: z.number(),
    retry_delay_ms: z.number(),
    error_status: z.number().nullish().catch(undefined)
  })
})

const abandoned = z.object({
  message: z.object({ type: z.literal('stream_event'), parent_tool_use_id: z.null(), abandoned_blocks: z.looseObject({}) })
})

/** As the adapter hands it on. */
export function readRetry(method: string, params: unknown): Retrying | undefined {
  // The stream broke off, and the model is asked again without one.
  if (abandoned.safeParse(params).success) return { type: 'retrying', inMs: 0, why: 'other' }
  const { data } = frame.safeParse(params)
  if (!data || method !== '_claude/sdkMessage') return undefined
  const { attempt, max_retries: of, retry_delay_ms: inMs, error_status: status } = data.message
  return { type: 'retrying', attempt, of, inMs, why: reasonOf(status) }
}

/** At its own terminal it says so on its screen alone, and not why. Hands on what is written to the console. */
export function watchForRetries(console: Console, onRetry: (retrying: Retrying) => void): Console {
  return {
    get columns() {
      return console.columns
    },
    get rows() {
      return console.rows
    },
    takeKeys: console.takeKeys,
    onResize: console.onResize,
    write(bytes) {
      console.write(bytes)
      const text = Buffer.from(bytes).toString()
      // Only at first: later it draws no more than the digits that are others.
      if (drawn(text).some(saysRetry)) onRetry({ type: 'retrying', inMs: 0, why: 'other' })
    }
  }
}

/** A letter that the cursor jumped over stood there already, from what was drawn before. */
const jumped = '\0'
const part = (words: string) => [...words].map(letter => `[${letter}${jumped}]`).join('')
const number = `[\\d${jumped}]+`
const line = new RegExp(`${part('retrying in ')}${number}${part('s')}.{0,20}?${part('attempt ')}${number}${part('/')}[\\d${jumped}]`, 'g')
// Of 18.
const fewestLetters = 12

function saysRetry(text: string): boolean {
  return [...text.matchAll(line)].some(([found]) => (found.match(/[a-z]/g)?.length ?? 0) >= fewestLetters)
}

/** What is drawn at one place after the other, each up to where the cursor goes to another line. */
function drawn(text: string): string[] {
  const lines = ['']
  for (const [piece, count = '', kind] of text.matchAll(pieces)) {
    const before = lines.at(-1) ?? ''
    const jump = kind === 'G' ? Number(count || 1) - 1 - before.length : kind === 'C' ? Number(count || 1) : -1
    if (kind === 'm' || kind === 'K') continue
    if (kind === undefined && !/[\r\n]/.test(piece)) lines[lines.length - 1] = before + piece
    else if (jump >= 0 && jump < widest) lines[lines.length - 1] = before + jumped.repeat(jump)
    else lines.push('')
  }
  return lines
}

const widest = 1_000
// biome-ignore lint/suspicious/noControlCharactersInRegex: they move the cursor
const pieces = /\x1b\[([0-?]*)[ -/]*([@-~])|[\r\n]|[^\x1b\r\n]+|\x1b/g

/** Without a status nothing answered. */
function reasonOf(status: number | null | undefined): RetryReason {
  if (status === 529) return 'overloaded'
  if (status === 429) return 'limit'
  if (status === 401 || status === 403) return 'sign-in'
  return status == null ? 'unreachable' : 'other'
}
