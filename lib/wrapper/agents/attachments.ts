import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { withDeadline } from '../../async/deadline.ts'
import type { SessionEvent } from '../../protocol/sealed/messages.ts'
import { ownerOf, ownName } from '../home/processes.ts'
import type { Image } from './agent.ts'

/** A file that a person sent before a text. */
export type Announced = Pick<Extract<SessionEvent, { t: 'file' }>, 'ref' | 'seal' | 'name' | 'size' | 'mimeType'>

export interface Attachments {
  /**
   * The text for the agent, with the images it accepts; other files are stored and named in the text. A
   * file that cannot be decrypted is reported and delays nothing.
   */
  join(text: string, announced: readonly Announced[]): Promise<{ text: string; images: Image[] }>
  /** Nothing of it stays on disk. */
  close(): void
}

const mostBytes = 10 * 1024 * 1024
// The limit of models; a larger image is passed as a file.
const mostImageBytes = 4 * 1024 * 1024
const withinMs = 60_000
const imageTypes: Readonly<Record<string, RegExp>> = {
  'image/png': /^\x89PNG/,
  'image/jpeg': /^\xff\xd8\xff/,
  'image/gif': /^GIF8/,
  'image/webp': /^RIFF[\s\S]{4}WEBP/
}

export function createAttachments(options: {
  /** The bytes of an attachment, decrypted. */
  download(file: Announced, signal: AbortSignal): Promise<Uint8Array>
  takesImages(): boolean
  /** For the person who sent it. */
  tell(sentence: string): Promise<void>
}): Attachments {
  let folder: string | undefined

  const open = async (attachment: Announced): Promise<{ name: string; bytes: Uint8Array } | undefined> => {
    const name = safeName(attachment.name)
    try {
      if (attachment.size > mostBytes) throw new Error(`it is larger than ${mostBytes / 1024 / 1024} MB`)
      const bytes = await withDeadline(withinMs, signal => options.download(attachment, signal))
      return { name, bytes }
    } catch (error) {
      await options.tell(`${name} could not be attached to your message: ${error instanceof Error ? error.message : String(error)}.`)
      return undefined
    }
  }

  const keep = ({ name, bytes }: { name: string; bytes: Uint8Array }): string => {
    folder ??= makeFolder()
    const path = join(mkdtempSync(join(folder, 'a')), name)
    writeFileSync(path, bytes, { mode: 0o600 })
    return path
  }

  return {
    async join(text, announced) {
      const opened = (await Promise.all(announced.map(open))).filter(file => file !== undefined)
      const images: Image[] = []
      const paths: string[] = []
      for (const file of opened) {
        const mimeType = imageTypeOf(file.bytes)
        if (mimeType !== undefined && options.takesImages() && file.bytes.length <= mostImageBytes)
          images.push({ mimeType, bytes: file.bytes })
        else paths.push(keep(file))
      }
      if (paths.length === 0) return { text, images }
      const list = paths.map(path => `- ${path}`).join('\n')
      return { text: `${text}\n\nFiles attached to this message:\n${list}`.trimStart(), images }
    },
    close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    }
  }
}

const prefix = 'afield-attachments-'
// A killed session is resumed soon, and may need them again.
const keptMs = 24 * 60 * 60_000

/** Contains the id of this process, so that leftovers of a killed one are recognized and removed. */
function makeFolder(): string {
  // If cleanup fails, files can still be passed.
  quietly(removeLeftOver)
  const folder = join(tmpdir(), `${prefix}${crypto.randomUUID()}@${ownName()}`)
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

function removeLeftOver(): void {
  const left = readdirSync(tmpdir()).filter(name => name.startsWith(prefix) && ownerOf(name) === undefined)
  for (const folder of left.map(name => join(tmpdir(), name))) {
    const found = lstatSync(folder, { throwIfNoEntry: false })
    if (found && isOwn(found.uid) && Date.now() - found.mtimeMs > keptMs) rmSync(folder, { recursive: true, force: true })
  }
}

// Where files have no owner, the temporary directory is the person's own.
function isOwn(uid: number): boolean {
  return process.getuid === undefined || uid === process.getuid()
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // It is retried with the next one.
  }
}

/** By its bytes: nobody else checks the sender's claim. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, 16))
  return Object.keys(imageTypes).find(type => imageTypes[type]?.test(beginning))
}

export function safeName(name: string): string {
  const plain = basename(name.replaceAll('\\', '/'))
    .replace(/[^\p{L}\p{N}._ -]/gu, '_')
    .replace(/^\.+/, '')
  return plain.slice(-100) || 'file'
}
