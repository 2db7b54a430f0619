import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { io } from 'socket.io-client'
import { next } from '../kit/person.ts'
import { bystanderAddress } from './bystander.ts'

/** Between two messages. */
const pauseMs = 20
const heardWithinMs = 60_000

const { url, token, session } = workerData
const agent = new Agent({ keepAlive: true, localAddress: bystanderAddress })
// It takes what Node.js calls an agent, whatever its types say.
const socket = io(url, { path: '/v1/updates', transports: ['websocket'], auth: { token }, agent: agent as never })
let waits: number[] | undefined
let written = 0

parentPort?.on('message', asked => {
  if (asked === 'begin') waits = []
  else {
    parentPort?.postMessage(waits)
    waits = undefined
  }
})
await new Promise<void>(resolve => socket.once('connect', resolve))
parentPort?.postMessage('ready')
for (;;) {
  await delay(pauseMs)
  if (!waits) continue
  const beganAt = performance.now()
  written += 1
  const localId = `bystander-${written}`
  const heard = next(socket, 'update', ({ body }) => body.t === 'new-message' && body.message.localId === localId)
  const late = delay(heardWithinMs, 'late', { ref: false })
  await post(JSON.stringify({ messages: [{ localId, content: 'aGk=' }] }))
  if ((await Promise.race([heard, late])) === 'late') throw new Error('A message of the bystander was not heard.')
  waits?.push(performance.now() - beganAt)
}

function post(body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const asked = request(`${url}/v3/sessions/${session}/messages`, { method: 'POST', headers, agent }, answer => {
    answer.resume().once('end', () => {
      if (answer.statusCode === 200) resolve()
      else reject(new Error(`A message of the bystander was answered with ${answer.statusCode}.`))
    })
  })
  asked.on('error', reject).end(body)
  return promise
}
