import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../../async/clock.ts'
import type { PlanEntry } from '../../../protocol/sealed/messages.ts'
import type { PermissionChoice, UsageWindow } from '../../../protocol/sealed/session.ts'
import type { AgentEvent, Image, PermissionAsk, Step, TurnEnd } from '../agent.ts'
import { claudeWindows } from '../claude/usage.ts'
import {
  type ContentBlock,
  type PermissionOption,
  type PermissionQuestion,
  pictureOf,
  type StepUpdate,
  textOf,
  type Update
} from './messages.ts'
import { explain, signInFirst } from './refusals.ts'
import { isGone, isSignedOut } from './server.ts'
import { endOf, mergeStep } from './steps.ts'

interface Block {
  key: string
  id: string
  text: string
  thinking: boolean
}

/** The subagent that does it; undefined for the agent itself. */
type By = string | undefined

/**
 * Turns what an ACP agent reports into agent events: assembles chunks into blocks, tracks each step, and
 * hides the differences between agents (a permission may precede its step, chunks may have no message id).
 */
export function createTurns(emit: (event: AgentEvent) => void, clock: Clock = systemClock) {
  const blocks = new Map<By, Block>()
  const steps = new Map<string, { step: Step; ended: boolean; by: By; blocks: ContentBlock[] }>()
  const helpers = createHelpers(emit)
  const timesAsked = new Map<string, number>()
  const denied = new Set<string>()
  let inTurn = false
  let lastCompaction: string | undefined
  let stopWaiting = () => {}

  const finishBlock = (by: By, cut: { isCut?: true; isStopped?: true } = {}) => {
    stopWaiting()
    const block = blocks.get(by)
    blocks.delete(by)
    if (!block || block.text.trim() === '') return
    emit({ type: 'text', block: block.id, text: block.text, thinking: block.thinking, ...cut, ...of(by) })
  }
  const finishBlocks = (cut?: { isCut?: true; isStopped?: true }) => {
    for (const by of [...blocks.keys()]) finishBlock(by, cut)
  }

  const grow = (by: By, text: string, thinking: boolean, messageId: string | null | undefined) => {
    const key = `${thinking} ${messageId ?? ''}`
    if (blocks.get(by)?.key !== key) finishBlock(by)
    const block = blocks.get(by) ?? { key, id: randomUUID(), text: '', thinking }
    block.text += text
    blocks.set(by, block)
    // Growing text is shown as the agent's own.
    if (by === undefined) emit({ type: 'text-grew', block: block.id, text: block.text, thinking })
    // Between turns nothing says when such a text is complete.
    stopWaiting()
    if (!inTurn) stopWaiting = clock.after(silenceMs, () => finishBlocks())
  }

  const say = (by: By, content: ContentBlock, { sessionUpdate, messageId }: Pick<Chunk, 'sessionUpdate' | 'messageId'>) => {
    const thinking = sessionUpdate === 'agent_thought_chunk'
    if (content.type === 'text') return grow(by, content.text, thinking, messageId)
    // A separate block between the text before and after it.
    finishBlock(by)
    const picture = pictureOf(content)
    if (picture) return emit({ ...picture, ...of(by) })
    grow(by, textOf(content), thinking, messageId)
    finishBlock(by)
  }

  const step = (update: StepUpdate, session: By): Step => {
    const known = steps.get(update.toolCallId)
    if (known?.ended) return known.step
    const by = known ? known.by : byOf(update, session)
    if (!known) finishBlock(by)
    const merged = mergeStep(known?.step, update)
    const status = denied.has(update.toolCallId) && endOf(update) === 'failed' ? 'denied' : endOf(update)
    const blocks = blocksIn(update) ?? known?.blocks ?? []
    steps.set(update.toolCallId, { step: merged, ended: status !== undefined, by, blocks: status ? [] : blocks })
    if (!known) emit({ type: 'step-started', step: merged, ...of(by) })
    else if (!status) emit({ type: 'step-updated', step: merged })
    if (status) {
      finishBlock(merged.call)
      helpers.stop(merged.call)
      emit({ type: 'step-ended', step: merged, status, ...of(by) })
      for (const picture of blocks.flatMap(block => pictureOf(block) ?? [])) emit({ ...picture, ...of(by) })
    }
    return merged
  }

  const byOf = ({ _meta }: Pick<StepUpdate, '_meta'>, session: By): By => {
    const parent = _meta?.claudeCode?.parentToolUseId
    const by = parent ?? session
    if (by !== undefined) helpers.start(by, steps.get(by)?.step.title)
    return by
  }

  const tellWindows = (windows: UsageWindow[]) => {
    if (windows.length > 0) emit({ type: 'usage-windows', windows })
  }

  return {
    begin(): void {
      finishBlocks()
      for (const [call, { ended }] of steps) if (ended) steps.delete(call)
      timesAsked.clear()
      denied.clear()
      inTurn = true
    },

    /** The current text is complete. */
    finish(): void {
      finishBlocks()
    },

    /** Whether a session belongs to a subagent. */
    isHelper: (session: string) => helpers.has(session),

    /** `session` is that of a subagent that has one. */
    take(update: Update, session?: string): void {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
        case 'agent_thought_chunk':
          if (update.content) say(byOf(update, session), update.content, update)
          return
        case 'tool_call':
        case 'tool_call_update':
          step(update, session)
          return
        case 'subagent_update': {
          if (update.state?.state === 'idle') {
            finishBlock(update.sessionId)
            helpers.stop(update.sessionId)
          } else helpers.start(update.sessionId, update.title ?? undefined)
          return
        }
      }
      // Other reports of a subagent about its session are not about this one.
      if (session === undefined) takeOwn(update)
    },

    ask({ toolCall, options }: PermissionQuestion, session?: string): PermissionAsk {
      const call = toolCall.toolCallId
      const times = (timesAsked.get(call) ?? 0) + 1
      timesAsked.set(call, times)
      const asked = {
        ask: times === 1 ? call : `${call}:${times}`,
        step: step({ ...toolCall, status: undefined }, session),
        choices: options.flatMap(option => (option && !startsAnew.test(option.optionId) ? [choiceOf(option)] : []))
      }
      finishBlock(steps.get(call)?.by)
      emit({ type: 'permission-asked', asked })
      return asked
    },

    /** The current text is written again. */
    withdraw(): void {
      stopWaiting()
      blocks.clear()
    },

    /** A person said no: the step fails now through no fault of its own. */
    deny(call: string): void {
      denied.add(call)
    },

    /** Running steps and subagents end with their turn. `isLost`: the agent is gone mid-text. */
    end(turn: TurnEnd, isLost = false): void {
      finishBlocks(isLost ? { isCut: true } : turn.reason === 'cancelled' ? { isStopped: true } : {})
      for (const [call, { step, ended, by }] of steps) {
        steps.set(call, { step, ended: true, by, blocks: [] })
        if (ended) continue
        const status = denied.has(call) ? 'denied' : turn.reason === 'done' ? 'completed' : 'cancelled'
        emit({ type: 'step-ended', step, status, ...of(by) })
      }
      helpers.stopAll()
      inTurn = false
      emit({ type: 'turn-ended', ...turn, ...(isLost && { isLost }) })
    }
  }

  function takeOwn(update: Update): void {
    switch (update.sessionUpdate) {
      case 'plan':
        finishBlock(undefined)
        emit({ type: 'plan', entries: update.entries.map(planEntry) })
        return
      case 'plan_update':
        if (update.plan.type === 'file') return
        finishBlock(undefined)
        if (update.plan.type === 'items') emit({ type: 'plan', entries: update.plan.entries.map(planEntry) })
        else emit({ type: 'text', block: randomUUID(), text: update.plan.content, thinking: false })
        return
      case 'plan_removed':
        emit({ type: 'plan', entries: [] })
        return
      case 'available_commands_update':
        emit({ type: 'commands', commands: update.availableCommands })
        return
      case 'session_info_update':
        if (update.title) emit({ type: 'title', title: update.title })
        return
      case 'usage_update':
        emit({ type: 'usage', used: update.used, size: update.size, ...(update.cost && { cost: update.cost }) })
        tellWindows(claudeWindows(update._meta?.['_claude/rateLimit']))
        return
      case 'notice':
        emit({ type: 'notice', text: update.description ? `${update.title}: ${update.description}` : update.title })
        return
      case 'compaction_update':
        // Some adapters report the end of one twice.
        if (update.status !== 'in_progress' && update.compactionId != null) {
          if (update.compactionId === lastCompaction) return
          lastCompaction = update.compactionId
        }
        if (update.status === 'completed') emit({ type: 'notice', text: 'The agent compacted the conversation to free up context.' })
        if (update.status === 'failed')
          emit({ type: 'notice', text: `The agent could not compact the conversation: ${update.error ?? 'no reason given'}.` })
        return
    }
  }
}

