import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { type AccountId, accountId, tokenId } from '../../lib/protocol/wire/ids.ts'
import { everyScope, type Scope, scope } from '../../lib/protocol/wire/scopes.ts'
import * as v from '../../lib/schema.ts'
import { askServer } from '../../lib/server/control/ask.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note, processTerminal, type Terminal } from '../../lib/wrapper/terminal/terminal.ts'
import { pointingTo } from '../ask-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'
import { drawTable, shownTime } from '../table.ts'

const dayMs = 24 * 60 * 60_000
const actions = { create, list, revoke } as const

export function builder(line: Argv): Argv {
  return dataOptions(line)
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; the default is list' })
    .positional('what', { type: 'string', describe: 'With create: what it is for; with revoke: the ID of a token' })
    .option('account', { type: 'string', requiresArg: true, describe: 'Whose token; needed when there are several accounts' })
    .option('scope', {
      type: 'string',
      requiresArg: true,
      default: 'read',
      describe: `With create: what it may do, one or more of ${everyScope.join(',')}`
    })
    .option('days', {
      type: 'number',
      requiresArg: true,
      describe: 'With create: for how many days it is valid; by default until it is revoked'
    })
    .example('$0 token create ci --scope read', 'a token for a program; shown once')
    .example('$0 token revoke k3j9x2', 'revoke it')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const action = actions[(args['action'] ?? 'list') as keyof typeof actions]
  await action(
    {
      options: readDataOptions(args),
      what: typeof args['what'] === 'string' ? args['what'] : undefined,
      account: typeof args['account'] === 'string' ? v.parse(accountId, args['account']) : undefined,
      scopes: scopesIn(String(args['scope'])),
      days: typeof args['days'] === 'number' ? args['days'] : undefined
    },
    processTerminal()
  )
}

function scopesIn(text: string): Scope[] {
  const scopes = v.safeParse(v.array(scope), text.split(','))
  if (!scopes.success) throw new CannotStart(`--scope must be one or more of ${everyScope.join(', ')}, separated by commas.`)
  return scopes.data
}

interface Asked {
  options: ReturnType<typeof readDataOptions>
  what: string | undefined
  account: AccountId | undefined
  scopes: Scope[]
  days: number | undefined
}

async function create({ options, what: name, account, scopes, days }: Asked, terminal: Terminal): Promise<void> {
  if (name === undefined)
    throw new CannotStart(`token create needs a name that says what it is for. For example:\n  ${typed('token create ci')}`)
  if (days !== undefined && !(days > 0)) throw new CannotStart('--days must be a number above 0.')
  const expiresAt = days === undefined ? undefined : Date.now() + days * dayMs
  const made = await askServer(options, 'createToken', { account, name, scopes, expiresAt })
  terminal.write(`${made.token}\n`)
  note(`\nShown only once. It may ${scopes.join(', ')}. Revoke it with:\n  ${typed(`token revoke ${made.id}`)}`)
}

async function list({ options, account }: Asked, terminal: Terminal): Promise<void> {
  const { tokens } = await askServer(options, 'listTokens', { account })
  if (tokens.length === 0) {
    note(`There are no named tokens in ${options.data}. Create one with:\n  ${typed('token create <name>')}`)
    return
  }
  const rows = tokens.map(({ id, name, scopes, lastUsedAt, lastUsedFrom, expiresAt }) => [
    id,
    name,
    scopes.join(' '),
    // The time is set from the start, for sorting; the network only from the first use.
    shownTime(lastUsedFrom === '' ? null : lastUsedAt),
    shownTime(expiresAt)
  ])
  terminal.write(drawTable(['token', 'for', 'allows', 'last used', 'until'], rows, styleFor(terminal, process.env), terminal.columns))
}

async function revoke({ options, what, account }: Asked, terminal: Terminal): Promise<void> {
  if (what === undefined) throw new CannotStart(`token revoke needs the ID of a token. See the list with:\n  ${typed('token')}`)
  await pointingTo('token', askServer(options, 'revokeToken', { account, id: v.parse(tokenId, what) }))
  terminal.write(`The token ${what} can no longer be used.\n`)
}
