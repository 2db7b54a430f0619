import type { Modes } from '../agent.ts'

/** The modes of Claude Code, by its own names. */
export function modesAt(current: string): Modes {
  const available = [
    { id: 'default', name: 'Ask first', description: undefined },
    { id: 'acceptEdits', name: 'Edit freely', description: undefined },
    { id: 'plan', name: 'Plan only', description: undefined },
    { id: 'bypassPermissions', name: 'Full auto', description: undefined }
  ]
  return {
    current,
    available: available.some(({ id }) => id === current)
      ? available
      : [...available, { id: current, name: current, description: undefined }]
  }
}
