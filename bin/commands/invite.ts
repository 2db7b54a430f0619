import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { isLoopback } from '../../lib/options.ts'
import { inviteId } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'
import { askRunningServer, askServer } from '../../lib/server/control/ask.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note, processTerminal, type Terminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { pointingTo } from '../ask-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'
import { drawTable, shownTime } from '../table.ts'

type Options = ReturnType<typeof readDataOptions>

const actions = { create, list, revoke } as const

export function builder(line: Argv): Argv {
  return dataOptions(line)
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; the default is list' })
    .positional('what', { type: 'string', describe: 'With create: who it is for; with revoke: the ID of an invitation' })
    .option('public-url', {
      type: 'string',
      requiresArg: true,
      describe: 'With create: the address at which phones reach the server; by default that of the running server [AFIELD_PUBLIC_URL]'
    })
    .example('$0 invite create Ada', 'a link for one account, valid for 24 hours')
    .example('$0 invite revoke k3j9x2', 'revoke an unused invitation')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const action = actions[(args['action'] ?? 'list') as keyof typeof actions]
  await action(
    readDataOptions(args),
    { what: textOf(args['what']), url: textOf(args['public-url']) ?? textOf(process.env['AFIELD_PUBLIC_URL']) },
    processTerminal()
  )
}

interface Asked {
  what: string | undefined
  /** As given for this one invitation. */
  url: string | undefined
}

async function create(options: Options, { what, url }: Asked, terminal: Terminal): Promise<void> {
  const serving = (await askRunningServer(options.data, 'readStatus', {}))?.serving
  const server = (url ?? serving?.url)?.replace(/\/+$/, '')
  if (server === undefined)
    throw new CannotStart('No server is running that knows its public address. Start it, or give the address with --public-url.')
  if (url === undefined && isLoopback(new URL(server).hostname.replace(/^\[(.*)\]$/, '$1')))
    throw new CannotStart(`Only this computer can reach the server at ${server}. Give a public address with --public-url.`)
  const { invite, code } = await askServer(options, 'createInvite', what === undefined ? {} : { label: what })
  terminal.write(`${server}/#invite=${code}\n`)
  note(
    `\nValid for one account until ${shownTime(invite.endsAt)}. It is shown only once, and anyone who has it can sign up: send it safely.`
  )
  if (serving?.signup !== 'invite')
    note(`${serving ? 'It cannot be used now: t' : 'T'}he server accepts invitations only when started with --signup invite.`)
}

async function list(options: Options, _: Asked, terminal: Terminal): Promise<void> {
  const { invites } = await askServer(options, 'listInvites', {})
  if (invites.length === 0) {
    note(`There are no invitations in ${options.data}. Create one with:\n  ${typed('invite create <name>')}`)
    return
  }
  const rows = invites.map(({ id, label, state, createdAt, endsAt }) => [id, label, state, shownTime(createdAt), shownTime(endsAt)])
  terminal.write(drawTable(['invitation', 'for', 'state', 'made', 'until'], rows, styleFor(terminal, process.env), terminal.columns))
}

async function revoke(options: Options, { what }: Asked, terminal: Terminal): Promise<void> {
  if (what === undefined) throw new CannotStart(`invite revoke needs the ID of an invitation. See the list with:\n  ${typed('invite')}`)
  await pointingTo('invite', askServer(options, 'revokeInvite', { id: v.parse(inviteId, what) }))
  tell(terminal, `The invitation ${what} can no longer be used.`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