/** The result of a step, if an update has it. */
function blocksIn({ content }: StepUpdate): ContentBlock[] | undefined {
  return content?.flatMap(item => (item?.type === 'content' ? [item.content] : []))
}

function of(by: By): { subagent?: string } {
  return by === undefined ? {} : { subagent: by }
}

type Chunk = Extract<Update, { sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' }>
type PlanUpdateEntry = Extract<Update, { sessionUpdate: 'plan' }>['entries'][number]

function planEntry({ content, status, priority }: PlanUpdateEntry): PlanEntry {
  return { content, status, ...(priority !== undefined && { priority }) }
}

const silenceMs = 700

// Claude Code's adapter would execute the plan in a second conversation hidden behind the name of this
// one. Resuming, or taking control at the terminal, would go back to before the plan.
/** A choice known to mean every edit is translated; others keep the agent's name. */
function choiceOf({ optionId, name, kind }: PermissionOption): PermissionChoice {
  const choice = { id: optionId, label: name, kind }
  return kind === 'allow_always' && meansEdits.test(name)
    ? { ...choice, grants: { lasts: 'session', what: [{ type: 'edits', of: [] }] } }
    : choice
}

const meansEdits = /^(Yes, allow all edits during this session|Always allow edits)$/

const startsAnew = /^exit-plan-clear-/

/**
 * The running subagents. They come in two forms: as sessions of their own, or by naming the step that
 * called them; the id is that of the session or step.
 */
function createHelpers(emit: (event: AgentEvent) => void) {
  const known = new Set<string>()
  const working = new Set<string>()

  const stop = (subagent: string) => {
    if (working.delete(subagent)) emit({ type: 'subagent-stopped', subagent })
  }

  return {
    has: (subagent: string) => known.has(subagent),
    start(subagent: string, title: string | undefined): void {
      if (working.has(subagent)) return
      known.add(subagent)
      working.add(subagent)
      emit({ type: 'subagent-started', subagent, title })
    },
    stop,
    stopAll(): void {
      for (const subagent of [...working]) stop(subagent)
    }
  }
}

/** `isLost`: the agent ended mid-turn, and may have recorded more than it sent. */
export type LostEnd = TurnEnd & { isLost?: boolean }

/**
 * Gives an ACP agent its prompts. The program it drives may end while the agent itself lives; then the
 * conversation is resumed, and a prompt without any output is given again. One with output is not: it must not be
 * done twice.
 */
export function createPrompting(agent: {
  title(): string
  /** Rejects if the agent does not accept it, or cannot continue. */
  say(text: string, images: readonly Image[]): Promise<TurnEnd>
  /** Whether the agent itself has ended. */
  isCut(): boolean
  /** How the turn ends with the agent. */
  end(): Promise<LostEnd>
  /** Whether its conversation is gone. */
  isGone(): Promise<boolean>
  /** Resolves to whether it has the conversation again. */
  openAgain(): Promise<boolean>
  tellAgain(): void
}) {
  let isCancelled = false
  let wasHeard = false

  const endWith = async (error: unknown): Promise<LostEnd> =>
    agent.isCut() ? agent.end() : { reason: 'failed', error: isSignedOut(error) ? signInFirst(agent.title()) : explain(error) }

  return {
    /** The turn had some output. */
    hear(): void {
      wasHeard = true
    },
    cancel(): void {
      isCancelled = true
    },
    /** Resolves when its turn is over. */
    async run(text: string, images: readonly Image[]): Promise<LostEnd> {
      isCancelled = false
      wasHeard = false
      try {
        return await agent.say(text, images)
      } catch (error) {
        if (agent.isCut() || !(isGone(error) || (await agent.isGone()))) return endWith(error)
      }
      if (!(await agent.openAgain())) return agent.end()
      if (isCancelled) return { reason: 'cancelled', isLost: wasHeard }
      const title = agent.title()
      if (wasHeard) {
        return {
          reason: 'failed',
          error: `${title} exited unexpectedly during this turn. It is running again: send a message to continue.`,
          isLost: true
        }
      }
      agent.tellAgain()
      return agent.say(text, images).catch(endWith)
    }
  }
}
