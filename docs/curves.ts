import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Run } from './evidence.ts'

/** What a bench measured at one size: a line of `docs/curves.jsonl`. */
export interface Point extends Pick<Run, 'date' | 'commit' | 'machine'> {
  curve: CurveName
  line: string
  at: number
  cost: number
}

export const curves = {
  accounts: { across: 'accounts', up: 'µs of processor time' },
  sessions: { across: 'sessions of an account', up: 'µs of processor time' },
  history: { across: 'stored messages', up: 'µs of processor time' },
  size: { across: 'bytes of a message', up: 'µs of processor time' },
  connections: { across: 'idle connections', up: 'bytes for each' }
} as const

export type CurveName = keyof typeof curves

export const pointsPath = 'docs/curves.jsonl'

/** In the order in which they were measured. */
export function readPoints(): Point[] {
  const lines = readFileSync(join(import.meta.dirname, '..', pointsPath), 'utf8').split('\n')
  return lines.flatMap(line => (line === '' ? [] : [JSON.parse(line) as Point]))
}
