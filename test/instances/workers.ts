import { setTimeout as pause } from 'node:timers/promises'
import { Client, type World } from './client.ts'
import { contentOf, type Name, nameOf, textOf } from './names.ts'

/** Somebody who works until told to stop, and has then ended what it began. */
export interface Worker {
  run(until: AbortSignal): Promise<void>
}

export interface Desk {
  world: World
  token: string
  session: string
}

/** So long a client waits before it tries another instance. */
export const beforeAgainMs = 50

const draftOf = (name: Name) => ({ localId: textOf(name), content: contentOf(name) })

/** Posts batches, now and then twice at once at two instances, and repeats each until it is acknowledged. */
export function batchWriter(writer: number, { world, token, session }: Desk): Worker {
  const clients = [new Client(world, token), new Client(world, token)]
  const { random, history } = world
  let next = 0
  const post = async (client: Client, names: readonly Name[]) => {
    const body = { messages: names.map(draftOf) }
    const answer = await client.ask('POST', `/v3/sessions/${session}/messages`, { kind: 'batch posted', about: session, body })
    if (answer !== undefined) history.session(session).answered(names, answer.messages)
    return answer !== undefined
  }
  return {
    async run(until) {
      while (!until.aborted) {
        const many = random.between(1, 5)
        const names = Array.from({ length: many }, (_, index) => nameOf(writer, next + index))
        next += many
        for (;;) {
          const senders = random.chance(0.1) ? clients : clients.slice(0, 1)
          const answers = await Promise.all(senders.map(client => post(client, names)))
          if (answers.includes(true)) break
          await pause(beforeAgainMs)
        }
      }
    }
  }
}

/** Sends by the socket event `message`, and asks with a ping whether all was taken in; if not, sends it again elsewhere. */
export function socketWriter(writer: number, { world, token, session }: Desk): Worker {
  const client = new Client(world, token)
  const { random, history } = world
  let next = 0
  let pending: Name[] = []
  history.session(session).mayOvertakeItself(writer)
  return {
    async run(until) {
      while (!until.aborted || pending.length > 0) {
        const socket = await client.connect(session)
        if (!socket) {
          await pause(beforeAgainMs)
          continue
        }
        while (socket.isConnected && !(until.aborted && pending.length === 0)) {
          if (pending.length === 0) pending = Array.from({ length: random.between(1, 8) }, () => nameOf(writer, next++))
          for (const name of pending) {
            const { localId, content } = draftOf(name)
            socket.emit('message', { sid: session, message: content, localId })
          }
          const isTakenIn = await socket.ping()
          history.ended({ kind: 'batch sent', about: session, at: client.url }, isTakenIn ? 'ok' : 'maybe')
          if (!isTakenIn) break
          history.session(session).takenIn(pending)
          pending = []
          if (random.chance(0.02)) break
        }
        socket.disconnect()
      }
    }
  }
}

/** Follows a session by pages of any size, and never goes back. */
export function cursorReader({ world, token, session }: Desk): Worker {
  const client = new Client(world, token)
  const place = world.history.session(session).addReader()
  return {
    async run(until) {
      while (!until.aborted) {
        const page = await client.readPage(session, place.cursor, { limit: world.random.between(1, 50) })
        place.cursor += page?.messages.length ?? 0
        if (!page?.messages.length) await pause(page ? 5 : beforeAgainMs)
      }
    }
  }
}

/** Replaces the settings of the account from the version that it knows. */
export function settingsWriter(writer: number, { world, token }: Omit<Desk, 'session'>, account: string): Worker {
  const client = new Client(world, token)
  const history = world.history.settingsOf(account)
  let next = 0
  let expected: number | undefined
  const readVersion = async () => {
    const known = history.highest
    const cell = await client.readSettings(account)
    if (cell) history.shown(cell, 'read', known)
    return cell?.version
  }
  const replace = async (expected: number) => {
    const known = history.highest
    const name = nameOf(writer, next++)
    const body = { settings: textOf(name), expectedVersion: expected }
    const answer = await client.ask('POST', '/v1/account/settings', { kind: 'settings replaced', about: account, body })
    if (answer === undefined) return undefined
    if (answer.success) {
      history.won(name, { expected, version: answer.version })
      return answer.version
    }
    history.refused(name)
    history.shown({ version: answer.currentVersion, value: answer.currentSettings }, 'told in a refusal', known)
    return answer.currentVersion
  }
  return {
    async run(until) {
      while (!until.aborted) {
        expected = await (expected === undefined ? readVersion() : replace(expected))
        await pause(expected === undefined ? beforeAgainMs : world.random.between(1, 20))
      }
    }
  }
}
