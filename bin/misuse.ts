import { CannotStart } from '../lib/exit.ts'
import { typed } from '../lib/wrapper/own-program.ts'
import { commands } from './commands.ts'
import { nearest } from './nearest.ts'

const names = commands.filter(({ about }) => about !== false).map(({ usage }) => nameIn(usage))

/** Refuses a first word that is no command. */
export function refuseUnknownCommand([word]: readonly string[]): void {
  if (word === undefined || word.startsWith('-') || commands.some(({ usage }) => nameIn(usage) === word)) return
  const meant = nearest(word, names)
  throw new CannotStart(`There is no command ${word}.${meant === undefined ? '' : ` Did you mean ${meant}?`} See ${typed('--help')}.`)
}

/** What the parser has against a command line, as one sentence in our words. */
export function misuse(complaint: string, argv: readonly string[]): CannotStart {
  const usage = commands.find(({ usage }) => nameIn(usage) === argv[0])?.usage
  const help = typed(usage === undefined ? '--help' : `${nameIn(usage)} --help`)
  return new CannotStart(`${inOurWords(complaint, usage, argv).replace(/\w$/, '$&.')} See ${help}.`)
}

/** Where there is no command, only options. */
export function refuseBareOption(argv: readonly string[]): void {
  const option = argv.find(isOption)
  if (option !== undefined) throw new CannotStart(`There is no option ${nameOf(option)}. See ${typed('--help')}.`)
}

function inOurWords(complaint: string, usage: string | undefined, argv: readonly string[]): string {
  if (complaint.startsWith('Not enough non-option arguments')) return `Something is missing: ${typed(usage ?? '<command>')}.`
  const [, bare] = /^Not enough arguments following: (.*)$/.exec(complaint) ?? []
  if (bare !== undefined) return `--${bare} needs a value.`
  const [, unknown] = /^Unknown arguments?: (.*)$/.exec(complaint) ?? []
  if (unknown !== undefined) return unknownOf(unknown.split(', '), argv)
  const wrong = /^ *Argument: (\S+), Given: "?(.*?)"?, Choices: (.*)$/m.exec(complaint)
  if (!wrong) return complaint
  const [, name = '', given, choices = ''] = wrong
  const isPositional = usage !== undefined && new RegExp(`[<[]${name}[\\].>]`).test(usage)
  return `${isPositional ? name : `--${name}`} takes one of ${choices.replaceAll('"', '')}, not ${given}.`
}

function nameIn(usage: string): string {
  return usage.split(' ', 1)[0] ?? usage
}

/** The first that was typed: the parser also names an option as a program would write it. */
function unknownOf(names: readonly string[], argv: readonly string[]): string {
  const option = argv.find(word => isOption(word) && names.some(name => nameOf(word) === dashed(name) || isAmong(name, word)))
  return option === undefined ? `There is no place for the word ${names[0]}.` : `There is no option ${nameOf(option)}.`
}

function isOption(word: string): boolean {
  return /^--?[^-]/.test(word)
}

function nameOf(option: string): string {
  return option.replace(/=.*/s, '')
}

function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`
}

/** One letter of several behind one dash. */
function isAmong(name: string, option: string): boolean {
  return name.length === 1 && /^-[^-]/.test(option) && option.includes(name)
}
