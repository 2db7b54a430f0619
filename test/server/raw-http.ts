import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { Untyped } from '../kit/person.ts'

/** A TCP connection to the server, for what no HTTP client would send. `from` is an address of this machine, such as 127.0.0.2, and a network of its own to the server. */
export async function openTcp(t: Pick<Test, 'teardown'>, { port, from = '127.0.0.1' }: { port: number; from?: string }): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, noDelay: true })
  // What the server thinks of it shows in its answer; that it hangs up may reach us as a reset.
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Sends bytes and returns all that came until the server hung up. */
export async function exchange(t: Test, server: { port: number }, bytes: string | Uint8Array): Promise<string> {
  const socket = await openTcp(t, server)
  socket.write(bytes)
  return text(socket)
}

/** The first answer in what a connection brought. */
export function readAnswer(raw: string): { status: number; headers: Record<string, string>; body: Untyped } {
  const [head = '', body = ''] = raw.split('\r\n\r\n', 2)
  const [first = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map(line => line.split(': ', 2)).map(([name = '', value = '']) => [name.toLowerCase(), value]))
  return { status: Number(first.split(' ')[1]), headers, body: body === '' ? undefined : JSON.parse(body) }
}
