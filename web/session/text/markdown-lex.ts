import { Lexer, type Token } from 'marked'

// In characters. The lexer is fast, but not on everything.
const longestLexed = 100_000

// Deeper nesting of quotes is not useful, and both lexer and renderer have a limited stack.
const deepest = 50

/** Undefined if a text is too long, or too deeply nested, to be formatted. */
export function lex(text: string): Token[] | undefined {
  if (text.length > longestLexed) return undefined
  try {
    const tokens = new Lexer({ gfm: true, breaks: false }).lex(text)
    return isDeep(tokens, deepest) ? undefined : tokens
  } catch {
    // The stack overflowed. The text is shown without formatting.
    return undefined
  }
}

function isDeep(tokens: readonly Token[], left: number): boolean {
  return (
    left === 0 || tokens.some(token => isDeep('items' in token ? token.items : 'tokens' in token ? (token.tokens ?? []) : [], left - 1))
  )
}
