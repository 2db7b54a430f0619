import type { Console } from './console.ts'

const ctrlC = 0x03

/** The terminal between an agent's own screen and ours. On ours, any key brings the agent's back. */
export function shareTerminal(console: Console, ours: { suspend(): void; resume(): void }, bringBack: () => void) {
  let giveKeysBack = () => {}
  const close = () => {
    giveKeysBack()
    giveKeysBack = () => {}
  }
  return {
    console,
    /** Called before the agent draws on the terminal by itself, and after. */
    onDrawing(isDrawing: boolean): void {
      close()
      if (isDrawing) {
        ours.suspend()
        return
      }
      ours.resume()
      giveKeysBack = console.takeKeys(keys => {
        if (keys[0] === ctrlC) process.emit('SIGINT')
        else bringBack()
      })
    },
    close
  }
}
