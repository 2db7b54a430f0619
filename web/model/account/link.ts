/** A resource that is opened once and closed once. */
interface Closable {
  close(): Promise<void>
}

/** The link of a tab to the server: opening, live, then closed permanently. */
export interface AccountLink {
  /** Also while it is opening: then it never goes live. */
  close(): Promise<void>
}

/**
 * Opens a link and retries until it succeeds. `load` fetches the code for links, which may take any time; the function it resolves to
 * opens one on this device. `onFailed` gets the ms until the next attempt.
 */
export function openAccountLink<Link extends Closable>(options: {
  load(): Promise<() => Promise<Link>>
  onLive(link: Link): void
  onFailed(error: unknown, againInMs: number): void
}): AccountLink {
  let isClosed = false
  let opening: Promise<Link> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function open(): Promise<void> {
    try {
      const openNow = await options.load()
      if (isClosed) return
      opening = openNow()
      const link = await opening
      if (!isClosed) options.onLive(link)
    } catch (error) {
      opening = undefined
      if (isClosed) return
      // A first visit that lost its network half way has the frame but not the rest.
      options.onFailed(error, tryAgainMs)
      timer = setTimeout(() => void open(), tryAgainMs)
    }
  }

  void open()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      const link = await opening?.catch(() => undefined)
      await link?.close().catch(() => {})
    }
  }
}

const tryAgainMs = 5_000
