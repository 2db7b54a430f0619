import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { call, type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryFromNow, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
/** Just less than what is stored as one piece. */
const bytes = Buffer.alloc(256 * 1024 - 1, 'x')
/** What an account may announce at once, as parts. */
const mostOfAccount = 240
/** What parts may hold for all accounts, and for one of them. */
const mostHeld = { inAll: 96 * mib, ofAccount: 48 * mib }
const atOnce = 60
/** Sooner than the server drops a connection that says nothing. */
const readWithinMs = 5_000

/** Parts of attachments whose rest never comes, on one connection each. What they hold counts until they are stored, and has an end. */
export async function begunUploads(t: Keeper, { data, tries }: { data: string; tries: number }): Promise<Outcome> {
  const uploads = await prepare(t, { data, accounts: Math.ceil(tries / mostOfAccount) })
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  // What comes with a token that is not known yet counts for nobody.
  for (const { person } of uploads) await call(server, 'GET', '/v1/account/profile', { token: person.token })
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const before = memoryFromNow(server.child.pid)
  const parts: Part[] = []

  async function begin(number: number): Promise<void> {
    const { person, path } = uploads[number % uploads.length] as Upload
    const part = { of: path, socket: await openTcp(t, { port }), answer: '' }
    parts.push(part)
    part.socket.on('data', chunk => {
      part.answer += chunk
    })
    part.socket.write(
      `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${person.token}\r\nContent-Length: ${bytes.length + 1}\r\n\r\n`
    )
    await new Promise(resolve => part.socket.once('close', resolve).write(bytes, resolve))
  }

  const isHeld = ({ answer, socket }: Part) => answer === '' && !socket.destroyed
  const heldOf = (path?: string) => parts.filter(part => isHeld(part) && (path ?? part.of) === part.of).length * bytes.length
  const tooMuch = () => [
    ...(heldOf() <= mostHeld.inAll ? [] : [`Parts of ${Math.round(heldOf() / mib)} MiB were held.`]),
    ...uploads
      .filter(({ path }) => heldOf(path) > mostHeld.ofAccount)
      .map(({ path }) => `Parts of ${Math.round(heldOf(path) / mib)} MiB of one account were held.`)
  ]
  let complaints: string[] = []
  const statuses = new Map<string, number>()
  const attacked = await bystander.waits(async () => {
    for (let number = 0; number < tries; number += atOnce) {
      await Promise.all(Array.from({ length: Math.min(atOnce, tries - number) }, (_, each) => begin(number + each)))
    }
    // Some of what was sent may not have been read yet.
    for (let ms = 0; ms < readWithinMs && tooMuch().length > 0; ms += 50) await delay(50)
    complaints = tooMuch()
    for (const part of parts) {
      const what = isHeld(part) ? 'held' : part.answer === '' ? 'closed' : part.answer.slice(9, 12)
      statuses.set(what, (statuses.get(what) ?? 0) + 1)
      part.socket.destroy()
    }
    await delay(calmMs)
  })
  const grown = memoryOf(server.child.pid).most - before
  const told = [...statuses].map(([what, times]) => `${times} × ${what}`).join(', ')
  return {
    told: `${tries} parts of uploads came to this: ${told}; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...complaints,
      ...[...statuses.keys()].filter(what => !['held', 'closed', '503'].includes(what)).map(what => `Somebody was answered with ${what}.`)
    ]
  }
}

interface Part {
  of: string
  socket: Socket
  answer: string
}

interface Upload {
  person: Person
  path: string
}

/** Accounts with a place for an attachment each. No address may sign up so many, except where nothing is limited. */
async function prepare(t: Keeper, { data, accounts }: { data: string; accounts: number }): Promise<Upload[]> {
  const server = await startServerProcess(t, { data })
  const uploads = []
  for (let number = 0; number < accounts; number += 1) {
    const person = await signUp(t, server)
    const session = await person.openSession()
    const { body } = await person.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { size: 9 * mib } })
    uploads.push({ person, path: new URL(body.uploadUrl).pathname })
  }
  await server.kill()
  return uploads
}
