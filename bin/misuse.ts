import { CannotStart } from '../lib/exit.ts'
import { commands } from './commands.ts'
import { nearest } from './nearest.ts'

const names = commands.filter(({ about }) => about !== false).map(({ usage }) => nameIn(usage))

/** Refuses a first word that is no command. */
export function refuseUnknownCommand([word]: readonly string[]): void {
  if (word === undefined || word.startsWith('-') || commands.some(({ usage }) => nameIn(usage) === word)) return
  const meant = nearest(word, names)
  throw new CannotStart(`There is no command ${word}.${meant === undefined ? '' : ` Did you mean ${meant}?`} See afield --help.`)
}

/** What the parser has against a command line, as one sentence in our words. */
export function misuse(complaint: string, [word]: readonly string[]): CannotStart {
  const usage = commands.find(({ usage }) => nameIn(usage) === word)?.usage
  return new CannotStart(
    `${inOurWords(complaint, usage).replace(/\w$/, '$&.')} See afield ${usage === undefined ? '' : `${nameIn(usage)} `}--help.`
  )
}

function inOurWords(complaint: string, usage: string | undefined): string {
  if (complaint.startsWith('Not enough non-option arguments')) return `Something is missing: afield ${usage ?? '<command>'}.`
  const [, bare] = /^Not enough arguments following: (.*)$/.exec(complaint) ?? []
  if (bare !== undefined) return `--${bare} needs a value.`
  const [, unknown] = /^Unknown arguments?: (.*)$/.exec(complaint) ?? []
  if (unknown !== undefined) return `Nothing here is called ${unknown}.`
  const wrong = /^ *Argument: (\S+), Given: "?(.*?)"?, Choices: (.*)$/m.exec(complaint)
  if (!wrong) return complaint
  const [, name = '', given, choices = ''] = wrong
  const isPositional = usage !== undefined && new RegExp(`[<[]${name}[\\].>]`).test(usage)
  return `${isPositional ? name : `--${name}`} takes one of ${choices.replaceAll('"', '')}, not ${given}.`
}

function nameIn(usage: string): string {
  return usage.split(' ', 1)[0] ?? usage
}
