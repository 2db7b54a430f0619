/** Those who want to hear of one kind of thing, called in the order in which they came. */
export class Listeners<Thing> {
  readonly #listeners = new Set<{ call: (thing: Thing) => void }>()

  /** The returned function takes the listener away again, also in the midst of telling. */
  add(call: (thing: Thing) => void): () => void {
    const listener = { call }
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(thing: Thing): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener.call(thing)
  }
}
