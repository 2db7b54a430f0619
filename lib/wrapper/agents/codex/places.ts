import type { ToldUpTo } from '../agent.ts'

// A place in a thread, as it is kept where others keep a place in a file: Codex alone can read its threads.
const scheme = 'codex:'
const end = '/end'
const cut = '/cut'

export interface Place {
  thread: string
  /** Undefined before the first turn. */
  turn: string | undefined
  /** Whether the turn was told as well. */
  isTold: boolean
  /** The turn was ended because Codex was gone: what Codex has of it after all was perhaps not heard. */
  isCut?: boolean
}

export function placeOf({ thread, turn = '', isTold, isCut = false }: Place): ToldUpTo {
  return { file: `${scheme}${thread}/${turn}${isTold ? end : isCut ? cut : ''}`, offset: 0 }
}

export function readPlace({ file }: ToldUpTo): Place | undefined {
  const [, thread, turn, told] = /^codex:([^/]+)\/([^/]*)(\/end|\/cut)?$/.exec(file) ?? []
  if (thread === undefined) return undefined
  return { thread, turn: turn || undefined, isTold: told === end, isCut: told === cut }
}
