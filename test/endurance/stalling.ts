import { signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted, type RawWebSocket } from '../server/raw-websocket.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

/** More than twice of what may wait for all connections together, and room for the messages themselves. */
const mostMemory = 640 * mib
/** Of each reader the kernel takes some megabytes, and the server may keep two. */
const rounds = 6
const batch = 20
const content = 'x'.repeat(100 * 1024)

/** Readers that stop reading while far more is written to them than may wait. Memory has an end, and who reads hears everything. */
export async function stalling(t: Keeper, { data, readers }: { data: string; readers: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data })
  const at = { port: Number(new URL(server.url).port) }
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  let heard = 0
  app.on('update', ({ body }) => {
    if (body.t === 'new-message') heard += 1
  })
  const stalled: RawWebSocket[] = []
  for (let reader = 0; reader < readers; reader += 1) {
    const socket = await openAccepted(t, at, { token: ada.token, clientType: 'user-scoped' })
    socket.stall()
    stalled.push(socket)
  }
  const { now: before } = memoryOf(server.child.pid)
  let written = 0
  for (let round = 0; round < rounds; round += 1) {
    const drafts = Array.from({ length: batch }, (_, number) => ({ localId: `${round}-${number}`, content }))
    const { status } = await ada.send(session, ...drafts)
    if (status === 200) written += batch
    // Its answer comes after what was written before it.
    await app.emitWithAck('ping')
  }
  const grown = memoryOf(server.child.pid).most - before
  const byCode = new Map<number | undefined, number>()
  const hearOut = async (socket: RawWebSocket) => {
    socket.resume()
    // What waited for all of them does not fit into this process, so each text is let go.
    while ((await socket.next()) !== undefined);
    byCode.set(socket.closeCode, (byCode.get(socket.closeCode) ?? 0) + 1)
  }
  await Promise.all(stalled.map(hearOut))
  const told = [...byCode].map(([code, count]) => `${count} with ${code ?? 'no code'}`).join(', ')
  return {
    told: `${readers} readers stalled while ${written} messages of ${Math.round(content.length / 1024)} KiB came; the server grew by ${Math.round(grown / mib)} MiB and closed ${told}`,
    complaints: [
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...(heard === written && written === rounds * batch ? [] : [`Who reads heard ${heard} of ${written} messages.`])
    ]
  }
}
