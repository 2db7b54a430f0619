import { type Console, withWrite } from '../terminal/console.ts'
import type { AgentScreen, OwnScreen } from './agent.ts'
import { controlsOf, howEnded, openPty, type Pty } from './pty.ts'

interface AttachedScreenOptions {
  screen: AgentScreen
  /** The program that draws the screen; determined each time it is opened. */
  program(): { command: string; args: readonly string[]; directory: string; env: Readonly<Record<string, string>> }
  /** It is closed: by its person, or for the given reason. Not called after `close`. */
  onClosed(how: string | undefined): void
}

/** An agent's own screen at the person's terminal, attached to a server of the agent that runs on without it. */
export interface AttachedScreen extends OwnScreen {
  /** Resolves when it stops drawing. */
  close(): Promise<void>
}

export function attachScreen({ screen, program, onClosed }: AttachedScreenOptions): AttachedScreen {
  let pty: Pty | undefined
  let closed: Promise<void> = Promise.resolve()
  let isClosing = false

  const listen = (opened: Pty) => {
    const giveKeysBack = screen.console.takeKeys(keys => opened.write(keys.toString()))
    const stopResizing = screen.console.onResize(() => opened.resize(screen.console))
    return opened.ended.then(({ code, signal }) => {
      giveKeysBack()
      stopResizing()
      pty = undefined
      screen.onDrawing(false)
      if (isClosing) return
      onClosed(code === 0 && signal === 0 ? undefined : howEnded({ code, signal }))
    })
  }

  return {
    get isOpen() {
      return pty !== undefined
    },
    open() {
      if (pty || isClosing) return
      screen.onDrawing(true)
      try {
        pty = openPty(program(), withoutLastWords(screen.console))
      } catch (error) {
        screen.onDrawing(false)
        onClosed(error instanceof Error ? error.message : String(error))
        return
      }
      closed = listen(pty)
    },
    async close() {
      isClosing = true
      await pty?.end()
      await closed
    }
  }
}

const ownPage = { entered: '\x1b[?1049h', left: '\x1b[?1049l' }

/** On exit a program says how to continue; here any key does that. */
function withoutLastWords(console: Console): Console {
  let isOver = false
  return withWrite(console, bytes => {
    const text = Buffer.from(bytes).toString()
    const left = text.lastIndexOf(ownPage.left)
    const isEntered = text.lastIndexOf(ownPage.entered) > left
    if (isEntered) isOver = false
    else if (left >= 0) {
      console.write(text.slice(0, left) + controlsOf(text.slice(left)))
      isOver = true
      return
    }
    console.write(isOver ? controlsOf(text) : bytes)
  })
}
