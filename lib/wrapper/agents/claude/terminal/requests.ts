import { questionTool, readAnswers, readQuestions, writeAnswers } from '../../../../protocol/sealed/decisions/ask-user-question.ts'
import type { Grant, Grants } from '../../../../protocol/sealed/decisions/grants.ts'
import type { Question } from '../../../../protocol/sealed/decisions/questions.ts'
import type { PermissionChoice } from '../../../../protocol/sealed/session.ts'
import * as v from '../../../../schema.ts'
import type { AgentEvent, Answers, Step } from '../../agent.ts'
import { lastingChoice } from '../../grants.ts'
import type { Translator } from '../transcript/history.ts'
import { createOverwritten, type Overwritten, planOf, stepOf } from '../transcript/steps.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Hook } from './hooks.ts'

/** The tools that Claude Code uses at its terminal, and its questions about them there and on the phone. */
export interface Requests {
  readonly areOpen: boolean
  /** The previous content of a file that one of them overwrites. */
  readonly overwritten: Overwritten['read']
  begin(hook: Hook): void
  /** Resolves to the answer of its hook. */
  ask(hook: Hook, gone: AbortSignal): Promise<object>
  /** `reason` is passed to Claude with a no. */
  answer(ask: string, choice: string, reason?: string): boolean
  /** Without answers the person skips the question. */
  answerForm(ask: string, answers: Answers | undefined): boolean
  /** It was decided in the terminal: its question is closed. `input` is what it was finally used with. */
  end(call: string | undefined, approved: boolean, input?: Record<string, unknown>): void
  endAll(): void
}

// A person waits for this one, and it may be asked before it is recorded.
const questionLagMs = 1_500

export function createRequests(
  emit: (event: AgentEvent) => void,
  current: () => { translator: Translator; transcript: Transcript }
): Requests {
  const questions = createQuestions(emit)
  const uses = createToolUses()
  const overwritten = createOverwritten()
  let asked = 0

  return {
    get areOpen() {
      return questions.areOpen
    },
    overwritten: overwritten.read,
    begin(hook) {
      uses.begin(hook)
      overwritten.read(hook.tool_use_id ?? '', hook.tool_name ?? '', hook.tool_input ?? {})
    },
    /** The step is on the phone with the question, after all earlier text. */
    async ask(hook, gone) {
      const { translator, transcript } = current()
      const { tool_name: name = 'Tool', tool_input: input = {} } = hook
      const call = uses.ask(name, input)
      if (call !== undefined && !planOf(name, input)) {
        await transcript.readUntil(() => translator.step(call) !== undefined, questionLagMs)
        translator.begin(call, name, input)
      }
      const ask = call ?? `question-${++asked}`
      if (gone.aborted) return {}
      const step = translator.step(ask) ?? stepOf(ask, name, input, overwritten.read(ask, name, input))
      return questions.ask(ask, step, hook, gone)
    },
    answer: questions.answer,
    answerForm: questions.answerForm,
    end(call, approved, input) {
      if (call === undefined) return
      uses.end(call)
      questions.close(call, approved, input)
    },
    endAll() {
      questions.closeAll()
      uses.endAll()
    }
  }
}

/** The dialogs of Claude Code, open in its terminal and on the phone at once; the first answer wins. */
interface Questions {
  readonly areOpen: boolean
  /** Resolves to the answer of its hook: a decision, or nothing if the terminal was faster. */
  ask(ask: string, step: Step, hook: Pick<Hook, 'permission_suggestions' | 'tool_input'>, gone: AbortSignal): Promise<object>
  /** `reason` is passed to Claude with a no. */
  answer(ask: string, choice: string, reason?: string): boolean
  /** Without answers the person skips the question. */
  answerForm(ask: string, answers: Answers | undefined): boolean
  /** The dialog in the terminal is closed; `approved` and `input` are the answer given there. */
  close(ask: string, approved?: boolean, input?: Record<string, unknown>): void
  closeAll(): void
}

