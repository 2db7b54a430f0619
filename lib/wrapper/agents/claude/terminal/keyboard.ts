import { pause } from '../../../../async/pause.ts'
import { withoutPasteMarks } from '../transcript/rows.ts'

/** Messages that we type into Claude Code for the person at the phone. */
export interface Keyboard {
  /** Resolves to whether it was taken, which Claude Code says by a hook. */
  type(text: string, how?: { isCommand: boolean }): Promise<boolean>
  /** Types a command of which no hook tells. Resolves when it is typed. */
  command(text: string): Promise<void>
  /** A hook says that this was taken. */
  taken(prompt: string): void
  /** Whether this, which was written down, was typed by us, and is not the words of the person at the terminal. True once for each. */
  isOurs(text: string): boolean
  /** Whether what was typed last was written down, however late. */
  hasWrittenDown(text: string): boolean
}

// Nobody else's key is pressed meanwhile: a busy computer takes its time, and what it takes later is cut off by the change.
const typedWithinMs = 6_000

export function createKeyboard(write: (keys: string) => void): Keyboard {
  let waiting: { text: string; resolve(): void } | undefined
  // Also those of which nobody knows whether they were taken: their row may come late.
  const typed: string[] = []
  let written: string | undefined
  /** One after the other. */
  let pressed: Promise<void> = Promise.resolve()
  const press = (text: string) => {
    pressed = pressed.then(async () => {
      // What the person has half written is put aside, and comes back by itself.
      write('\x13')
      await pause(80)
      write(`\x1b[200~${text}\x1b[201~`)
      await pause(120)
      write('\r')
    })
    return pressed
  }
  return {
    async type(text, { isCommand } = { isCommand: false }) {
      // A first sign of these would run a command or a shell instead of saying it.
      const safe = (!isCommand && /^[!/#@]/.test(text) ? ' ' : '') + withoutKeys(text)
      written = undefined
      const { promise: isTaken, resolve } = Promise.withResolvers<void>()
      waiting = { text: safe, resolve }
      typed.push(beginningOf(safe))
      await press(safe)
      const wasTaken = await Promise.race([isTaken.then(() => true), pause(typedWithinMs).then(() => false)])
      waiting = undefined
      return wasTaken
    },
    command: text => press(withoutKeys(text).replace(/\s+/g, ' ')),
    taken(prompt) {
      if (waiting && beginningOf(waiting.text) === beginningOf(prompt)) waiting.resolve()
    },
    isOurs(text) {
      const at = typed.indexOf(beginningOf(text))
      if (at >= 0) [written] = typed.splice(at, 1)
      return at >= 0
    },
    hasWrittenDown: text => written === beginningOf(text)
  }
}

/** What is the same of a text before and after it went through a terminal: a long one is wrapped again on its way. */
export function beginningOf(text: string): string {
  return withoutKeys(withoutPasteMarks(text)).replace(/\s+/g, '').slice(0, beginningLength)
}

const beginningLength = 60

/** Nothing in it may end the paste or press a key. */
function withoutKeys(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/(?![\n\t])\p{Cc}/gu, '')
}
