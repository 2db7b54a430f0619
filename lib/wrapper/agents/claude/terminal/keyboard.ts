import { isDoneWithin } from '../../../../async/deadline.ts'
import { pause } from '../../../../async/pause.ts'
import { withoutPasteMarks } from '../transcript/rows.ts'

/** Types messages into Claude Code for the person at the phone. */
export interface Keyboard {
  /** Resolves to whether it was accepted, which Claude Code reports by a hook. */
  type(text: string, how?: { isCommand: boolean }): Promise<boolean>
  /** Types a command without a hook. Resolves when it is typed. */
  command(text: string): Promise<void>
  /** A hook reports that this was accepted. */
  taken(prompt: string): void
  /** Whether this recorded text was typed by us, and not by the person at the terminal. True once for each. */
  isOurs(text: string): boolean
  /** Whether the last typed text was recorded, however late. */
  hasWrittenDown(text: string): boolean
}

// Other keys wait meanwhile: a busy computer is slow, and text it accepts late would be cut off by the
// switch.
const typedWithinMs = 6_000

export function createKeyboard(write: (keys: string) => void): Keyboard {
  let waiting: { text: string; resolve(): void } | undefined
  // Also those for which it is unknown whether they were accepted: their row may come late.
  const typed: string[] = []
  let written: string | undefined
  /** One at a time. */
  let pressed: Promise<void> = Promise.resolve()
  const press = (text: string) => {
    pressed = pressed.then(async () => {
      // The person's unfinished text is set aside, and returns automatically.
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
      // These as a first character would run a command or a shell.
      const safe = (!isCommand && /^[!/#@]/.test(text) ? ' ' : '') + withoutKeys(text)
      written = undefined
      const { promise: isTaken, resolve } = Promise.withResolvers<void>()
      waiting = { text: safe, resolve }
      typed.push(beginningOf(safe))
      await press(safe)
      const wasTaken = await isDoneWithin(typedWithinMs, isTaken)
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

/** The part of a text that survives a terminal: a long one is wrapped on the way. */
export function beginningOf(text: string): string {
  return withoutKeys(withoutPasteMarks(text)).replace(/\s+/g, '').slice(0, beginningLength)
}

const beginningLength = 60

/** Nothing in it may end the paste or press a key. */
function withoutKeys(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/(?![\n\t])\p{Cc}/gu, '')
}
