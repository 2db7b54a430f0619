/** This opencode cannot be shared between its own screen and us. The sentence says why. */
export class NotShared extends Error {
  override name = 'NotShared'
}

/** The server rejected something; the sentence is its own. */
export class Refused extends Error {
  override name = 'Refused'
  readonly status: number

  constructor(status: number, sentence: string) {
    super(sentence)
    this.status = status
  }
}
