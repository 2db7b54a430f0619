/** A word of a command line. */
export interface CommandWord {
  readonly text: string
  /** Its position. */
  readonly from: number
  /** A program may be named here: at the start, after a separator, after a variable that is set, or behind a word that runs another. */
  readonly mayBeProgram: boolean
}

// A brace or an exclamation mark separates only before a word; within one it is part of a name.
const words = /\{\}|[\n;&|()`{!]|\w+=(?:"[^"\n]*"|'[^'\n]*'|[^\s;&|()`"'])*|[^\s;&|()`]+/g
const separator = /^[\n;&|()`{!]$/
const assignment = /^\w+=/
const runner = /\b(?:sudo|doas|exec|eval|env|xargs|time|nohup|nice|setsid|stdbuf|timeout|if|elif|while|until|then|do|else|command)$/
const optionOfRunner = /^(?:-.*|\d.*|\{\})$/

/** In one pass, however long the command is. */
export function wordsOf(command: string): CommandWord[] {
  const found: CommandWord[] = []
  let mayBeProgram = true
  let isBehindRunner = false
  for (const { 0: text, index: from } of command.matchAll(words)) {
    if (separator.test(text)) {
      mayBeProgram = true
      isBehindRunner = false
      continue
    }
    found.push({ text, from, mayBeProgram })
    if (runner.test(text)) isBehindRunner = true
    else if (!assignment.test(text) && !optionOfRunner.test(text)) isBehindRunner = false
    mayBeProgram = isBehindRunner || (mayBeProgram && assignment.test(text))
  }
  return found
}
