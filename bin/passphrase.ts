import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../lib/exit.ts'

const env = 'AFIELD_BACKUP_PASSPHRASE'

/** Never a flag with the passphrase itself: every user of the computer can read command lines. */
export function passphraseOptions(line: Argv): Argv {
  return line.option('passphrase-file', {
    type: 'string',
    requiresArg: true,
    describe: `File whose first line is the passphrase; otherwise $${env}, otherwise a prompt on the terminal`
  })
}

/** The passphrase from file, environment or terminal; undefined when none was given. */
export async function readPassphrase(args: ArgumentsCamelCase, question: string): Promise<string | undefined> {
  const file = args['passphraseFile']
  const given = typeof file === 'string' ? firstLineOf(file) : process.env[env]
  if (typeof file === 'string' && given === '') throw new CannotStart(`The passphrase file ${file} has an empty first line.`)
  if (given !== undefined) return given === '' ? undefined : given
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const answer = await askHidden(question)
  return answer === '' ? undefined : answer
}

/** As above, and typed twice when it comes from a terminal: after a typo no one could open the backup. */
export async function readNewPassphrase(args: ArgumentsCamelCase): Promise<string | undefined> {
  const first = await readPassphrase(args, 'Passphrase for the backup (empty for none): ')
  const wasTyped = typeof args['passphraseFile'] !== 'string' && process.env[env] === undefined
  if (first === undefined || !wasTyped || (await askHidden('Repeat passphrase: ')) === first) return first
  throw new CannotStart('The passphrases do not match; no backup was made.')
}

function firstLineOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? ''
  } catch (error) {
    throw new CannotStart(`The passphrase file ${file} cannot be read.`, undefined, { cause: error })
  }
}

async function askHidden(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  // The terminal stops showing what is typed here, so the question may not be seen before.
  const line = createInterface({ input: process.stdin, output: silent, terminal: true })
  process.stderr.write(question)
  line.once('SIGINT', () => process.exit(130))
  try {
    return await line.question('')
  } finally {
    line.close()
    process.stderr.write('\n')
  }
}
