import { isAbsolute, resolve } from 'node:path'
import { type Level, type RiskName, riskOf } from '../../protocol/sealed/decisions/risk.ts'
import type { ApprovalRule, DecisionEntry, RuleDraft, RulePattern } from '../../protocol/sealed/decisions/rules.ts'
import { type Asked, riskSubjectOf } from '../../protocol/sealed/decisions/subject.ts'
import type { StepStatus } from '../../protocol/sealed/messages.ts'
import type { PermissionAsk, Step } from '../agents/agent.ts'
import { allowing, faultOf, ruleOfTools, suggested } from './patterns.ts'
import { requestOf, whatOf } from './request.ts'
import { mostKept, openDecisionLog, openRules } from './rules.ts'

export interface Judgement {
  /** `knowsEdits`: for every file it is known whether the agent changed it in this session. */
  risk: { level: Level; reasons: RiskName[]; knowsEdits: boolean }
  /** The narrowest rule that would allow it from now on; none if no rule may. */
  suggestedRule?: RulePattern
  /** The rule that allows it. */
  rule?: ApprovalRule
}

/** `device`: as identified by the server. `by`: its own name for itself. */
interface Decider {
  by?: string | undefined
  device?: string | undefined
}

/**
 * This computer's assessment of a request, besides what the agent says: how risky it is, and whether a rule
 * allows it.
 */
export interface Approvals {
  /** `byRules`: whether a rule may allow it, which then counts as used. */
  judge(asked: PermissionAsk, how?: { byRules: boolean }): Judgement
  /**
   * From an answer to the shown request. Throws, with a sentence for the person answering, if no such rule
   * can be made.
   */
  makeRule(asked: PermissionAsk, draft: RuleDraft, madeBy: string | undefined): ApprovalRule
  /**
   * For this session, from the tools that an existing app lists with its yes; undefined if no such rule can
   * be made.
   */
  allowTools(asked: PermissionAsk, tools: readonly string[], madeBy: string | undefined): ApprovalRule | undefined
  note(asked: PermissionAsk, how: Pick<DecisionEntry, 'answer'> & Decider & { rule?: ApprovalRule | undefined; choice?: string }): void
  /** Files changed by an agent are not run without a review. */
  noteStep(step: Step, status: StepStatus): void
  /** The session is over for good. */
  end(): void
}

/** The agent's changes in this session. */
export interface EditedHere {
  readonly paths: ReadonlySet<string>
  /** False if some of them may be unknown. */
  readonly isWhole: boolean
  add(paths: readonly string[]): void
}

interface ApprovalsOf {
  /** The wrapper's own folder. */
  home: string
  /** Where the agent works. */
  folder: string
  edited: EditedHere
  /** Its id on the server, once it has one. */
  session(): string | undefined
  /** Rules must never block the agent: errors with them are reported here, and a person is asked. */
  onTrouble(sentence: string): void
  now?: () => number
}

export function createApprovals({ home, folder, edited, session, onTrouble, now = Date.now }: ApprovalsOf): Approvals {
  const book = openRules(home, now)
  const log = openDecisionLog(home)

  const riskIn = (asked: PermissionAsk): Judgement['risk'] => {
    const { level, reasons } = riskOf(riskSubjectOf(askedOf(asked), { folder, edited: [...edited.paths] }))
    return { level, reasons: [...reasons], knowsEdits: edited.isWhole }
  }
  const rulesHere = (): ApprovalRule[] => {
    const { isPaused, rules } = book.read()
    return isPaused ? [] : rules.filter(rule => rule.session === undefined || rule.session === session())
  }
  const attempt = (what: string, work: () => void): void => {
    try {
      work()
    } catch (error) {
      onTrouble(`${what} ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  return {
    judge(asked, { byRules } = { byRules: true }) {
      const risk = riskIn(asked)
      if (risk.level === 'risky') return { risk }
      const request = requestOf(askedOf(asked), folder)
      const pattern = suggested(request)
      const judged: Judgement = { risk, ...(pattern !== undefined && { suggestedRule: { on: request.on, pattern, folder } }) }
      // Without an allow-once choice a rule would allow more than it says.
      if (!byRules || !asked.choices.some(({ kind }) => kind === 'allow_once')) return judged
      attempt('No rule was checked.', () => {
        const rule = allowing(rulesHere(), request, home)
        if (!rule) return
        book.used(rule.id)
        judged.rule = rule
      })
      return judged
    },
    makeRule(asked, draft, madeBy) {
      if (riskIn(asked).level === 'risky') throw new Error('Risky requests can only be allowed once.')
      const fault = faultOf(draft)
      if (fault !== undefined) throw new Error(fault)
      if (draft.session !== undefined && draft.session !== session()) throw new Error('The rule is for another session.')
      if (!allowing([draft], requestOf(askedOf(asked), folder), home)) throw new Error('The rule does not allow what is asked now.')
      return book.set({ ...draft, id: undefined }, madeBy)
    },
    allowTools(asked, tools, madeBy) {
      const [request, id] = [requestOf(askedOf(asked), folder), session()]
      const pattern = ruleOfTools(tools, request)
      if (!pattern || id === undefined || riskIn(asked).level === 'risky' || !allowing([pattern], request, home)) return undefined
      let rule: ApprovalRule | undefined
      attempt('It was allowed only once.', () => {
        rule = book.set({ ...pattern, session: id }, madeBy)
      })
      return rule
    },
    note(asked, { answer, by, device, rule, choice }) {
      const { level, reasons } = riskIn(asked)
      const request = requestOf(askedOf(asked), folder)
      attempt('The decision is not in the log.', () =>
        log.add({
          at: now(),
          session: session(),
          folder: request.directory === undefined ? folder : resolve(folder, request.directory),
          on: request.on,
          tool: request.tool,
          what: whatOf(request),
          paths: request.paths.slice(0, mostPaths),
          isOdd: request.isOdd || request.paths.length > mostPaths || whatOf(request).length > mostKept,
          level,
          reasons,
          answer,
          ...(by !== undefined && { by }),
          ...(choice !== undefined && { choice }),
          ...(device !== undefined && { device }),
          ...(rule !== undefined && { rule: rule.pattern })
        })
      )
    },
    noteStep({ kind, locations, content }, status) {
      if (status !== 'completed' || !['edit', 'delete', 'move'].includes(kind)) return
      const changed = content.flatMap(each => (each.type === 'diff' ? [each.path] : []))
      edited.add([...locations, ...changed].map(path => (isAbsolute(path) ? path : resolve(folder, path))))
    },
    end() {
      const id = session()
      if (id !== undefined) attempt('The rules of this session could not be removed.', () => book.endSession(id))
    }
  }
}

// In the log.
const mostPaths = 20

function askedOf({ step }: PermissionAsk): Asked {
  const { name, kind, input, title, content, locations } = step
  return { tool: name, kind, args: input, title, content, locations }
}
