import { isDeepStrictEqual } from 'node:util'
import { questionTool } from '../../protocol/sealed/decisions/ask-user-question.ts'
import { plainLine, shortened } from '../../protocol/sealed/plain-line.ts'
import type { SessionMetadata, UsageWindow } from '../../protocol/sealed/session.ts'
import type { AgentCommand, AgentEvent, PermissionAsk } from '../agents/agent.ts'
import { codesOf } from './choices.ts'
import { publishProgress } from './output/turn-progress.ts'
import type { SessionParts } from './parts.ts'
import type { Turns } from './turns.ts'

/** Handles the agent's events, one after the other: each call resolves when the event is stored. */
export function followAgent(parts: SessionParts, turns: Turns): (event: AgentEvent) => Promise<void> {
  const { agent, cursor, narrator, approvals, requests, choices, goals, notices, modelWaits } = parts

  const decide = (asked: PermissionAsk) => {
    const choice = requests.askPermission(asked)
    if (choice !== undefined) agent.answer(asked.ask, choice)
    else notices.asked(asked.ask, isAtTerminal())
  }
  const isAtTerminal = () => agent.handover?.by === 'terminal'

  let windows: UsageWindow[] = []
  const noteProgress = publishProgress(change => parts.uplink?.changeMetadata(change))
  // Steps that call the question tool.
  const formCalls = new Set<string>()

  return async event => {
    modelWaits.hear(event)
    noteProgress(event)
    // A mere retry is no sign of life.
    if (event.type !== 'retrying') notices.heard()
    switch (event.type) {
      case 'retrying':
        return narrator.tell(event)
      case 'permission-asked':
        await narrator.showStep(event.asked.step)
        return decide(event.asked)
      case 'prompted':
        return turns.hearTerminal(event)
      case 'history-read':
        await narrator.settle()
        return cursor.noteSent(event.upTo)
      case 'controlled':
        if (event.by === 'phone') cursor.toPhone()
        return parts.uplink?.setControl(event.by)
      case 'settings':
        // Claude Code with two sides reports them, but they cannot be set.
        return agent.setSetting && parts.uplink?.changeMetadata(saidIn(event))
      case 'conversation':
      case 'modes':
      case 'commands':
      case 'title':
        return parts.uplink?.changeMetadata(saidIn(event))
      case 'usage-windows':
        // Reported with each answer of the model, and mostly unchanged.
        if (isDeepStrictEqual(event.windows, windows)) return
        windows = event.windows
        return parts.uplink?.changeMetadata(saidIn(event))
      case 'goal':
        return goals.take(event.goal)
      case 'options':
        return choices.follow(event)
      case 'question-asked':
        await narrator.settle()
        requests.askQuestion(event.asked, event.asked.call !== undefined && formCalls.has(event.asked.call))
        return notices.questioned(event.asked.ask, isAtTerminal())
      case 'permission-closed':
      case 'question-closed':
        return requests.close(event.ask, event)
      case 'picture':
        return parts.pictures.show(event)
      case 'turn-ended':
        return turns.end(event)
      default:
        // Always the complete list.
        if (event.type === 'text' && event.isCut && (await cursor.resendTurn()).some(text => text.startsWith(event.text))) return
        if (event.type === 'step-started' && event.step.name === questionTool) formCalls.add(event.step.call)
        if (event.type === 'step-updated') requests.update(event.step)
        if (event.type === 'step-ended') {
          approvals.noteStep(event.step, event.status)
          requests.judgeAgain()
        }
        if (event.type === 'step-started' || event.type === 'step-updated') turns.step = event.step.title
        if (event.type === 'text-grew' || event.type === 'step-ended') turns.step = undefined
        return narrator.tell(event)
    }
  }
}

/** What the agent reports about itself, for the metadata of its session. */
function saidIn(
  event: Extract<AgentEvent, { type: 'conversation' | 'modes' | 'settings' | 'commands' | 'title' | 'usage-windows' }>
): (metadata: SessionMetadata) => SessionMetadata {
  switch (event.type) {
    case 'conversation': {
      const { id } = event
      return metadata => ({
        ...metadata,
        agentSessionId: id,
        ...(metadata.flavor === 'claude' && { claudeSessionId: id }),
        ...(metadata.flavor === 'codex' && { codexThreadId: id })
      })
    }
    case 'modes': {
      const { current } = event.modes
      return metadata => ({ ...metadata, operatingModes: codesOf(event.modes), currentOperatingModeCode: current })
    }
    case 'settings': {
      const agentSettings = event.settings.map(setting => {
        const { id, name, description = null, isSwitch, current } = setting
        return { id, name, description, isSwitch, current, choices: codesOf(setting) ?? [] }
      })
      return metadata => ({ ...metadata, agentSettings })
    }
    case 'commands':
      return metadata => ({
        ...metadata,
        slashCommands: event.commands.map(({ name }) => name),
        slashDescriptions: described(event.commands)
      })
    case 'usage-windows':
      return metadata => ({ ...metadata, usageWindows: newest(metadata.usageWindows, event.windows) })
    case 'title': {
      const summary = { text: event.title, updatedAt: Date.now() }
      return metadata => ({ ...metadata, summary })
    }
  }
}

function newest(known: readonly UsageWindow[] = [], reported: readonly UsageWindow[]): UsageWindow[] {
  const others = known.filter(each => !reported.some(({ minutes, of }) => each.minutes === minutes && each.of === of))
  return [...others, ...reported].toSorted((one, other) => one.minutes - other.minutes)
}

// Each change of the metadata goes to every phone in full: what exceeds the limit is omitted, from the end.
const longestDescription = 160
const mostDescribed = 12_000

/** One plain line for each command that the agent describes. */
function described(commands: readonly AgentCommand[]): Record<string, string> {
  let room = mostDescribed
  return Object.fromEntries(
    commands.flatMap(({ name, description = '' }) => {
      const text = shortened(plainLine(description.slice(0, 1000)), longestDescription)
      room -= name.length + text.length
      return text === '' || room < 0 ? [] : [[name, text]]
    })
  )
}
