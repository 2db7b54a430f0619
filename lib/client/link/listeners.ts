/** Listeners for one kind of event, called in the order in which they were added. */
export class Listeners<Thing> {
  readonly #listeners = new Set<{ call: (thing: Thing) => void }>()

  /** The returned function removes the listener, also during a notification. */
  add(call: (thing: Thing) => void): () => void {
    const listener = { call }
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(thing: Thing): void {
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener.call(thing)
  }
}