type Open = { settle(decision: Decision | undefined): void } & (
  | { type: 'permission'; ways: readonly Way[] }
  | { type: 'form'; form: readonly Question[]; input: Record<string, unknown> }
)

/** A choice, and the resulting answer to Claude Code. */
interface Way {
  choice: PermissionChoice
  decision(reason: string | undefined): Decision
}

type Decision = { behavior: 'allow'; updatedInput?: object; updatedPermissions?: unknown[] } | { behavior: 'deny'; message: string }

export function createQuestions(emit: (event: AgentEvent) => void): Questions {
  const open = new Map<string, Open>()

  const take = (ask: string): Open | undefined => {
    const question = open.get(ask)
    open.delete(ask)
    return question
  }
  const close = (ask: string, approved?: boolean, input?: Record<string, unknown>) => {
    const question = take(ask)
    if (!question) return
    question.settle(undefined)
    if (question.type === 'permission') emit({ type: 'permission-closed', ask, ...(approved !== undefined && { approved }) })
    else emit({ type: 'question-closed', ask, ...(approved && saidThere(question.form, input)) })
  }

  return {
    get areOpen() {
      return open.size > 0
    },
    ask(ask, step, hook, gone) {
      const form = step.name === questionTool ? readQuestions(step.input) : undefined
      const ways = form ? [] : waysOf(step, hook)
      return new Promise(resolve => {
        const settle = (decision: Decision | undefined) =>
          resolve(decision ? { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } } : {})
        open.set(ask, form ? { type: 'form', form, input: hook.tool_input ?? step.input, settle } : { type: 'permission', ways, settle })
        gone.addEventListener('abort', () => close(ask), { once: true })
        if (form)
          emit({ type: 'question-asked', asked: { ask, call: step.call, title: form[0]?.question ?? '', kind: 'form', questions: form } })
        else emit({ type: 'permission-asked', asked: { ask, step, choices: ways.map(({ choice }) => choice) } })
      })
    },
    answer(ask, choice, reason) {
      const question = open.get(ask)
      const way = question?.type === 'permission' ? question.ways.find(way => way.choice.id === choice) : undefined
      if (!way) return false
      take(ask)?.settle(way.decision(reason))
      return true
    },
    answerForm(ask, answers) {
      const question = open.get(ask)
      if (question?.type !== 'form') return false
      const said = writeAnswers(question.form, answers ?? {})
      const isAnswer = Object.keys(said).length > 0
      const updatedInput = { ...question.input, answers: said }
      take(ask)?.settle(isAnswer ? { behavior: 'allow', updatedInput } : { behavior: 'deny', message: unanswered })
      return true
    },
    close,
    closeAll() {
      for (const ask of [...open.keys()]) close(ask)
    }
  }
}

const unanswered = 'The user said no, on their phone: they declined to answer. Continue without an answer.'

function saidThere(form: readonly Question[], input: Record<string, unknown> | undefined): { answers?: Answers } {
  const answers = readAnswers(form, input)
  return typeof answers === 'string' ? {} : { answers }
}

function waysOf(step: Step, { permission_suggestions: suggestions, tool_input: input }: Parameters<Questions['ask']>[2]): Way[] {
  if (step.name === 'ExitPlanMode') return planWays(input ?? step.input)
  const granted = grantsOf(suggestions)
  return [
    { choice: { id: 'allow', label: 'Allow once', kind: 'allow_once' }, decision: () => ({ behavior: 'allow' }) },
    ...(granted ? [{ choice: lastingChoice('always', granted), decision: () => allowing(suggestions) }] : []),
    { choice: { id: 'deny', label: 'Deny', kind: 'reject_once' }, decision: reason => no('', reason) }
  ]
}

function allowing(suggestions: unknown[] = []): Decision {
  return { behavior: 'allow', updatedPermissions: suggestions }
}

