import { deviceDb } from '../core/device-db.ts'
import { type Choices, guessChoices } from '../model/machine-choices.ts'

/** The options that a machine last reported, for while it cannot be asked; undefined if it never reported any. */
export async function lastChoices(machine: string): Promise<Choices | undefined> {
  const kept = await deviceDb()
    .then(db => db.read(nameOf(machine)))
    .catch(() => undefined)
  return isChoices(kept) ? kept : guessChoices(machine)
}

export async function keepChoices(machine: string, choices: Choices): Promise<void> {
  await deviceDb()
    .then(db => db.write(nameOf(machine), choices))
    .catch(() => {})
}

function nameOf(machine: string): string {
  return `choices.${machine}`
}

// Only this file writes the entry, and it is sealed.
function isChoices(kept: unknown): kept is Choices {
  return typeof kept === 'object' && kept !== null && 'agents' in kept
}
