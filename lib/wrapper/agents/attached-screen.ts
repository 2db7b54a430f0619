import { type Console, withWrite } from '../terminal/console.ts'
import type { AgentScreen, OwnScreen } from './agent.ts'
import { controlsOf, howEnded, openPty, type Pty } from './pty.ts'

interface AttachedScreenOptions {
  screen: AgentScreen
  /** What draws the screen; asked anew each time it is opened. */
  program(): { command: string; args: readonly string[]; directory: string; env: Readonly<Record<string, string>> }
  /** It is closed: by its person, or as told in words. Not called when `close` did it. */
  onClosed(how: string | undefined): void
}

/** An agent's own screen at the person's terminal, attached to a server of the agent that goes on without it. */
export interface AttachedScreen extends OwnScreen {
  /** Resolves when it draws no more. */
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

/** Once it has left its own page, a program says how to go on by itself: here any key does that. */
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
