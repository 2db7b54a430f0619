import type { Since } from '../../model/decisions/closed-decisions.ts'
import type { Notice } from '../../model/decisions/notices.ts'
import type { SessionFacts } from '../../model/session/facts.ts'
import { decide } from '../../words/decide.ts'
import { outcomes } from '../../words/outcomes.ts'
import { session as words } from '../../words/session.ts'
import { subjectOf } from './subject.ts'

/** The text of a notice. It never repeats its title. */
export function noticeWords(
  { asked, mine, answered, gone }: Notice,
  facts: SessionFacts,
  me: string | undefined
): { title: string; text?: string; isBad?: boolean } {
  if (answered !== undefined) {
    const { by, outcome, rule, said } = answered
    // This device only read the request, so an answer under its name came from another device with the same name.
    const isMyName = mine === undefined && by !== undefined && by === me
    const title = by === undefined ? outcomes.answeredElsewhere : isMyName ? outcomes.answeredOnOther : words.answeredOn(by)
    if (mine !== undefined) return { title, text: outcomes.tapSecond }
    if (rule !== undefined && by === undefined) return { title: decide.byRule(rule), text: words.outcome[outcome].unknown }
    if (said !== undefined) return { title, text: said.text === undefined ? decide.letItDecide : decide.answered(said.text) }
    return isMyName && gone?.isLookedUp ? { title: words.outcome[outcome].me } : { title, text: words.outcome[outcome].unknown }
  }
  const isHere = facts.presence === 'here'
  if (mine !== undefined && !isHere)
    return { title: outcomes.notApplied, text: outcomes.notAppliedWhy.stopped(facts.agentShort), isBad: true }
  const isCommand = asked.type === 'permission' && subjectOf(asked.request, facts.path).command !== undefined
  return {
    title: endTitle(isHere, gone?.since ?? [], facts.agentShort),
    text: asked.type === 'question' ? decide.leftOpen : isCommand ? outcomes.commandDidNotRun : outcomes.didNotRun
  }
}

function endTitle(isHere: boolean, since: readonly Since[], agent: string): string {
  if (since.includes('ended-here')) return outcomes.youEnded(agent)
  // After a resume its session is here again, although it canceled nothing.
  return isHere && !since.includes('stopped') ? outcomes.withdrew(agent) : outcomes.sessionStopped
}
