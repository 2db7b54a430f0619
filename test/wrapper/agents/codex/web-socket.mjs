// The server's side of a WebSocket on a Unix socket, as much as the fake Codex needs: whole text messages.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function listen(path, onOpen) {
  const server = createServer()
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
    const connection = { send: text => socket.writable && socket.write(frame(text)), onMessage: () => {}, onClose: () => {} }
    onOpen(connection)
    let rest = Buffer.alloc(0)
    socket.on('data', bytes => {
      rest = Buffer.concat([rest, bytes])
      for (let read = unframe(rest); read; read = unframe(rest)) {
        rest = rest.subarray(read.length)
        if (read.opcode === 1) connection.onMessage(read.text)
        if (read.opcode === 8) socket.end(Buffer.from([0x88, 0]))
      }
    })
    socket.on('close', () => connection.onClose())
    socket.on('error', () => {})
  })
  // Like Codex: the name of a socket may not be long.
  const folder = mkdtempSync(join(tmpdir(), 'fake-codex-'))
  server.listen(join(folder, 's'), () => symlinkSync(join(folder, 's'), path))
  process.on('SIGTERM', () => {
    rmSync(folder, { recursive: true, force: true })
    rmSync(path, { force: true })
    process.exit(0)
  })
}

function frame(text) {
  const body = Buffer.from(text)
  const head =
    body.length < 126
      ? Buffer.from([0x81, body.length])
      : body.length < 65536
        ? Buffer.from([0x81, 126, body.length >> 8, body.length & 255])
        : Buffer.concat([Buffer.from([0x81, 127]), long(body.length)])
  return Buffer.concat([head, body])
}

function long(length) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(length))
  return bytes
}

function unframe(bytes) {
  if (bytes.length < 2) return undefined
  const short = bytes[1] & 127
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start + 4) return undefined
  const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < start + 4 + size) return undefined
  const mask = bytes.subarray(start, start + 4)
  const body = Buffer.from(bytes.subarray(start + 4, start + 4 + size))
  for (let at = 0; at < body.length; at++) body[at] ^= mask[at % 4]
  return { opcode: bytes[0] & 15, text: body.toString(), length: start + 4 + size }
}
