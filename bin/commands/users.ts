import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { accountId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { askServer } from '../../lib/server/control/ask.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note, processTerminal, type Terminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { pointingTo } from '../ask-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'
import { drawTable, shownBytes, shownTime } from '../table.ts'

type Options = ReturnType<typeof readDataOptions>

const actions = { list, approve, reject, remove } as const

export function builder(line: Argv): Argv {
  return dataOptions(line)
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; the default is list' })
    .positional('who', { type: 'string', describe: 'The key of someone waiting, or the ID of an account' })
    .option('yes', { type: 'boolean', alias: 'y', describe: 'With remove: do not ask for confirmation' })
    .example('$0 users', 'who has an account and who is waiting')
    .example('$0 users approve lusab-babad-…', 'approve a request')
    .example('$0 users remove k3j9x2', 'remove an account permanently')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const action = actions[(args['action'] ?? 'list') as keyof typeof actions]
  const who = typeof args['who'] === 'string' ? args['who'] : undefined
  await action(readDataOptions(args), { who, isSure: args['yes'] === true }, processTerminal())
}

interface Asked {
  who: string | undefined
  isSure: boolean
}

async function list(options: Options, _: Asked, terminal: Terminal): Promise<void> {
  const { users, waiting } = await askServer(options, 'listUsers', {})
  const style = styleFor(terminal, process.env)
  const rows = users.map(({ id, fingerprint, role, createdAt, lastUsedAt, messages, bytes }) => [
    id,
    fingerprint,
    role,
    shownTime(createdAt),
    shownTime(lastUsedAt),
    String(messages),
    shownBytes(bytes)
  ])
  if (rows.length === 0) note(`There are no accounts yet in ${options.data}`)
  else terminal.write(drawTable(['account', 'key', 'role', 'since', 'last seen', 'messages', 'size'], rows, style, terminal.columns))
  if (waiting.length === 0) return
  const asked = waiting.map(({ fingerprint, address, client, askedAt, endsAt }) => [
    fingerprint,
    address,
    client,
    shownTime(askedAt),
    shownTime(endsAt)
  ])
  terminal.write(`\n${drawTable(['waiting key', 'from', 'client', 'asked', 'until'], asked, style, terminal.columns)}`)
  tell(terminal, `\nCheck whose key it is before you approve it. Approve a request with:\n  ${typed('users approve <key>')}`)
}

async function approve(options: Options, { who }: Asked, terminal: Terminal): Promise<void> {
  const fingerprint = required(who, 'approve', 'the key of someone waiting')
  await pointingTo('users', askServer(options, 'approveSignup', { fingerprint }))
  tell(terminal, `${fingerprint} is approved: signing in again within 15 minutes creates the account.`)
}

async function reject(options: Options, { who }: Asked, terminal: Terminal): Promise<void> {
  const fingerprint = required(who, 'reject', 'the key of someone waiting')
  await pointingTo('users', askServer(options, 'rejectSignup', { fingerprint }))
  tell(terminal, `${fingerprint} was rejected and cannot ask again for 15 minutes.`)
}

async function remove(options: Options, { who, isSure }: Asked, terminal: Terminal): Promise<void> {
  const id = v.parse(accountId, required(who, 'remove', 'the ID of an account'))
  const { users } = await askServer(options, 'listUsers', {})
  const user = users.find(row => row.id === id)
  if (!user) throw new CannotStart(`There is no account ${id}. See the list with:\n  ${typed('users')}`, 1)
  const loss = `account ${id} with ${user.messages} ${user.messages === 1 ? 'message' : 'messages'} (${shownBytes(user.bytes)})`
  if (!isSure) await confirm(terminal, `This removes ${loss} permanently. Type the ID to continue: `, id)
  await askServer(options, 'removeUser', { id })
  tell(terminal, `Removed ${loss}.`)
}

async function confirm(terminal: Terminal, question: string, word: string): Promise<void> {
  const answer = await terminal.ask(question)
  if (answer === undefined) throw new CannotStart('Cannot ask for confirmation here; add --yes to skip it.')
  if (answer.trim() !== word) throw new CannotStart('Nothing was removed.', 1)
}

function required(who: string | undefined, action: string, what: string): string {
  if (who === undefined) throw new CannotStart(`users ${action} needs ${what}. See the list with:\n  ${typed('users')}`)
  return who
}
