import * as z from 'zod'
import type { RetryReason } from '../../../../protocol/sealed/session.ts'
import type { Console } from '../../../terminal/console.ts'
import type { AgentEvent } from '../../agent.ts'
import { createScreenLines } from './screen-lines.ts'

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

/** At its own terminal it says so on its screen alone. Hands on what is written to the console. */
export function watchForRetries(console: Console, onRetry: (retrying: Retrying) => void): Console {
  const screen = createScreenLines(() => console.rows)
  let last: Retrying | undefined
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
      screen.write(Buffer.from(bytes))
      const now = screen.lines.map(retryIn).findLast(said => said !== undefined)
      // Its seconds are counted down there, and wherever it is told.
      if (now && (now.attempt !== last?.attempt || now.why !== last?.why)) onRetry(now)
      last = now
    }
  }
}

const line = /^(.*)retrying in (\d+)s · attempt (\d+)\/(\d+)/

function retryIn(text: string): Retrying | undefined {
  const [, why = '', seconds, attempt, of] = line.exec(text) ?? []
  if (attempt === undefined) return undefined
  return { type: 'retrying', attempt: Number(attempt), of: Number(of), inMs: Number(seconds) * 1_000, why: reasonIn(why) }
}

/** Of the first attempts it does not say why. */
function reasonIn(words: string): RetryReason {
  if (/\b529\b|overloaded/i.test(words)) return 'overloaded'
  return /\b429\b|rate limit/i.test(words) ? 'limit' : 'other'
}

/** Without a status nothing answered. */
function reasonOf(status: number | null | undefined): RetryReason {
  if (status === 529) return 'overloaded'
  if (status === 429) return 'limit'
  if (status === 401 || status === 403) return 'sign-in'
  return status == null ? 'unreachable' : 'other'
}
