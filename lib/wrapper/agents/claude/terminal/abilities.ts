/** What we need of a Claude Code at its terminal, and see only once it was used. */
export interface Abilities {
  readonly wasHeard: boolean
  /** It called a hook. */
  hear(): void
  /** It wrote down something that we could read. */
  read(): void
  /** A turn is over. Tells what was missing in it. */
  judgeTurn(): void
}

export type Missing = 'hooks' | 'transcript'

export function createAbilities(onMissing: (missing: Missing) => void): Abilities {
  let wasHeard = false
  let wasRead = false
  return {
    get wasHeard() {
      return wasHeard
    },
    hear() {
      wasHeard = true
    },
    read() {
      wasRead = true
    },
    judgeTurn() {
      if (!wasHeard) onMissing('hooks')
      else if (!wasRead) onMissing('transcript')
    }
  }
}

/** For the phone and the terminal, why the screen is closed. */
export const withoutIt: Readonly<Record<Missing, string>> = {
  hooks:
    'Claude Code told Afield nothing while it worked at its terminal: its hooks are switched off in its settings, or this version has others. So your phone drives it now; any key at the terminal brings its screen back.',
  transcript:
    'Afield does not find what Claude Code writes down of this conversation, so your phone could not read along. It drives a new conversation now; any key at the terminal brings the screen back.'
}
