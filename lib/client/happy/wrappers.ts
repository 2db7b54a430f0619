import type { SessionMetadata } from '../../protocol/sealed/session.ts'

/** Whether a session or a machine is kept by Happy's wrapper or helper: those tell of no methods. */
export function isOfHappy({ methods }: { readonly methods?: readonly string[] | undefined }): boolean {
  return methods === undefined
}

/** The kind of agent; the oldest sessions say none, and are all of one. */
export function flavorOf({ flavor }: Pick<SessionMetadata, 'flavor'>): string {
  return flavor || 'claude'
}

/** Happy's wrapper begins only the two again whose own conversations it keeps apart. */
export function isResumable(metadata: SessionMetadata): boolean {
  return !isOfHappy(metadata) || ['claude', 'codex'].includes(flavorOf(metadata))
}

/** The agents that Happy's helper begins: those it found, where it tells; an older one does not. */
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
