import type { ApprovalRule, RuleDraft, RulePattern } from '../../../lib/protocol/sealed/decisions/rules.ts'

type End = 'hours' | 'today' | 'removed'

/** A rule being edited. */
export interface RuleText extends RulePattern {
  readonly end: End
}

/** The rule for the machine; if it ends today, at midnight of this device. */
export function draftOf({ on, pattern, folder, end }: RuleText, now: number): RuleDraft {
  const draft = { on, pattern: pattern.trim(), folder: folder.trim() }
  switch (end) {
    case 'hours':
      return { ...draft, endsAt: now + 2 * 3600_000 }
    case 'today':
      return { ...draft, endsAt: new Date(now).setHours(24, 0, 0, 0) }
    case 'removed':
      return draft
  }
}

/** A rule to be edited; a new one begins in the home folder. */
export function ruleTextOf(rule: ApprovalRule | undefined, homeDir: string | undefined, now: number): RuleText {
  if (!rule) return { on: 'command', pattern: '', folder: homeDir ?? '', end: 'removed' }
  const { on, pattern, folder, endsAt } = rule
  const midnight = new Date(now).setHours(24, 0, 0, 0)
  return { on, pattern, folder, end: endsAt === undefined ? 'removed' : endsAt === midnight ? 'today' : 'hours' }
}
