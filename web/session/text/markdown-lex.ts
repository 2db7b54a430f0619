import { Lexer, type Token } from 'marked'

// In characters. The lexer is fast, but not on everything.
const longestLexed = 100_000

// Nobody reads quotes within quotes any deeper, and neither the lexer nor what draws has endless room for them.
const deepest = 50

/** Undefined when a text is too long, or too deep, to be more than plain. */
export function lex(text: string): Token[] | undefined {
  if (text.length > longestLexed) return undefined
  try {
    const tokens = new Lexer({ gfm: true, breaks: false }).lex(text)
    return isDeep(tokens, deepest) ? undefined : tokens
  } catch {
    // It ran out of room. The text is as good without its marks.
    return undefined
  }
}

function isDeep(tokens: readonly Token[], left: number): boolean {
  return (
    left === 0 || tokens.some(token => isDeep('items' in token ? token.items : 'tokens' in token ? (token.tokens ?? []) : [], left - 1))
  )
}
