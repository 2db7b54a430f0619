import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CannotStart } from '../exit.ts'
import * as v from '../schema.ts'
import { ageStart, opened, sealed } from './age.ts'
import { exactly, type ReadBytes, readBytes, readLine } from './bytes.ts'
import { sealingKey, unsealed } from './secretstream.ts'

const firstLine = 'afield-backup-1'
const mostHeadBytes = 1024
const mostManifestBytes = 64 * 1024

const head = v.strictObject({
  sealing: v.nullable(
    v.strictObject({
      cipher: v.literal('argon2id+xchacha20poly1305'),
      salt: v.pipe(v.string(), v.base64(), v.maxLength(64)),
      passes: v.pipe(v.int(), v.minValue(1), v.maxValue(16)),
      memoryKiB: v.pipe(v.int(), v.minValue(8), v.maxValue(1024 * 1024))
    })
  )
})

const manifest = v.object({
  version: v.string(),
  madeAt: v.int(),
  holds: v.object({ accounts: v.int(), sessions: v.int(), messages: v.int() }),
  // Names, never paths: a forged backup must not write elsewhere.
  files: v.pipe(
    v.array(
      v.strictObject({
        name: v.pipe(v.string(), v.regex(/^[\w-][\w.-]{0,100}$/)),
        bytes: v.pipe(v.int(), v.minValue(0)),
        sha256: v.string()
      })
    ),
    v.maxLength(100)
  )
})
/** The manifest of a backup, and access to its files. */
export type Manifest = v.InferOutput<typeof manifest>
type PackedFile = Manifest['files'][number]

/** The name, size and digest of a file, as a manifest lists it. */
export async function describeFile(directory: string, name: string): Promise<PackedFile> {
  const path = join(directory, name)
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk)
  return { name, bytes: (await stat(path)).size, sha256: digest.digest('hex') }
}

/**
 * The bytes of a backup: a line that says what this is, one for how older backups were encrypted, a line
 * with the manifest and the files one after the other. With a passphrase all of that is inside an age file.
 * `pathOf` says where each is.
 */
export function pack(content: Manifest, pathOf: (name: string) => string, passphrase: string | undefined): AsyncIterable<Uint8Array> {
  const plain = packed(content, pathOf)
  return passphrase === undefined ? plain : sealed(plain, passphrase)
}

async function* packed(content: Manifest, pathOf: (name: string) => string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${firstLine}\n${JSON.stringify({ sealing: null })}\n${JSON.stringify(content)}\n`)
  for (const { name, bytes } of content.files) {
    if (bytes > 0) yield* createReadStream(pathOf(name), { end: bytes - 1 }) as AsyncIterable<Buffer>
  }
}

interface Unpacking {
  manifest: Manifest
  /**
   * Passes each file's bytes to `write`; throws `CannotStart` if they do not match the manifest. To be
   * called once.
   */
  files(write: (name: string, chunk: Buffer) => Promise<void>, tell?: (progress: { done: number; total: number }) => void): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a backup. `passphrase` is called only if it is encrypted. Throws `CannotStart` if it is not a
 * backup, or incomplete.
 */
export async function unpack(path: string, passphrase: () => Promise<string>): Promise<Unpacking> {
  const handle = await openBackup(path)
  try {
    const file = handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 })
    const isOfAge = (await startOf(handle)) === ageStart
    const read = readBytes(isOfAge ? opened(file, await passphrase()) : file)
    if ((await readLine(read, firstLine.length)) !== firstLine) throw new CannotStart(`${path} is not an Afield backup.`)
    const { sealing } = parseLine(head, await readLine(read, mostHeadBytes))
    const plain = sealing === null ? read : readBytes(unsealed(read, await sealingKey(await passphrase(), sealing)))
    const content = parseLine(manifest, await readLine(plain, mostManifestBytes))
    return { manifest: content, files: (write, tell) => readFiles(plain, content, write, tell), close: () => handle.close() }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function startOf(handle: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(ageStart.length), 0, ageStart.length, 0)
  return buffer.toString('latin1', 0, bytesRead)
}

async function readFiles(read: ReadBytes, { files }: Manifest, ...[write, tell]: Parameters<Unpacking['files']>): Promise<void> {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  for (const { name, bytes, sha256 } of files) {
    const digest = createHash('sha256')
    await write(name, Buffer.alloc(0))
    for (let left = bytes; left > 0; ) {
      const chunk = await exactly(read, Math.min(left, 256 * 1024))
      digest.update(chunk)
      await write(name, chunk)
      left -= chunk.length
      done += chunk.length
      tell?.({ done, total })
    }
    if (digest.digest('hex') !== sha256) throw new CannotStart(`The backup is damaged: ${name} in it was changed.`)
  }
  if ((await read(1)).length > 0) throw new CannotStart('The backup is damaged: there is data after its end.')
}

/** Throws `CannotStart` with one sentence if this user cannot read such a file. */
export async function openBackup(path: string): Promise<FileHandle> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'does not exist' : `cannot be read by this user (${error.code})`
    throw new CannotStart(`${path} ${why}.`, undefined, { cause: error })
  })
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw new CannotStart(`${path} is not a file.`)
}

function parseLine<Schema extends v.GenericSchema>(schema: Schema, line: string | undefined): v.InferOutput<Schema> {
  try {
    return v.parse(schema, JSON.parse(line ?? ''))
  } catch (error) {
    throw new CannotStart('The backup is damaged, or was made by a later version of Afield.', undefined, { cause: error })
  }
}
