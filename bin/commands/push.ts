import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { type Channel, openPushChannels, type PushChannels } from '../../lib/wrapper/account/notifications.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { foldedIndented, styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note, type Terminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { drawTable, shownTime } from '../table.ts'
import { readServerOption, serverOption } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return serverOption(line)
    .positional('action', { choices: ['status', 'test', 'add', 'remove'], default: 'status', describe: 'What to do' })
    .positional('what', { type: 'string', describe: 'A number from the status list; with add: ntfy or webhook' })
    .positional('address', { type: 'string', describe: 'With add: the address of the ntfy topic or webhook' })
    .option('ntfy-token', { type: 'string', requiresArg: true, describe: 'Access token for the ntfy server, if it requires one' })
    .example('$0 push', 'where notifications go')
    .example('$0 push test', 'send a test to all')
    .example('$0 push add ntfy URL', 'also to the ntfy app')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const { home, server, env, terminal } = readServerOption(args)
  const channels = openPushChannels({ home, server, env })
  const what = textOf(args['what'])
  switch (args['action']) {
    case 'test':
      process.exit(await test(channels, what, terminal))
      break
    case 'add':
      await add(channels, { kind: what, url: textOf(args['address']), token: textOf(args['ntfyToken']) }, terminal)
      break
    case 'remove':
      await channels.remove(chosen(await channels.list(), what))
      tell(terminal, 'Removed. It gets no more notifications.')
      break
    default:
      await status(channels, terminal, env)
  }
  process.exit(0)
}

async function status(channels: PushChannels, terminal: Terminal, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const all = await channels.list()
  if (all.length === 0) {
    note(`No device gets notifications yet. Add one with:\n  ${typed(anExample)}`)
    return
  }
  const rows = all.map(({ kind, device, acknowledges, health }, index) => [
    String(index + 1),
    kinds[kind],
    device ?? '',
    String(health.sent),
    acknowledges ? String(health.arrived) : 'unknown',
    health.last[0] ? shownTime(health.last[0].at) : 'never',
    health.last[0] ? outcomeWords(health.last[0]) : ''
  ])
  terminal.write(drawTable(['#', 'kind', 'added by', 'sent', 'arrived', 'last', ''], rows, styleFor(terminal, env), terminal.columns))
  terminal.write(`${foldedIndented('Sent and arrived: in the last 7 days.', terminal.columns)}\n`)
}

async function test(channels: PushChannels, what: string | undefined, terminal: Terminal): Promise<number> {
  const all = await channels.list()
  if (all.length === 0) throw new CannotStart(`No device gets notifications yet. Add one with:\n  ${typed(anExample)}`)
  const results = await channels.test(what === undefined ? undefined : chosen(all, what))
  for (const [index, { id, kind }] of all.entries()) {
    const result = results.find(result => result.id === id)
    if (result) terminal.write(`${foldedIndented(`${index + 1}  ${kinds[kind]}: ${outcomeWords(result)}`, terminal.columns)}\n`)
  }
  return results.every(({ outcome }) => outcome === 'accepted' || outcome === 'arrived') ? 0 : 1
}

async function add(
  channels: PushChannels,
  { kind, url, token }: { kind: string | undefined; url: string | undefined; token: string | undefined },
  terminal: Terminal
): Promise<void> {
  if ((kind !== 'ntfy' && kind !== 'webhook') || url === undefined) {
    throw new CannotStart(`Add what? For example:\n  ${typed(anExample)}`)
  }
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw new CannotStart(`${url} is not a web address; it must begin with https://`)
  if (kind === 'ntfy') await channels.addNtfy({ url, ...(token !== undefined && { token }) })
  else tell(terminal, `Its requests are signed with this secret, which is shown only once:\n  ${await channels.addWebhook({ url })}`)
  tell(terminal, `Added. Try it with:\n  ${typed('push test')}`)
}

const anExample = 'push add ntfy https://ntfy.sh/a-hard-to-guess-name'

function chosen(all: readonly Channel[], what: string | undefined): Channel {
  const channel = what !== undefined && /^\d+$/.test(what) ? all[Number(what) - 1] : undefined
  if (channel) return channel
  throw new CannotStart(`${what === undefined ? 'Which one?' : `There is no channel ${what}.`} See the numbers with:\n  ${typed('push')}`)
}

const kinds: Record<Channel['kind'], string> = {
  expo: "Happy's app",
  'web-push': 'browser',
  ntfy: 'ntfy',
  'unified-push': 'UnifiedPush',
  webhook: 'webhook',
  own: 'own',
  unknown: 'unknown'
}

function outcomeWords({ outcome, reason }: { outcome: Channel['health']['last'][number]['outcome']; reason: string | null }): string {
  const words = {
    waiting: 'will be retried',
    accepted: 'handed over',
    arrived: 'arrived',
    gone: 'the device no longer exists and was removed',
    refused: 'refused',
    unknown: 'no such address',
    expired: 'expired before it could be sent',
    settled: 'no longer needed',
    watched: 'not sent because you were using Afield',
    collected: 'included in a summary'
  }[outcome]
  return reason === null ? words : `${words} (${reason})`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
