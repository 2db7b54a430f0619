/** What had to refuse an input. */
export type Layer = 'raw bytes' | 'requests' | 'bodies' | 'frames' | 'Engine.IO packets' | 'Socket.IO packets' | 'events'

/**
 * What a run has come to. An input counts when something in it was made wrong, and the server has judged it: answered it,
 * answered what came after it on the same connection, or closed that.
 */
export class Tally {
  readonly inputs = new Map<Layer, number>()
  /** What must not have happened, in sentences. */
  readonly findings: string[] = []

  get total(): number {
    return [...this.inputs.values()].reduce((sum, count) => sum + count, 0)
  }

  count(layer: Layer, inputs = 1): void {
    this.inputs.set(layer, (this.inputs.get(layer) ?? 0) + inputs)
  }

  found(sentence: string): void {
    this.findings.push(sentence)
  }
}
