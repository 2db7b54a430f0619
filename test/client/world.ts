import type { Test } from 'tap'
import {
  type AccountVault,
  accountVault,
  type ConnectionScope,
  createRest,
  cryptoReady,
  type LiveSocket,
  newId,
  openSocket,
  type Rest,
  type SealingKey,
  type SocketState,
  signIn
} from '../../lib/client/index.ts'
import { engine } from '../../lib/crypto/index.ts'
import type { SessionRecord } from '../../lib/protocol/wire/records.ts'
import { startServer } from '../kit/server.ts'
import { openTcpProxy, type TcpProxy } from '../kit/tcp-proxy.ts'

export interface Client {
  rest: Rest
  socket: LiveSocket
  /** Its way to the server, which a test may cut. */
  line: TcpProxy
}

export interface World {
  url: string
  token: string
  vault: AccountVault
  /** Straight to the server. */
  rest: Rest
  /** A client whose posts name its connection, as ours do. Live when it resolves. */
  client(scope?: ConnectionScope): Promise<Client>
  openSession(metadata?: object): Promise<{ session: SessionRecord; key: SealingKey }>
}

/** A real server and an account on it. */
export async function startWorld(t: Test): Promise<World> {
  const { url } = await startServer(t)
  return worldAt(t, url)
}

/** An account on a server that runs. */
export async function worldAt(t: Pick<Test, 'teardown'>, url: string): Promise<World> {
  await cryptoReady()
  const secret = engine.randomBytes(32)
  const { token } = await signIn({ server: url, secret, fetch })
  const vault = accountVault(secret)
  const rest = createRest({ server: url, token, fetch })

  return {
    url,
    token,
    vault,
    rest,
    async client(scope = { as: 'app' }) {
      const line = await openTcpProxy(t, url)
      const socket = openSocket({ server: line.url, token, scope, WebSocket })
      t.teardown(() => socket.close())
      await socketState(socket, 'live')
      return { line, socket, rest: createRest({ server: line.url, token, fetch, connectionId: () => socket.connectionId }) }
    },
    async openSession(metadata = { path: '/home', host: 'studio' }) {
      const key = vault.newKey()
      const body = { tag: newId(), metadata: key.cipher.seal(metadata), dataEncryptionKey: key.wrapped }
      return { session: (await rest.call('openSession', { body })).session, key }
    }
  }
}

/** Resolves when the socket has, or gets, this state. */
export function socketState(socket: LiveSocket, type: SocketState['type']): Promise<SocketState> {
  if (socket.state.type === type) return Promise.resolve(socket.state)
  return new Promise(resolve => {
    const unlisten = socket.onState(state => {
      if (state.type !== type) return
      unlisten()
      resolve(state)
    })
  })
}
