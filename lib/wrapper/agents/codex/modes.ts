import type { Modes } from '../agent.ts'
import type { ThreadSettings } from './shapes.ts'

/** How a mode of ours is told to Codex. In each of them a person answers what is asked, never a second model. */
interface CodexMode {
  id: string
  name: string
  description: string
  approvalPolicy: 'untrusted' | 'on-request' | 'never'
  sandbox: 'read-only' | 'workspace-write' | 'danger-full-access'
  collaboration: 'default' | 'plan'
}

const modes: readonly CodexMode[] = [
  {
    id: 'default',
    name: 'Ask first',
    description: 'Asks before it edits, and before commands that may change something.',
    approvalPolicy: 'untrusted',
    sandbox: 'workspace-write',
    collaboration: 'default'
  },
  {
    id: 'acceptEdits',
    name: 'Edit freely',
    description: 'Edits and runs commands in its folder; asks for more.',
    approvalPolicy: 'on-request',
    sandbox: 'workspace-write',
    collaboration: 'default'
  },
  {
    id: 'plan',
    name: 'Plan only',
    description: 'Reads, asks and plans.',
    approvalPolicy: 'on-request',
    sandbox: 'read-only',
    collaboration: 'plan'
  },
  {
    id: 'bypassPermissions',
    name: 'Full auto',
    description: 'Asks nothing, and may do everything.',
    approvalPolicy: 'never',
    sandbox: 'danger-full-access',
    collaboration: 'default'
  }
]

const sandboxTypes = { 'read-only': 'readOnly', 'workspace-write': 'workspaceWrite', 'danger-full-access': 'dangerFullAccess' } as const

export function modesAt(current: string): Modes {
  const available = modes.map(({ id, name, description }) => ({ id, name, description }))
  const isKnown = available.some(({ id }) => id === current)
  return { current, available: isKnown ? available : [...available, { id: current, name: nameOf(current), description: undefined }] }
}

/** How every thread begins, before its mode is set: nothing is changed unless a person says yes. */
export const cautious = { approvalPolicy: 'on-request', sandbox: 'read-only', approvalsReviewer: 'user' } as const

/** For a thread that is there. In `cautious` words where the mode asks first and Codex refuses the others. */
export function changeTo(
  id: string,
  { model, effort }: { model: string | undefined; effort: string | undefined },
  isCautious = false
): object {
  const mode = modeOf(id)
  const { approvalPolicy, sandbox } = isCautious && asksFirst(mode) ? cautious : mode
  const type = sandboxTypes[sandbox]
  const settings = { model, reasoning_effort: effort ?? null, developer_instructions: null }
  return {
    approvalPolicy,
    approvalsReviewer: 'user',
    sandboxPolicy:
      type === 'workspaceWrite'
        ? { type, writableRoots: [], networkAccess: false, excludeTmpdirEnvVar: false, excludeSlashTmp: false }
        : type === 'readOnly'
          ? { type, networkAccess: false }
          : { type },
    ...(model !== undefined && { collaborationMode: { mode: mode.collaboration, settings } })
  }
}

/** Which mode these settings are; what was set at the terminal may be none of ours. */
export function modeAt({ approvalPolicy, approvalsReviewer, sandboxPolicy, collaborationMode }: ThreadSettings): string {
  if (approvalsReviewer && approvalsReviewer !== 'user') return 'auto'
  if (collaborationMode?.mode === 'plan') return 'plan'
  if (approvalPolicy === cautious.approvalPolicy && sandboxPolicy.type === sandboxTypes[cautious.sandbox]) return 'default'
  const same = modes.find(
    mode => mode.approvalPolicy === approvalPolicy && sandboxTypes[mode.sandbox] === sandboxPolicy.type && mode.id !== 'plan'
  )
  return same?.id ?? 'custom'
}

function asksFirst({ id }: CodexMode): boolean {
  return id === 'default'
}

function modeOf(id: string): CodexMode {
  const found = modes.find(mode => mode.id === id) ?? modes[0]
  if (!found) throw new TypeError('there is a first mode')
  return found
}

function nameOf(id: string): string {
  return id === 'auto' ? 'A second model decides' : 'As set at the terminal'
}
