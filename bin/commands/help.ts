import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { helpPages, readHelpPage } from '../../lib/help-pages.ts'
import { findProgram } from '../../lib/program-in-path.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { processTerminal } from '../../lib/wrapper/terminal/terminal.ts'
import { manualText } from '../manual.ts'
import { nearest } from '../nearest.ts'

export function builder(line: Argv): Argv {
  return line
    .positional('topic', { type: 'string', describe: `A command, or a page: ${helpPages.join(', ')}` })
    .example('$0 help claude', 'the options of a command')
    .example('$0 help https', 'how phones reach the server')
}

/** For a page; bin/main.ts shows the help of a command. */
export function handlerFor(commands: readonly { usage: string; about: string | false }[]) {
  return async (args: ArgumentsCamelCase): Promise<void> => {
    const topic = String(args['topic'])
    const page = helpPages.find(name => name === topic)
    if (page === undefined) throw noTopic(topic, commands)
    const terminal = processTerminal()
    const text = manualText(readHelpPage(page), { style: styleFor(terminal, process.env), columns: terminal.columns })
    if (terminal.isTTY && text.split('\n').length > terminal.rows && (await wasPaged(text))) return
    terminal.write(text)
  }
}

function noTopic(topic: string, commands: readonly { usage: string; about: string | false }[]): CannotStart {
  const names = commands.flatMap(({ usage, about }) => (about === false ? [] : [usage.split(' ')[0] ?? usage]))
  const meant = nearest(topic, [...names, ...helpPages])
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`
  return new CannotStart(`There is no command and no page ${topic}.${hint} See ${typed('--help')}.`)
}

/** By the program that the person chose, or `less`; false if there is none. */
async function wasPaged(text: string): Promise<boolean> {
  const [program = 'less', ...words] = process.env['PAGER']?.trim().split(/\s+/) ?? []
  const file = findProgram(program, process.env)
  if (file === undefined) return false
  const env = { LESS: 'FRX', LESSCHARSET: 'utf-8', ...process.env }
  const pager = spawn(file, words, { stdio: ['pipe', 'inherit', 'inherit'], env })
  // Ctrl-C is for the pager, and it may end before it has read everything.
  process.on('SIGINT', () => {})
  pager.stdin.on('error', () => {})
  pager.stdin.end(text)
  return once(pager, 'exit').then(
    () => true,
    () => false
  )
}
