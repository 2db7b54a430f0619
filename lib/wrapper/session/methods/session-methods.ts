import { withDeadline } from '../../../async/deadline.ts'
import type { SessionHandlers } from '../../../client/calls/calls.ts'
import { ruleMethods } from '../../approvals/rules.ts'
import { confine } from '../../home/confinement.ts'
import type { Home } from '../../home/credentials.ts'
import type { SessionParts } from '../parts.ts'
import type { Turns } from '../turns.ts'
import { fileMethods } from './files.ts'
import { gitMethods } from './git.ts'
import { readPolicy } from './policy.ts'
import { searchMethods } from './search.ts'
import { shellMethods } from './shell.ts'

interface SessionMethodsOptions {
  turns: Pick<Turns, 'explain' | 'instruct' | 'stop'>
  home: Pick<Home, 'path'>
  env: Readonly<Record<string, string | undefined>>
  /** Another device asks to end the session. */
  onKill(): void
}

/** The methods that devices may call. */
export function sessionMethods(parts: SessionParts, { turns, home, env, onKill }: SessionMethodsOptions): SessionHandlers {
  return {
    ...agentMethods(parts, turns),
    ...folderMethods(parts, { home, env }),
    killSession: (_, _by, answered) => {
      // The answer must be sent before the connection closes.
      void answered?.then(onKill)
      return { success: true, message: 'The session is ending.' }
    }
  }
}

const heardWithinMs = 1000
const laterMode = 'While the agent uses its own screen, its mode is chosen there. Your choice applies once your phone takes over.'

function agentMethods(
  { agent, requests, choices, goals, narrator, autoDeny, viewers, onChange }: SessionParts,
  turns: Pick<Turns, 'explain' | 'instruct' | 'stop'>
): SessionHandlers {
  return {
    permission: async (answer, by) => {
      const decision = requests.answer(answer, by)
      if (!decision) return undefined
      const { choice, stops, whyNot } = decision
      // Before the denial: after it, the turn may be over before it could accept a message.
      if (whyNot && !stops) await withDeadline(heardWithinMs, () => turns.explain(whyNot, { stops })).catch(() => {})
      if (choice !== undefined) agent.answer(answer.id, choice, stops ? undefined : whyNot?.reason)
      // The reason comes before anything that waits for this turn to end.
      if (whyNot && stops) void turns.explain(whyNot, { stops })
      onChange()
      if (stops) await agent.cancel()
      if (choice !== undefined && answer.mode) await agent.setMode(answer.mode)
      return undefined
    },
    setUnanswered: ({ denyAfterMinutes }) => {
      autoDeny.choose(denyAfterMinutes)
      return { denyAfterMinutes }
    },
    abort: async () => {
      await turns.stop()
      return undefined
    },
    switch: async ({ to }) => {
      const { handover } = agent
      if (!handover) throw new Error('This agent has no terminal of its own here.')
      const isToPhone = to === undefined ? handover.by === 'terminal' : to === 'remote'
      await (isToPhone ? handover.toPhone() : handover.toTerminal())
      return true
    },
    setMode: async ({ mode }) => {
      if (!(await agent.setMode(mode))) throw new Error(agent.handover?.by === 'terminal' ? laterMode : 'The agent has no such mode.')
      return { mode }
    },
    setModel: async ({ model }) => {
      await choices.choose('model', model)
      return { model }
    },
    setEffort: async ({ effort }) => {
      await choices.choose('effort', effort)
      return { effort }
    },
    'goal-action': async wish => {
      await goals.change(wish, text => turns.instruct(text))
      return { ok: true }
    },
    setSetting: async ({ setting, value }) => {
      if (!(await agent.setSetting?.(setting, value))) throw new Error('The agent has no such setting, or rejected it.')
      return { value }
    },
    watch: ({ viewer, isWatching }) => {
      viewers.note(viewer, isWatching)
      if (isWatching) narrator.showAgain()
      return undefined
    }
  }
}

/** Files and commands, in the session's own folder. */
function folderMethods({ folder }: SessionParts, { home, env }: Pick<SessionMethodsOptions, 'home' | 'env'>): SessionHandlers {
  const confinement = () => confine([folder.notes.metadata.path], home.path)
  const mayUseShell = () => readPolicy(home.path).hasShell
  return {
    ...fileMethods(confinement),
    ...shellMethods({ confinement, mayUseShell, env }),
    ...gitMethods({ confinement, mayUseShell, env }),
    ...searchMethods({ confinement, env }),
    ...ruleMethods(home.path)
  }
}
