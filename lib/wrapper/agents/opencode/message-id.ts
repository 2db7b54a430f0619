import { randomBytes } from 'node:crypto'

const mark = 'Afield'
const base = 36n

/**
 * Names a message as opencode does, by the time, so that it stands where it was said; the rest says that it came through us.
 * What is found under such a name later was not typed at the terminal.
 */
export function newMessageId(now = Date.now()): string {
  const time = ((BigInt(now) * 0x1000n) & 0xffffffffffffn).toString(16).padStart(12, '0')
  const rest = BigInt(`0x${randomBytes(6).toString('hex')}`) % base ** 8n
  return `msg_${time}${mark}${rest.toString(36).padStart(8, '0')}`
}

export function isOurMessage(id: string): boolean {
  return id.slice('msg_'.length + 12).startsWith(mark)
}
