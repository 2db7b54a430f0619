/**
 * What the bundle of the app has in place of socket.io-client: Socket.IO 5 over Engine.IO 4 over one WebSocket, as far as
 * `lib/client/link/socket.ts` uses it, in a sixth of the bytes. That one starts anew, waits and listens for silence by itself; a test runs its
 * tests over both.
 */
export function io(origin: string, { path, auth }: { path: string; auth: Auth }): Line {
  return new Line(`${origin.replace(/^http/, 'ws')}${path}/?EIO=4&transport=websocket`, auth)
}

/** Called when the server is there: what it gives is what the server looks at before it lets anybody in. */
type Auth = (give: (handshake: object) => void) => void
type Listener = (...values: unknown[]) => void
type Acknowledged = (error: Error | undefined, value?: unknown) => void

class Line {
  connected = false
  id: string | undefined
  readonly io

  readonly #auth: Auth
  readonly #socket: WebSocket
  readonly #listeners = new Map<string, Listener>()
  readonly #waiting = new Map<number, Acknowledged>()
  readonly #lost = () => this.#end('transport close')
  #heard = () => {}
  #asked = 0
  #isOpen = false
  #isOver = false

  constructor(url: string, auth: Auth) {
    this.#auth = auth
    this.#socket = new WebSocket(url)
    /** Every packet that comes is told, whatever it holds. */
    const on = (_packet: 'packet', listener: () => void) => {
      this.#heard = listener
    }
    this.io = { engine: { transport: new Transport(this.#socket), on } }
    this.#socket.onopen = () => {
      this.#isOpen = true
    }
    this.#socket.onmessage = ({ data }) => this.#hear(data)
    this.#socket.onclose = () => this.#end(this.#isOpen ? 'transport close' : 'websocket error')
    globalThis.addEventListener?.('offline', this.#lost)
  }

  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener)
  }
  off(): void {
    this.#listeners.clear()
  }

  /** Nothing while not connected. */
  emit(event: string, payload: unknown, acknowledge?: (value: unknown) => void): void {
    if (!this.connected) return
    const acknowledged: Acknowledged = (error, value) => {
      if (!error) acknowledge?.(value)
    }
    this.#say(`42${acknowledge ? this.#await(acknowledged) : ''}${JSON.stringify([event, payload])}`)
  }
  timeout(withinMs: number) {
    return {
      emitWithAck: (event: string, payload: unknown) =>
        new Promise<unknown>((resolve, reject) => {
          if (!this.connected) throw new Error('socket has been disconnected')
          const id = this.#await((error, value) => {
            clearTimeout(timer)
            if (error) reject(error)
            else resolve(value)
          })
          const timer = setTimeout(() => this.#acknowledged(id, new Error('operation has timed out')), withinMs)
          this.#say(`42${id}${JSON.stringify([event, payload])}`)
        })
    }
  }

  disconnect(): void {
    if (this.connected) this.#say('41')
    this.#end('io client disconnect')
  }

  #hear(packet: unknown) {
    if (this.#isOver) return
    this.#heard()
    const read = readPacket(packet)
    switch (read.type) {
      case 'open':
        return this.#auth(handshake => this.#say(`40${JSON.stringify(handshake)}`))
      case 'ping':
        return this.#say('3')
      case 'connect':
        this.id = read.content.sid
        this.connected = true
        return this.#tell('connect')
      case 'event': {
        const acknowledge = (result: unknown) => this.#say(`43${read.id}${JSON.stringify([result])}`)
        return this.#tell(...read.content, ...(read.id === '' ? [] : [acknowledge]))
      }
      case 'acknowledgement':
        return this.#acknowledged(Number(read.id), undefined, read.content[0])
      case 'refusal':
        // That there is `data` tells a refusal from a lost line.
        return this.#end('refused', Object.assign(new Error(read.content.message), { data: read.content.data }))
      case 'end':
        return this.#end(read.reason)
      case 'nothing':
        return
    }
  }

  #say(packet: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(packet)
  }
  #tell(...[event, ...values]: [string, ...unknown[]]): void {
    this.#listeners.get(event)?.(...values)
  }

  #await(acknowledged: Acknowledged): number {
    this.#waiting.set(this.#asked, acknowledged)
    return this.#asked++
  }
  #acknowledged(id: number, error: Error | undefined, value?: unknown): void {
    const acknowledged = this.#waiting.get(id)
    this.#waiting.delete(id)
    acknowledged?.(error, value)
  }

  #end(reason: string, error = new Error(reason)): void {
    if (this.#isOver) return
    this.#isOver = true
    globalThis.removeEventListener?.('offline', this.#lost)
    this.#socket.close()
    const was = this.connected
    this.connected = false
    this.id = undefined
    if (was) this.#tell('disconnect', reason)
    else this.#tell('connect_error', error)
    for (const id of [...this.#waiting.keys()]) this.#acknowledged(id, new Error('socket has been disconnected'))
  }
}

class Transport {
  readonly #socket: WebSocket

  constructor(socket: WebSocket) {
    this.#socket = socket
  }
  /** Not while earlier words still wait for the network. */
  get writable(): boolean {
    return this.#socket.bufferedAmount === 0
  }
}

type Packet =
  | { type: 'open' | 'ping' | 'nothing' }
  | { type: 'end'; reason: string }
  | { type: 'connect'; content: { sid: string } }
  | { type: 'event'; id: string; content: [string, ...unknown[]] }
  | { type: 'acknowledgement'; id: string; content: unknown[] }
  | { type: 'refusal'; content: { message: string; data: unknown } }

const engineTypes: Record<string, Packet> = {
  0: { type: 'open' },
  1: { type: 'end', reason: 'transport close' },
  2: { type: 'ping' },
  6: { type: 'nothing' }
}

// Two protocols, one in the other. What an event holds is looked at by whoever listens to it.
function readPacket(packet: unknown): Packet {
  const [, engineType = '', type, id = '', json = ''] = /^(\d)([0-4])?(\d*)(.*)$/s.exec(String(packet)) ?? []
  if (engineType !== '4') return engineTypes[engineType] ?? unreadable
  if (type === '1') return { type: 'end', reason: 'io server disconnect' }
  const content = readJson(json)
  if (type === '0' && isObject(content) && typeof content['sid'] === 'string') return { type: 'connect', content: { sid: content['sid'] } }
  if (type === '4' && isObject(content)) return { type: 'refusal', content: { message: String(content['message']), data: content['data'] } }
  if (!Array.isArray(content)) return unreadable
  if (type === '3') return { type: 'acknowledgement', id, content }
  const [event, ...values] = content
  return type === '2' && typeof event === 'string' ? { type: 'event', id, content: [event, ...values] } : unreadable
}

const unreadable: Packet = { type: 'end', reason: 'parse error' }

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
