import type { Socket } from 'socket.io-client'
import type { Untyped } from '../kit/person.ts'

/** Everything a socket was told since it is listened to. */
export interface Heard {
  readonly updates: Untyped[]
  readonly ephemerals: Untyped[]
  /** The bodies of the updates of one kind, as they are now. */
  bodies(t: string): Untyped[]
  /** Resolves when everything the server sent so far has arrived: its answer to a ping comes after it. */
  settled(): Promise<void>
}

export function listen(socket: Socket): Heard {
  const updates: Untyped[] = []
  const ephemerals: Untyped[] = []
  socket.on('update', update => updates.push(update))
  socket.on('ephemeral', ephemeral => ephemerals.push(ephemeral))
  return {
    updates,
    ephemerals,
    bodies: kind => updates.map(({ body }) => body).filter(({ t }) => t === kind),
    async settled() {
      await socket.emitWithAck('ping')
    }
  }
}
