import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../async/clock.ts'
import type { PlanEntry } from '../../protocol/sealed/messages.ts'
import type { OpenedSession, PermissionQuestion, StepUpdate, Update } from './acp-messages.ts'
import { endOf, mergeStep, textOf } from './acp-steps.ts'
import type { AgentEvent, Modes, PermissionAsk, Step, TurnEnd } from './agent.ts'

/**
 * Turns what an ACP agent reports into agent events: gathers chunks into blocks, keeps what is known of each step, and
 * hides the differences between agents (a permission may come before its step, chunks may have no message id).
 */
export function createTurns(emit: (event: AgentEvent) => void, clock: Clock = systemClock) {
  let block: { key: string; id: string; text: string; thinking: boolean } | undefined
  const steps = new Map<string, { step: Step; ended: boolean }>()
  const timesAsked = new Map<string, number>()
  const denied = new Set<string>()
  let inTurn = false
  let stopWaiting = () => {}

  const finishBlock = () => {
    stopWaiting()
    if (block && block.text.trim() !== '') emit({ type: 'text', block: block.id, text: block.text, thinking: block.thinking })
    block = undefined
  }

  const grow = (text: string, thinking: boolean, messageId: string | null | undefined) => {
    const key = `${thinking} ${messageId ?? ''}`
    if (block?.key !== key) finishBlock()
    block ??= { key, id: randomUUID(), text: '', thinking }
    block.text += text
    emit({ type: 'text-grew', block: block.id, text: block.text, thinking })
    // Between turns nothing says when such a text is whole.
    stopWaiting()
    if (!inTurn) stopWaiting = clock.after(silenceMs, finishBlock)
  }

  const step = (update: StepUpdate): Step => {
    const known = steps.get(update.toolCallId)
    if (known?.ended) return known.step
    if (!known) finishBlock()
    const merged = mergeStep(known?.step, update)
    const status = denied.has(update.toolCallId) && endOf(update) === 'failed' ? 'denied' : endOf(update)
    steps.set(update.toolCallId, { step: merged, ended: status !== undefined })
    if (!known) emit({ type: 'step-started', step: merged })
    else if (!status) emit({ type: 'step-updated', step: merged })
    if (status) emit({ type: 'step-ended', step: merged, status })
    return merged
  }

  return {
    begin(): void {
      finishBlock()
      for (const [call, { ended }] of steps) if (ended) steps.delete(call)
      timesAsked.clear()
      denied.clear()
      inTurn = true
    },

    take(update: Update): void {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
        case 'agent_thought_chunk':
          if (update.content) grow(textOf(update.content), update.sessionUpdate === 'agent_thought_chunk', update.messageId)
          return
        case 'tool_call':
        case 'tool_call_update':
          step(update)
          return
        case 'plan':
          finishBlock()
          emit({ type: 'plan', entries: update.entries.map(planEntry) })
          return
        case 'available_commands_update':
          emit({ type: 'commands', names: update.availableCommands.map(({ name }) => name) })
          return
        case 'session_info_update':
          if (update.title) emit({ type: 'title', title: update.title })
          return
        case 'usage_update':
          emit({ type: 'usage', used: update.used, size: update.size })
          return
        case 'notice':
          emit({ type: 'notice', text: update.description ? `${update.title}: ${update.description}` : update.title })
          return
        case 'current_mode_update':
        case 'config_option_update':
          // Modes are kept by the connection, which also sets them.
          return
      }
    },

    ask({ toolCall, options }: PermissionQuestion): PermissionAsk {
      finishBlock()
      const call = toolCall.toolCallId
      const times = (timesAsked.get(call) ?? 0) + 1
      timesAsked.set(call, times)
      const asked = {
        ask: times === 1 ? call : `${call}:${times}`,
        step: step({ ...toolCall, status: undefined }),
        choices: options.flatMap(option => (option ? [{ id: option.optionId, label: option.name, kind: option.kind }] : []))
      }
      emit({ type: 'permission-asked', asked })
      return asked
    },

    /** A person said no: that the step fails now is no fault of its. */
    deny(call: string): void {
      denied.add(call)
    },

    /** Steps that are still open end with their turn. */
    end(turn: TurnEnd): void {
      finishBlock()
      for (const [call, { step, ended }] of steps) {
        steps.set(call, { step, ended: true })
        if (ended) continue
        const status = denied.has(call) ? 'denied' : turn.reason === 'done' ? 'completed' : 'cancelled'
        emit({ type: 'step-ended', step, status })
      }
      inTurn = false
      emit({ type: 'turn-ended', ...turn })
    }
  }
}

/** Modes come as such, or as the configuration option of the category `mode`; some agents give both. */
export function modesOf({ modes, configOptions }: OpenedSession): { modes: Modes; option: string | undefined } | undefined {
  if (modes) {
    const available = modes.availableModes.map(({ id, name, description }) => ({ id, name, description: description ?? undefined }))
    return { modes: { current: modes.currentModeId, available }, option: undefined }
  }
  const option = configOptions?.find(({ category }) => category === 'mode')
  if (!option?.options || typeof option.currentValue !== 'string') return undefined
  const available = option.options
    .flatMap(entry => ('options' in entry ? entry.options : [entry]))
    .map(({ value, name, description }) => ({ id: value, name, description: description ?? undefined }))
  return { modes: { current: option.currentValue, available }, option: option.id }
}

function planEntry({ content, status, priority }: Extract<Update, { sessionUpdate: 'plan' }>['entries'][number]): PlanEntry {
  return { content, status, ...(priority !== undefined && { priority }) }
}

const silenceMs = 700
