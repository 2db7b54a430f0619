import type { Clock } from '../../async/clock.ts'
import type { Deps } from './deps.ts'

const everyMs = 10 * 60_000

/** Gives back the room of uploads whose time is over and of attachments whose session was removed, one at a time. */
export class AttachmentSweep {
  private readonly deps: Pick<Deps, 'store' | 'now'> & { clock: Clock; onError: (error: unknown) => void }
  private cancel: () => void = () => {}
  private sweeping: Promise<void> = Promise.resolve()
  private isClosed = false

  constructor(deps: AttachmentSweep['deps']) {
    this.deps = deps
    this.later()
  }

  /** After the sweep that is under way. */
  soon(): void {
    this.sweeping = this.sweeping.then(() => this.sweep()).catch(this.deps.onError)
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.cancel()
    await this.sweeping
  }

  private later(): void {
    this.cancel = this.deps.clock.after(everyMs, () => {
      this.soon()
      this.later()
    })
  }

  private async sweep(): Promise<void> {
    const { store, now } = this.deps
    while (!this.isClosed && (await store.sweepAttachments(now())) === 'more');
  }
}
