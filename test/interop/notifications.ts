import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Request, type StandIn, startStandIn, tokenOf } from '../server/push/stand-in.ts'
import type { Computer } from './computer.ts'
import { turnEnds } from './conversation.ts'
import { happy } from './happy.ts'
import type { PhoneSession } from './memory.ts'
import type { Phone } from './phone.ts'
import type { Stage } from './steps.ts'

const phoneToken = 'ExponentPushToken[a-phone-of-the-account]'
const paths = { expo: '/--/api/v2/push/send', ntfy: '/a-topic-nobody-guesses' }

/** In the place of Expo, which both server and CLI ask, and of an ntfy server. */
export async function startPushServices(stage: Stage): Promise<StandIn> {
  const services = await startStandIn(stage)
  services.answer = ({ path, body }) => {
    if (path !== paths.expo) return {}
    const messages: unknown = JSON.parse(body.toString())
    const count = Array.isArray(messages) ? messages.length : 1
    return { text: JSON.stringify({ data: Array.from({ length: count }, (_, n) => ({ status: 'ok', id: `ticket-${n}` })) }) }
  }
  return services
}

/** The CLI hands what it is told to Expo by itself; of channels it does not know it sees that they are there. */
export async function notifyByCli({ steps }: Stage, computer: Computer, phone: Phone, services: StandIn): Promise<void> {
  await steps.step('the app registers for notifications, and an ntfy topic is added', async () => {
    await phone.register(phoneToken)
    await phone.register(tokenOf('Ntfy', { url: `${services.url}${paths.ntfy}` }))
  })
  await steps.step('happy notify reaches the phone', async () => {
    const notify = happy(computer, ['notify', '-t', 'From the build', '-p', 'It is green.'])
    const [request] = await services.came(1)
    const [message] = messagesOf(request)
    assert.deepEqual([message?.to, message?.title, message?.body], [phoneToken, 'From the build', 'It is green.'])
    await notify.prints(/Push notification sent successfully/)
    assert.equal(await notify.ended, 0)
    assert.deepEqual(
      services.requests.map(({ path }) => path),
      [paths.expo]
    )
  })
}

/** Nobody looks when the turn ends: then the server tells both channels, in its own words. */
export async function notifyOfTurn(
  { steps }: Stage,
  computer: Computer,
  session: PhoneSession,
  phone: Phone,
  services: StandIn
): Promise<void> {
  await steps.step('a turn that ends while nobody looks reaches phone and topic', async () => {
    const before = services.requests.length
    await phone.whileAway(async () => {
      await phone.send(session.id, 'SCRIPT: text A secret of the agent.')
      await services.came(before + 2)
    })
    const told = services.requests.slice(before)
    assert.deepEqual(told.map(({ path }) => path).toSorted(), [paths.expo, paths.ntfy])
    const [message] = messagesOf(told.find(({ path }) => path === paths.expo))
    assert.deepEqual([message?.to, message?.title, message?.data?.sessionId], [phoneToken, 'Your agent is done', session.id])
    for (const { body, headers } of told) assert.doesNotMatch(`${body} ${JSON.stringify(headers)}`, /secret|project/)
    await turnEnds(phone, session, 'message A secret of the agent.')
  })
  await steps.step('the CLI reads that both were handed over', async () => {
    const line = /sendSessionNotification sent \(kind=done\) tokens=2 delivered=2/
    await phone.until(() => line.test(logsOf(computer)))
  })
}

interface ExpoMessage {
  to: string
  title: string
  body: string
  data?: { sessionId?: string }
}

function messagesOf(request: Request | undefined): ExpoMessage[] {
  assert.ok(request)
  const read = JSON.parse(request.body.toString())
  return Array.isArray(read) ? read : [read]
}

function logsOf({ home }: Computer): string {
  const folder = join(home, '.happy', 'logs')
  return readdirSync(folder)
    .map(name => readFileSync(join(folder, name), 'utf8'))
    .join('\n')
}
