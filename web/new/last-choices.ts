import { deviceDb } from '../core/device-db.ts'
import { type Choices, guessChoices } from '../model/machine-choices.ts'

/** What a machine said last that it has, for while it cannot be asked; a guess, or nothing, when it never said. */
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
