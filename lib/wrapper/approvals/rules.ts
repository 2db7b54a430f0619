import { randomUUID } from 'node:crypto'
import { renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import {
  type ApprovalRule,
  approvalRule,
  type DecisionEntry,
  decisionEntry,
  type RuleDraft,
  type RulePattern,
  type RuleTrial,
  type ruleCalls
} from '../../protocol/sealed/decisions/rules.ts'
import * as v from '../../schema.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile, withFileLock, writePrivateFile } from '../home/private-files.ts'
import { allowing, faultOf } from './patterns.ts'
import type { Request } from './request.ts'

const kept = v.looseObject({ isPaused: v.optional(v.boolean()), rules: v.array(approvalRule) })

interface Rules {
  readonly isPaused: boolean
  readonly rules: readonly ApprovalRule[]
}

/**
 * What people allow on this computer for longer than once, in `rules.json` of the wrapper's home. Every
 * session and the daemon read and write it, so nothing is cached: a removed rule allows nothing from then
 * on.
 */
interface RuleBook {
  /** Throws if it cannot be read: then nothing is allowed. */
  read(): Rules
  /**
   * With the id of an existing rule it changes that one. Throws, with a sentence for its author, if it
   * cannot be a rule.
   */
  set(draft: RuleDraft & { id?: string | undefined }, madeBy?: string): ApprovalRule
  remove(id: string): void
  pause(isPaused: boolean): void
  /** A rule answered something. */
  used(id: string): void
  /** A session is over for good, and with it its own rules. */
  endSession(session: string): void
}

const mostRules = 500

export function openRules(home: string, now: () => number = Date.now): RuleBook {
  const path = join(home, 'rules.json')

  const read = (): Rules => {
    const text = readPrivateFile(path)
    if (text === undefined) return { isPaused: false, rules: [] }
    const { data } = v.safeParse(kept, v.jsonOf(text))
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

/**
 * What a phone may see and change of this computer's rules: the daemon answers, or each session if there is
 * none.
 */
export function ruleMethods(home: string): Pick<MachineHandlers, keyof typeof ruleCalls> {
  const book = openRules(home)
  return {
    rules: () => {
      const { rules, isPaused } = book.read()
      return { rules: [...rules], isPaused }
    },
    'rules-set': ({ rule, madeBy }) => ({ rule: book.set(rule, madeBy) }),
    'rules-remove': ({ id }) => {
      book.remove(id)
      return {}
    },
    'rules-pause': ({ isPaused }) => {
      book.pause(isPaused)
      return { isPaused }
    },
    'rules-try': pattern => tryRule(home, pattern),
    decisions: ({ device }) => ({ entries: madeOn(home, device) })
  }
}

const mostListed = 100
/** In characters: enough to recognize it in a list. */
const longestListed = 300

function madeOn(home: string, device: string): DecisionEntry[] {
  const made = openDecisionLog(home)
    .read()
    .filter(entry => entry.device === device)
  return made.slice(0, mostListed).map(entry => ({ ...entry, what: entry.what.slice(0, longestListed), paths: [] }))
}

const mostTried = 50

/** Over the last decisions of its kind. Throws, with a sentence for a person, if it cannot be a rule. */
function tryRule(home: string, pattern: RulePattern): RuleTrial {
  const fault = faultOf(pattern)
  if (fault !== undefined) throw new Error(fault)
  const asked = openDecisionLog(home)
    .read()
    .filter(({ on }) => on === pattern.on)
    .slice(0, mostTried)
  const passed = asked.filter(entry => entry.level !== 'risky' && allowing([pattern], requestIn(entry), home))
  return { looked: asked.length, passed: passed.length, entries: passed.map(({ at, what, answer }) => ({ at, what, answer })) }
}

function requestIn({ on, tool, what, folder, paths, isOdd }: DecisionEntry): Request {
  const isFile = on === 'change' || on === 'read'
  return {
    on,
    tool,
    command: on === 'command' ? what : undefined,
    url: on === 'page' ? what : undefined,
    paths: isFile ? paths : [],
    folder,
    directory: undefined,
    isOdd
  }
}

/**
 * The decisions made on this computer, one per line, in `decisions.log` of the wrapper's home. Only its
 * owner may read it.
 */
interface DecisionLog {
  add(entry: DecisionEntry): void
  /** Latest first. */
  read(): DecisionEntry[]
}

const mostBytes = 1024 * 1024
/** In characters, of the request. */
export const mostKept = 4000

/** Two files of at most `most` bytes: the full one replaces the older. */
export function openDecisionLog(home: string, most = mostBytes): DecisionLog {
  const path = join(home, 'decisions.log')
  const older = `${path}.1`
  return {
    add(entry) {
      makePrivateFolder(home)
      if (sizeOf(path) > most) renameSync(path, older)
      // The line end comes first, so that an entry after a torn line is on its own line.
      appendPrivateFile(path, `\n${JSON.stringify({ ...entry, what: entry.what.slice(0, mostKept) })}`)
    },
    read() {
      const lines = [older, path].flatMap(file => (readPrivateFile(file) ?? '').split('\n'))
      return lines.flatMap(readLine).reverse()
    }
  }
}

function readLine(line: string): DecisionEntry[] {
  try {
    const { data } = v.safeParse(decisionEntry, JSON.parse(line))
    return data ? [data] : []
  } catch {
    return []
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
