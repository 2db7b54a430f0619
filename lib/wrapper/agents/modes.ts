import type { Modes } from './agent.ts'

/**
 * The mode to put an agent into: the requested one, otherwise one in which it asks a person. Several agents
 * start in a mode that lets a second model answer, and the phone would never be asked. Undefined if the
 * agent has none of them.
 */
export function chooseMode(modes: Modes, wish?: string): string | undefined {
  return (wish === undefined ? undefined : findMode(modes, wish)) ?? askingMode(modes)
}

/** The agent's own id for a mode, by that id or by a name that apps use for modes of any agent. */
export function findMode({ available }: Modes, wish: string): string | undefined {
  const has = (id: string) => available.find(mode => mode.id === id)?.id
  const others = Object.hasOwn(synonyms, wish) ? synonyms[wish] : undefined
  return has(wish) ?? available.find(mode => sameMode(mode.id, wish))?.id ?? others?.map(has).find(id => id !== undefined)
}

/**
 * For a person who requested an unavailable mode: says so, and how the agent works instead. Undefined if
 * all is well.
 */
export function noSuchMode(title: string, modes: Modes | undefined, wish: string | undefined): string | undefined {
  if (wish === undefined || justAsking.includes(wish) || (modes && findMode(modes, wish) !== undefined)) return undefined
  return `${title} has no mode “${wordOf(wish)}”; ${modes ? workingIn(modes) : 'it offers no modes'}.`
}

function wordOf(wish: string): string {
  return Object.entries(words).find(([id]) => sameMode(id, wish))?.[1] ?? wish
}

function workingIn({ current, available }: Modes): string {
  if (asking.includes(current) || justAsking.includes(current)) return 'it asks first'
  if (current === 'plan') return 'it only plans'
  return `it is in “${available.find(({ id }) => id === current)?.name ?? current}”`
}

// As named in the app.
const words: Readonly<Record<string, string>> = {
  acceptEdits: 'Edit freely',
  'safe-yolo': 'Edit freely',
  plan: 'Plan only',
  'read-only': 'Read only',
  yolo: 'Full auto',
  bypassPermissions: 'Full auto'
}

// Requests for the mode in which an agent starts anyway.
const justAsking = ['default', 'ask', 'manual', 'normal', 'build']

const asking = ['default', 'ask', 'manual', 'workspace-write', 'read-only', 'normal']

// Found by running claude, codex, gemini, qwen and opencode; the first that the agent has is used.
const synonyms: Readonly<Record<string, readonly string[]>> = {
  default: [...asking, 'build'],
  acceptEdits: ['acceptEdits', 'autoEdit', 'auto-edit', 'auto_edit'],
  bypassPermissions: ['bypassPermissions', 'yolo', 'full-access', 'danger-full-access', 'agent-full-access'],
  yolo: ['yolo', 'bypassPermissions', 'full-access', 'danger-full-access', 'agent-full-access'],
  'safe-yolo': ['acceptEdits', 'autoEdit', 'auto-edit', 'auto_edit', 'workspace-write'],
  'read-only': ['read-only', 'plan'],
  plan: ['plan', 'read-only']
}

// Modes known to decide without a person. An agent that starts in one of them and has no asking mode is
// put into its planning mode.
const deciding = new Set([
  'auto',
  'agent',
  'yolo',
  'dontAsk',
  'acceptEdits',
  'autoEdit',
  'auto-edit',
  'auto_edit',
  ...(synonyms['bypassPermissions'] ?? [])
])

function askingMode(modes: Modes): string | undefined {
  const has = (id: string) => modes.available.some(mode => mode.id === id)
  const known = asking.find(has)
  if (known !== undefined) return known
  if (!deciding.has(modes.current)) return modes.current
  return ['plan'].find(has)
}

/**
 * For a session that continues in another process: an agent that only planned continues planning.
 * Permission to act without asking ended with the first process.
 */
export function resumedMode(before: string | undefined): string | undefined {
  return ['plan', 'read-only'].find(mode => mode === before)
}

function sameMode(one: string, other: string): boolean {
  return one.toLowerCase().replace(/[-_]/g, '') === other.toLowerCase().replace(/[-_]/g, '')
}
