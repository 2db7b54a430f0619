import { CannotStart } from '../lib/exit.ts'
import { typed } from '../lib/wrapper/home/own-process.ts'
import { commands } from './commands.ts'
import { nearest } from './nearest.ts'

const names = [...commands.filter(({ about }) => about !== false).map(({ usage }) => nameIn(usage)), 'version']

/** Rejects a first word that is not a command. */
export function refuseUnknownCommand([word]: readonly string[]): void {
  if (word === undefined || word.startsWith('-') || commands.some(({ usage }) => nameIn(usage) === word)) return
  throw new CannotStart(`There is no command ${word}.${meant(nearest(word, names))} See ${typed('--help')}.`)
}

/** The parser's complaint about a command line, as one plain sentence. `options`: all that exist. */
export function misuse(complaint: string, argv: readonly string[], options: readonly string[] = []): CannotStart {
  const usage = commands.find(({ usage }) => nameIn(usage) === argv[0])?.usage
  const help = typed(usage === undefined ? '--help' : `${nameIn(usage)} --help`)
  return new CannotStart(`${inOurWords(complaint, usage, argv, options).replace(/\w$/, '$&.')} See ${help}.`)
}

/** If there is no command, only options. */
export function refuseBareOption(argv: readonly string[], options: readonly string[]): void {
  const option = argv.find(isOption)
  if (option !== undefined) throw new CannotStart(`${noOption(option, options)} See ${typed('--help')}.`)
}

function inOurWords(complaint: string, usage: string | undefined, argv: readonly string[], options: readonly string[]): string {
  if (complaint.startsWith('Not enough non-option arguments'))
    return `An argument is missing: ${typed(usage ?? '<command>')}.${explained(usage)}`
  const [, bare] = /^Not enough arguments following: (.*)$/.exec(complaint) ?? []
  if (bare !== undefined) return `--${bare} needs a value.`
  const [, unknown] = /^Unknown arguments?: (.*)$/.exec(complaint) ?? []
  if (unknown !== undefined) return unknownOf(unknown.split(', '), argv, options)
  const wrong = /^ *Argument: (\S+), Given: "?(.*?)"?, Choices: (.*)$/m.exec(complaint)
  if (!wrong) return complaint
  const [, name = '', given, choices = ''] = wrong
  const isPositional = usage !== undefined && new RegExp(`[<[]${name}[\\].>]`).test(usage)
  return `${isPositional ? name : `--${name}`} must be one of ${choices.replaceAll('"', '')}, not ${given}.`
}

function explained(usage: string | undefined): string {
  if (usage === undefined || nameIn(usage) !== 'upgrade') return ''
  return ' The source is the folder of a downloaded release, the program in it, or the https address of a release.'
}

function nameIn(usage: string): string {
  return usage.split(' ', 1)[0] ?? usage
}

/** The first one as typed: the parser also reports the camelCase name of an option. */
function unknownOf(names: readonly string[], argv: readonly string[], options: readonly string[]): string {
  const option = argv.find(word => isOption(word) && names.some(name => nameOf(word) === dashed(name) || isAmong(name, word)))
  return option === undefined ? `Unexpected argument ${names[0]}.` : noOption(option, options)
}

function noOption(option: string, options: readonly string[]): string {
  const name = nameOf(option)
  return `There is no option ${name}.${meant(nearest(name, options.map(dashed)))}`
}

function meant(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean ${name}?`
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
