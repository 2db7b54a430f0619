import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { isLoopback } from '../../lib/options.ts'
import { inviteId } from '../../lib/protocol/wire/ids.ts'
import { askRunningServer, askServer } from '../../lib/server/control/ask.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note, processTerminal, type Terminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { dataOptions, pointingTo, readDataOptions } from '../ask-line.ts'
import { drawTable, shownTime } from '../table.ts'

type Options = ReturnType<typeof readDataOptions>

const actions = { create, list, revoke } as const

export function builder(line: Argv): Argv {
  return dataOptions(line)
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; by default list' })
    .positional('what', { type: 'string', describe: 'With create: who it is for; with revoke: the id of an invitation' })
    .option('public-url', {
      type: 'string',
      requiresArg: true,
      describe: 'With create: the address of the server as phones know it, else what the running one says [AFIELD_PUBLIC_URL]'
    })
    .example('$0 invite create Ada', 'a link for one account, good for 24 hours')
    .example('$0 invite revoke k3j9x2', 'end an invitation that nobody used')
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
  /** As it was named for this one invitation. */
  url: string | undefined
}

async function create(options: Options, { what, url }: Asked, terminal: Terminal): Promise<void> {
  const serving = (await askRunningServer(options.data, 'readStatus', {}))?.serving
  const server = (url ?? serving?.url)?.replace(/\/+$/, '')
  if (server === undefined)
    throw new CannotStart('No running server says under which address phones reach it: start it, or name the address with --public-url.')
  if (url === undefined && isLoopback(new URL(server).hostname.replace(/^\[(.*)\]$/, '$1')))
    throw new CannotStart(
      `The server is reached at ${server}, which only this computer does. Name the address of others with --public-url.`
    )
  const { invite, code } = await askServer(options, 'createInvite', what === undefined ? {} : { label: what })
  terminal.write(`${server}/#invite=${code}\n`)
  note(`\nGood for one account until ${shownTime(invite.endsAt)}. It is shown only now, and anyone who has it can sign up: send it safely.`)
  if (serving?.signup !== 'invite')
    note(`${serving ? 'It cannot be used now: t' : 'T'}he server takes invitations only when it is started with --signup invite.`)
}

async function list(options: Options, _: Asked, terminal: Terminal): Promise<void> {
  const { invites } = await askServer(options, 'listInvites', {})
  if (invites.length === 0) {
    note(`There are no invitations. Make one with:\n  ${typed('invite create <name>')}`)
    return
  }
  const rows = invites.map(({ id, label, state, createdAt, endsAt }) => [id, label, state, shownTime(createdAt), shownTime(endsAt)])
  terminal.write(drawTable(['invitation', 'for', 'state', 'made', 'until'], rows, styleFor(terminal, process.env), terminal.columns))
}

async function revoke(options: Options, { what }: Asked, terminal: Terminal): Promise<void> {
  if (what === undefined) throw new CannotStart(`invite revoke needs the id of an invitation. See the list with:\n  ${typed('invite')}`)
  await pointingTo('invite', askServer(options, 'revokeInvite', { id: inviteId.parse(what) }))
  tell(terminal, `The invitation ${what} can no longer be used.`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