/**
 * A plan is started with the mode that follows it. Claude Code keeps its dialog open after a yes without
 * input: only a person may answer a plan and its questions.
 */
function planWays(input: Record<string, unknown>): Way[] {
  const into = (mode: string): Decision => ({
    behavior: 'allow',
    updatedInput: input,
    updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }]
  })
  return [
    { choice: { id: 'acceptEdits', label: 'Yes, and edit freely', kind: 'allow_always' }, decision: () => into('acceptEdits') },
    { choice: { id: 'default', label: 'Yes, and ask before edits', kind: 'allow_once' }, decision: () => into('default') },
    {
      choice: { id: 'deny', label: 'No, keep planning', kind: 'reject_once' },
      decision: reason => no(' to this plan. Keep planning', reason)
    }
  ]
}

function no(more: string, reason: string | undefined): Decision {
  return { behavior: 'deny', message: `The user said no, on their phone${more}${reason ? `: ${reason}` : '.'}` }
}

const rules = v.pipe(v.array(v.object({ toolName: v.string(), ruleContent: v.nullish(v.string()) })), v.minLength(1))
const suggestion = v.variant('type', [
  v.object({ type: v.literal('setMode'), mode: v.picklist(['acceptEdits', 'bypassPermissions']), destination: v.string() }),
  v.object({ type: v.literal('addRules'), behavior: v.literal('allow'), rules, destination: v.string() }),
  v.object({ type: v.literal('addDirectories'), directories: v.pipe(v.array(v.string()), v.minLength(1)), destination: v.string() })
])

/**
 * What Claude Code will allow if its suggestions are accepted. Undefined if that is unknown for one of
 * them: it could allow anything.
 */
function grantsOf(suggestions: readonly unknown[] = []): Grants | undefined {
  const read = suggestions.map(each => v.safeParse(suggestion, each).data)
  const known = read.flatMap(each => each ?? [])
  if (known.length === 0 || known.length < read.length) return undefined
  return { lasts: known.every(({ destination }) => destination === 'session') ? 'session' : 'always', what: known.flatMap(grantsIn) }
}

function grantsIn(each: v.InferOutput<typeof suggestion>): Grant[] {
  switch (each.type) {
    case 'setMode':
      return [{ type: each.mode === 'acceptEdits' ? 'edits' : 'everything', of: [] }]
    case 'addDirectories':
      return [{ type: 'folders', of: each.directories }]
    case 'addRules':
      return each.rules.map(ruleGrant)
  }
}

function ruleGrant({ toolName, ruleContent }: v.InferOutput<typeof rules>[number]): Grant {
  if (!ruleContent) return { type: 'tools', of: [toolName] }
  if (toolName === 'Bash') return { type: 'commands', of: [ruleContent.replace(/:\*$/, ' *')] }
  return { type: 'tools', of: [`${toolName}(${ruleContent})`] }
}

/** The current tool uses of Claude Code, several at once. A question about one does not say which use it is. */
interface ToolUses {
  begin(hook: Hook): void
  /** The id of the newest use of this tool with exactly this input that has had no question yet. */
  ask(name: string, input: object): string | undefined
  end(call: string): void
  endAll(): void
}

function createToolUses(): ToolUses {
  const unasked = new Map<string, string>()
  const describe = (name: string, input: object) => JSON.stringify([name, input])
  return {
    begin({ tool_use_id: call, tool_name: name, tool_input: input = {} }) {
      if (call !== undefined && name !== undefined) unasked.set(call, describe(name, input))
    },
    ask(name, input) {
      const wanted = describe(name, input)
      const call = [...unasked].findLast(([, use]) => use === wanted)?.[0]
      if (call !== undefined) unasked.delete(call)
      return call
    },
    end(call) {
      unasked.delete(call)
    },
    endAll() {
      unasked.clear()
    }
  }
}
