import { randomBytes } from 'node:crypto'
import { Refused } from '../../client/link/refusals.ts'
import { createRest, type Rest } from '../../client/link/rest.ts'
import { CannotStart } from '../../exit.ts'
import type { ReplyOf } from '../../protocol/wire/routes.ts'
import { type Credentials, chooseServer, deviceToken, type Home, needCredentials } from '../home/credentials.ts'
import { typed } from '../home/own-process.ts'
import { type KnownSession, listSessions } from '../home/session-folder.ts'
import { type Terminal, tell } from '../terminal/terminal.ts'
import { fetch } from '../uplink/network.ts'
import { whyNotDone } from './connection-errors.ts'

interface NotifyOptions {
  home: Home
  /** As given on the command line. */
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
  terminal: Terminal
  text: string
  /** The server's id of a session of this computer; the newest one by default. */
  session: string | undefined
}

/**
 * Sends a notification to the phones of the account, on behalf of a session of this computer. Resolves to
 * the exit code.
 */
export async function notify(options: NotifyOptions): Promise<number> {
  const { home, env, terminal, text } = options
  const server = chooseServer(options.server, env, home)
  const credentials = needCredentials(home, server)
  const id = sessionFor(options, credentials)
  const rest = createRest({ server, token: deviceToken({ home, credentials, fetch }), fetch })
  const { result } = await rest.call('notify', { params: { id }, body: { kind: 'done', title: 'Afield', body: text } }).catch(error => {
    throw new CannotStart(whyNotDone(error, server), 1, { cause: error })
  })
  if (result === 'failed') throw new CannotStart(`No phone could be notified. See why with:\n  ${typed('push')}`, 1)
  tell(terminal, outcomes[result])
  return 0
}

const outcomes = {
  sent: 'Your phone was notified.',
  partial: 'Some of your phones were notified.',
  suppressed: 'Your phone was not notified: you are using the app.',
  no_tokens: 'No phone is set up for notifications yet; an open app was notified.'
} as const

function sessionFor({ home, session }: NotifyOptions, { server }: Credentials): string {
  const known = listSessions(home.path).filter(({ notes }) => notes.server === server && notes.id !== undefined)
  // A running one is more likely meant than one that has ended since.
  const byLife = (one: KnownSession, other: KnownSession) => Number(other.pid !== undefined) - Number(one.pid !== undefined)
  const found = session === undefined ? known.toSorted(byLife)[0] : known.find(({ notes }) => notes.id === session)
  if (found?.notes.id !== undefined) return found.notes.id
  const why = session === undefined ? 'No session has run on this computer yet' : `This computer has no session ${session}`
  throw new CannotStart(`${why}, and a notification must belong to one. List them with:\n  ${typed('sessions')}`)
}

export type Channel = ReplyOf<'readNotifications'>['channels'][number]

/** Where an account's notifications go besides its apps, as seen and changed by a linked computer. */
export interface PushChannels {
  /** Oldest first, so that numbers stay the same when one is added. */
  list(): Promise<Channel[]>
  /** Sends a test to one of them, or to all; resolves to the results of the first attempt. */
  test(channel?: Channel): Promise<ReplyOf<'testNotification'>['channels']>
  addNtfy(topic: { url: string; token?: string | undefined }): Promise<void>
  /** Resolves to the secret that its requests are signed with, which is only shown now. */
  addWebhook(hook: { url: string }): Promise<string>
  remove(channel: Channel): Promise<void>
}

export function openPushChannels(options: {
  home: Home
  /** As given on the command line. */
  server: string | undefined
  env: Readonly<Record<string, string | undefined>>
}): PushChannels {
  const { home, env } = options
  const server = chooseServer(options.server, env, home)
  const credentials = needCredentials(home, server)
  const rest = createRest({ server, token: deviceToken({ home, credentials, fetch }), fetch })
  const asked = <T>(answer: ReturnType<Rest['call']> & Promise<T>) => answerOf(server, answer)
  const register = (prefix: string, fields: object) =>
    asked(rest.call('addPushToken', { body: { token: tokenOf(prefix, { ...fields, app: server }) } }))

  return {
    list: async () => (await asked(rest.call('readNotifications', {}))).channels.toSorted((a, b) => a.createdAt - b.createdAt),
    test: async channel => (await asked(rest.call('testNotification', { body: channel ? { channel: channel.id } : {} }))).channels,
    async addNtfy(topic) {
      await register('Ntfy', topic)
    },
    async addWebhook(hook) {
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      await register('Webhook', { ...hook, secret })
      return secret
    },
    async remove({ id }) {
      await asked(rest.call('removeChannel', { params: { id } }))
    }
  }
}

function tokenOf(prefix: string, fields: object): string {
  return `${prefix}[${Buffer.from(JSON.stringify(fields)).toString('base64url')}]`
}

async function answerOf<T>(server: string, answer: ReturnType<Rest['call']> & Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const why = error instanceof Refused && refusals[error.status]
    throw new CannotStart(why ? `The server rejected the request: ${why}.` : whyNotDone(error, server), 1, { cause: error })
  }
}

const refusals: Record<number, string> = {
  400: 'it cannot use this address or token',
  404: 'it has no such channel, or is too old for notification channels'
}
