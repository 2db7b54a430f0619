/** A program with its arguments. */
export type SimpleCommand = readonly string[]

/**
 * The simple commands of a line, or undefined if it contains anything that is not clearly a word or a
 * separator. Shells differ in how they parse substitutions, redirections, globs, braces and escapes, and a
 * parsing error would run what nobody allowed: so they are not parsed at all, and such lines need a person.
 * `hasStars`: a `*` is an ordinary character, as in patterns.
 */
export function simpleCommands(line: string, { hasStars = false } = {}): SimpleCommand[] | undefined {
  const commands: string[][] = []
  let words: string[] = []
  let at = 0
  while (at < line.length) {
    const rest = line.slice(at)
    const [blank] = /^[ \t]+/.exec(rest) ?? ['']
    at += blank.length
    if (at >= line.length) break
    const [separator] = /^(?:&&|\|\||[;|\n])/.exec(line.slice(at)) ?? ['']
    if (separator !== '') {
      if (words.length === 0) return undefined
      commands.push(words)
      words = []
      at += separator.length
      continue
    }
    const word = readWord(line.slice(at), hasStars)
    if (word === undefined) return undefined
    words.push(word.text)
    at += word.length
  }
  if (words.length > 0) commands.push(words)
  return commands.length > 0 && commands.every(command => isPlain(command)) ? commands : undefined
}

// Characters without a meaning in any shell: outside quotes, in double quotes, in single quotes.
const bare = /^[\w@%+:,./=-]+/
const bareWithStars = /^[\w@%+:,./=*-]+/
const double = /^"([\p{L}\p{N}_@%+:,./=^ \t'#~*?()[\]{}<>|&;-]*)"/u
const single = /^'([\p{L}\p{N}_@%+:,./=^ \t"#~*?()[\]{}<>|&;$-]*)'/u

function readWord(text: string, hasStars: boolean): { text: string; length: number } | undefined {
  let word = ''
  let at = 0
  while (at < text.length && !/^(?:[ \t\n;|]|&&)/.test(text.slice(at))) {
    const rest = text.slice(at)
    const part = (hasStars ? bareWithStars : bare).exec(rest) ?? double.exec(rest) ?? single.exec(rest)
    if (!part) return undefined
    word += part[1] ?? part[0]
    at += part[0].length
  }
  return { text: word, length: at }
}

// The first word must be a program: no variable assignment, no shell keyword.
function isPlain(words: SimpleCommand): boolean {
  const [program = ''] = words
  // Some shells expand a word that begins like this to the path of a program.
  if (words.some(word => word.startsWith('='))) return false
  return program !== '' && !program.includes('=') && /^[\w@+:,./*-]+$/.test(program) && !reserved.has(program)
}

const reserved = new Set(
  'if then elif else fi for while until do done case esac in select function time coproc { } [[ ]] ! eval exec source . command builtin alias unalias trap set shopt export declare typeset local readonly unset enable hash bind'.split(
    ' '
  )
)
