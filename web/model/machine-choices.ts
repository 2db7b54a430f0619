import { agentsOfHappy } from '../../lib/client/happy/wrappers.ts'
import type { ResultOfMachineCall } from '../../lib/protocol/sealed/calls/machine-calls.ts'
import { askMachine, type MachineLink, type Trouble } from './account/machine-call.ts'
import { home } from './home.ts'
import { isOurs, sessionsOn } from './machines.ts'

/** The options for a new session on a machine. */
export type Choices = ResultOfMachineCall<'choices'>

export type KnownChoices = { type: 'choices'; choices: Choices } | Trouble

/** Asks the daemon of a machine. Happy's daemon does not know the method: then the options come from its metadata and earlier sessions there. */
export async function readChoices(link: MachineLink, machine: string): Promise<KnownChoices> {
  const answer = await askMachine(link, machine, 'choices', {})
  if (answer.type === 'answered') return { type: 'choices', choices: answer.result }
  const choices = answer.why === 'away' ? guessChoices(machine) : undefined
  return choices ? { type: 'choices', choices } : answer
}

/** What the daemon knows about a folder; undefined if it would start nothing there, and from daemons without this method. */
export async function describeFolder(link: MachineLink, machine: string, folder: string): Promise<Choices['folder']> {
  const answer = await askMachine(link, machine, 'choices', { folder })
  return answer.type === 'answered' ? answer.result.folder : undefined
}

/** The subfolders by name, and the folder's own path as the machine writes it. */
export async function listFolders(
  link: MachineLink,
  machine: string,
  path: string
): Promise<{ path: string; folders: string[] } | Trouble> {
  const answer = await askMachine(link, machine, 'listDirectory', { path })
  if (answer.type === 'failed') return answer
  const listed = answer.result
  if (!listed.success) return { type: 'failed', why: 'failed', says: listed.error }
  const folders = listed.entries.filter(({ type, name }) => type === 'directory' && !name.startsWith('.')).map(({ name }) => name)
  return { path: listed.path ?? path, folders: folders.sort((a, b) => a.localeCompare(b)) }
}

/** For a machine with Happy's daemon; one of ours reports its own options, which are unknown until then. */
export function guessChoices(machine: string): Choices | undefined {
  const seen = sessionsOn({ id: machine }, home.peek()).flatMap(({ metadata }) => metadata?.path ?? [])
  const about = home.peek().machines.get(machine)?.metadata
  if (about && isOurs({ metadata: about })) return undefined
  return {
    agents: agentsOfHappy(about?.cliAvailability),
    recentFolders: [...new Set(seen)].slice(0, 12),
    home: about?.homeDir ?? '~'
  }
}
