/** The whole terminal, for a program that draws on it itself: keys as they are typed, output as it comes. */
export interface Console {
  readonly columns: number
  readonly rows: number
  write(bytes: string | Uint8Array): void
  /** Every key from now, in raw mode. One listener at a time; the returned function removes it. */
  takeKeys(listener: (keys: Buffer) => void): () => void
  onResize(listener: () => void): () => void
}

/** Undefined if there is no terminal on both sides. */
export function processConsole(): Console | undefined {
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY) return undefined
  return {
    get columns() {
      return stdout.columns || 80
    },
    get rows() {
      return stdout.rows || 24
    },
    write: bytes => void stdout.write(bytes),
    takeKeys(listener) {
      stdin.setRawMode(true)
      stdin.on('data', listener)
      stdin.resume()
      return () => {
        stdin.off('data', listener)
        stdin.setRawMode(false)
        stdin.pause()
      }
    },
    onResize(listener) {
      stdout.on('resize', listener)
      return () => stdout.off('resize', listener)
    }
  }
}

/** The same terminal with another way to write to it. */
export function withWrite(console: Console, write: Console['write']): Console {
  return {
    get columns() {
      return console.columns
    },
    get rows() {
      return console.rows
    },
    takeKeys: console.takeKeys,
    onResize: console.onResize,
    write
  }
}

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
    /** Called before and after the agent draws on the terminal. */
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
