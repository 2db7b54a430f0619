import { useEffect, useState } from 'preact/hooks'
import { useAnswer } from '../../ui/behavior/answer.ts'
import { commandsLike, filesLike, tokenAt } from './suggestion-matches.ts'

/** A suggestion at the caret: a command of the agent, or a file of its folder. */
export interface Suggestions {
  readonly kind: 'command' | 'file'
  readonly found: readonly string[]
  readonly at: number
  /** The whole text with the chosen suggestion, and the caret position then. */
  taken(index: number): { text: string; caret: number }
  move(by: 1 | -1): void
  close(): void
}

interface Sources {
  readonly commands: readonly string[]
  readonly hasFiles: boolean
  findFiles(query: string): Promise<readonly string[]>
}

/** Follows the text before the caret. `caret` is undefined without focus. */
export function useSuggestions(text: string, caret: number | undefined, sources: Sources): Suggestions | undefined {
  const token = caret === undefined ? undefined : tokenAt(text.slice(0, caret))
  /** Chosen by key, and only from the suggestions shown then: a key may be pressed before the effects of the previous key have run. */
  const [chosen, choose] = useState<{ of: string; at: number }>()
  const [closed, close] = useState<string>()
  const query = token?.kind === 'file' && sources.hasFiles ? token.query : undefined
  const files = useAnswer(query !== undefined && (() => sources.findFiles(query).catch(() => [])), [query, sources.findFiles])
  useEffect(() => {
    if (token === undefined) close(undefined)
  }, [token === undefined])
  if (token === undefined || caret === undefined || closed === token.kind) return undefined
  // Until its answer arrives, suggestions of the previous query: no key may choose a file that no longer matches.
  const paths = files.value ?? filesLike(files.last ?? [], token.query)
  const found = token.kind === 'command' ? commandsLike(sources.commands, token.query) : query === undefined ? [] : paths
  if (found.length === 0) return undefined
  const of = `${token.kind} ${token.query} ${found.join()}`
  const at = (now = chosen) => (now?.of === of ? now.at : 0)
  return {
    kind: token.kind,
    found,
    at: at(),
    taken(index) {
      const before = text.slice(0, caret - token.query.length) + (found[index] ?? '')
      const after = text.slice(caret)
      const space = after.startsWith(' ') ? '' : ' '
      return { text: before + space + after, caret: before.length + 1 }
    },
    move: by => choose(now => ({ of, at: (at(now) + by + found.length) % found.length })),
    close: () => close(token.kind)
  }
}

export const suggestionsId = 'composer-suggestions'
export const suggestionId = (index: number) => `${suggestionsId}-${index}`
