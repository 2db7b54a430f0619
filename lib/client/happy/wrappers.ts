import type { SessionMetadata } from '../../protocol/sealed/session.ts'

/** Whether a session or machine belongs to Happy's wrapper or daemon: those do not list their methods. */
export function isOfHappy({ methods }: { readonly methods?: readonly string[] | undefined }): boolean {
  return methods === undefined
}

/** The kind of agent; the oldest sessions have none, and are all of one kind. */
export function flavorOf({ flavor }: Pick<SessionMetadata, 'flavor'>): string {
  return flavor || 'claude'
}

/** Happy's wrapper resumes only the two whose conversations it stores itself. */
export function isResumable(metadata: SessionMetadata): boolean {
  return !isOfHappy(metadata) || ['claude', 'codex'].includes(flavorOf(metadata))
}

/** The agents that Happy's daemon can start: those it found, if it lists them; an older one does not. */
export function agentsOfHappy(found: Readonly<Record<string, unknown>> | undefined): { agent: string; title: string }[] {
  return agents.filter(({ agent }) => found === undefined || found[agent] === true)
}

const agents = [
  { agent: 'claude', title: 'Claude Code' },
  { agent: 'codex', title: 'Codex' },
  { agent: 'gemini', title: 'Gemini' },
  { agent: 'openclaw', title: 'OpenClaw' },
  { agent: 'agy', title: 'Antigravity' }
]
