// The negative control of readers that are cut off, loaded into them: each read begins one message too early.
import { changeSource } from '../instances/change-source.mjs'

changeSource('lib/client/feed/feed.ts', text =>
  text
    .replace('this.#readAfter(this.cursor, signal)', 'this.#readAfter(Math.max(0, this.cursor - 1), signal)')
    .replace('.filter(message => message.seq > (this.cursor ?? 0))', '')
)
