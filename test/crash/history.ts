/** A message as the server showed it to somebody. */
export interface Shown {
  seq: number
  localId: string | null
  content: string
}

/**
 * What clients were promised, and by what: a message is promised when its sender was answered, and as soon as anybody
 * saw it. Promises that contradict each other are complaints at once.
 */
export class History {
  readonly complaints: string[] = []
  readonly sessions = new Map<string, Promised>()
  answered = 0
  seenLive = 0
  seenInPages = 0

  /** The sender of a message was told its number. */
  acknowledged(session: string, shown: Shown): void {
    this.answered += 1
    this.#promise(session, shown, 'answered')
  }

  /** The sender of a message was told that it was taken in; which number it got was not said. */
  takenIn(session: string, { localId, content }: Omit<Shown, 'seq'>): void {
    this.answered += 1
    if (localId !== null) this.#of(session).contentByLocalId.set(localId, content)
  }

  /** Somebody else saw a message live. Within one connection the numbers rise by one. */
  live(session: string, shown: Shown, lastOfConnection: number | undefined): void {
    this.seenLive += 1
    if (lastOfConnection !== undefined && shown.seq !== lastOfConnection + 1) {
      this.complain(`${session}: a connection was told ${shown.seq} after ${lastOfConnection}`)
    }
    this.#promise(session, shown, 'seen live')
  }

  /** Somebody else read a page that begins after `cursor`. */
  page(session: string, messages: readonly Shown[], cursor: number): void {
    messages.forEach((shown, index) => {
      this.seenInPages += 1
      if (shown.seq !== cursor + index + 1) this.complain(`${session}: a reader at ${cursor + index} was given ${shown.seq} next`)
      this.#promise(session, shown, 'read')
    })
  }

  complain(what: string): void {
    this.complaints.push(what)
  }

  /** What was promised until now. */
  copy(): History {
    const copy = new History()
    copy.complaints.push(...this.complaints)
    for (const [id, { bySeq, contentByLocalId }] of this.sessions) {
      copy.sessions.set(id, { bySeq: new Map(bySeq), contentByLocalId: new Map(contentByLocalId) })
    }
    return Object.assign(copy, { answered: this.answered, seenLive: this.seenLive, seenInPages: this.seenInPages })
  }

  #promise(session: string, shown: Shown, how: string): void {
    const { bySeq, contentByLocalId } = this.#of(session)
    const before = bySeq.get(shown.seq)
    if (before && (before.localId !== shown.localId || before.content !== shown.content)) {
      this.complain(`${session}: ${shown.seq} was ${before.localId} and is now ${how} as ${shown.localId}`)
    }
    bySeq.set(shown.seq, shown)
    if (shown.localId !== null) contentByLocalId.set(shown.localId, shown.content)
  }

  #of(session: string): Promised {
    const promised = this.sessions.get(session) ?? { bySeq: new Map(), contentByLocalId: new Map() }
    this.sessions.set(session, promised)
    return promised
  }
}

interface Promised {
  bySeq: Map<number, Shown>
  contentByLocalId: Map<string, string>
}
