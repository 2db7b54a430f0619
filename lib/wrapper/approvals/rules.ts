import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import * as z from 'zod'
import { type ApprovalRule, approvalRule, type RuleDraft } from '../../protocol/sealed/rules.ts'
import { makePrivateFolder, readPrivateFile, withFileLock, writePrivateFile } from '../home/private-files.ts'
import { faultOf } from './patterns.ts'

const kept = z.looseObject({ isPaused: z.boolean().optional(), rules: z.array(approvalRule) })

export interface Rules {
  readonly isPaused: boolean
  readonly rules: readonly ApprovalRule[]
}

/**
 * What people allow on this computer for longer than once, in `rules.json` of the wrapper's home. Every session and the daemon read and
 * write it, so nothing of it is remembered: a rule that is removed allows nothing from then on.
 */
export interface RuleBook {
  /** Throws when it cannot be read: then nothing is allowed. */
  read(): Rules
  /** With the id of a rule that is there it changes that one. Throws, with a sentence for who made it, when it can be no rule. */
  set(draft: RuleDraft & { id?: string | undefined }, madeBy?: string): ApprovalRule
  remove(id: string): void
  pause(isPaused: boolean): void
  /** A rule answered something. */
  used(id: string): void
  /** A session is over for good, and what counted only there. */
  endSession(session: string): void
}

const mostRules = 500

export function openRules(home: string, now: () => number = Date.now): RuleBook {
  const path = join(home, 'rules.json')

  const read = (): Rules => {
    const text = readPrivateFile(path)
    if (text === undefined) return { isPaused: false, rules: [] }
    const { data } = kept.safeParse(parse(text))
    if (!data) throw new Error('The rules of this computer cannot be read, so none of them applies.')
    return { isPaused: data.isPaused ?? false, rules: data.rules.filter(({ endsAt }) => endsAt === undefined || endsAt > now()) }
  }
  const change = <Result>(work: (rules: Rules) => { rules: Rules; result: Result }): Result => {
    makePrivateFolder(home)
    return withFileLock(`${path}.lock`, () => {
      const { rules, result } = work(read())
      writePrivateFile(path, JSON.stringify(rules, null, 2))
      return result
    })
  }
  const changeRules = (work: (rules: readonly ApprovalRule[]) => readonly ApprovalRule[]) =>
    change(before => ({ rules: { ...before, rules: work(before.rules) }, result: undefined }))

  return {
    read,
    set({ id, ...draft }, madeBy) {
      const fault = faultOf(draft)
      if (fault !== undefined) throw new Error(fault)
      if (draft.endsAt !== undefined && draft.endsAt <= now()) throw new Error('The rule would already have expired.')
      return change(before => {
        const known = before.rules.find(rule => rule.id === id)
        if (id !== undefined && !known) throw new Error('This rule no longer exists.')
        if (!known && before.rules.length >= mostRules) throw new Error('There are too many rules. Remove some first.')
        const rule = {
          ...draft,
          id: known?.id ?? randomUUID(),
          madeAt: known?.madeAt ?? now(),
          madeBy: madeBy ?? known?.madeBy,
          used: known?.used ?? 0,
          usedAt: known?.usedAt
        }
        const others = before.rules.filter(each => each !== known)
        return { rules: { ...before, rules: [...others, rule] }, result: rule }
      })
    },
    remove(id) {
      changeRules(rules => rules.filter(rule => rule.id !== id))
    },
    pause(isPaused) {
      change(before => ({ rules: { ...before, isPaused }, result: undefined }))
    },
    used(id) {
      changeRules(rules => rules.map(rule => (rule.id === id ? { ...rule, used: rule.used + 1, usedAt: now() } : rule)))
    },
    endSession(session) {
      if (read().rules.some(rule => rule.session === session)) changeRules(rules => rules.filter(rule => rule.session !== session))
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
