import { readFileSync, statSync } from 'node:fs'
import type { AgentGoalStatus } from '../../../../protocol/sealed/goals.ts'
import * as v from '../../../../schema.ts'

/** What Claude Code records of a goal: when it is set, checked, and over. */
export const goalRow = v.looseObject({
  type: v.literal('attachment'),
  uuid: v.pipe(v.string(), v.minLength(1)),
  sessionId: v.pipe(v.string(), v.minLength(1)),
  timestamp: v.fallback(v.optional(v.string()), undefined),
  attachment: v.looseObject({
    type: v.literal('goal_status'),
    condition: v.pipe(v.string(), v.trim(), v.minLength(1)),
    met: v.boolean(),
    /** Done by a person. */
    sentinel: v.fallback(v.optional(v.boolean()), undefined),
    failed: v.fallback(v.optional(v.boolean()), undefined)
  })
})

export function goalOf({ uuid, sessionId, timestamp = '', attachment }: v.InferOutput<typeof goalRow>): AgentGoalStatus {
  const about = { source: 'claude' as const, observedAt: Date.parse(timestamp) || 0, sourceSessionId: sessionId, sourceRevision: uuid }
  const { condition, met, sentinel, failed } = attachment
  if (failed) return { ...about, status: 'inactive', reason: 'unknown' }
  if (met) return { ...about, status: 'inactive', reason: sentinel ? 'cleared' : 'completed' }
  return { ...about, status: 'active', text: condition, capabilities: { clear: true, edit: true } }
}

/** The command for Claude Code; without an objective the goal is cleared. */
export function goalCommand(objective: string | undefined): string {
  return objective === undefined ? '/goal clear' : `/goal ${objective.trim()}`
}

/** The goal of a conversation recorded earlier: Claude Code resumes it. */
export function lastGoalIn(file: string): AgentGoalStatus | undefined {
  if (!statSync(file, { throwIfNoEntry: false })) return undefined
  const bytes = readFileSync(file)
  for (let at = bytes.lastIndexOf(mark); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(mark, at - 1)) {
    const end = bytes.indexOf('\n', at)
    const line = bytes.subarray(bytes.lastIndexOf('\n', at) + 1, end < 0 ? bytes.length : end).toString()
    const goal = goalIn(line)
    if (goal) return goal
  }
  return undefined
}

/** Undefined for any other line. */
export function goalIn(line: string): AgentGoalStatus | undefined {
  if (!line.includes(mark)) return undefined
  try {
    const { data } = v.safeParse(goalRow, JSON.parse(line))
    return data && goalOf(data)
  } catch {
    return undefined
  }
}

const mark = '"goal_status"'
