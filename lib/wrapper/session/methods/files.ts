import { createHash } from 'node:crypto'
import { closeSync, constants, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fromBase64, toBase64 } from '../../../crypto/bytes.ts'
import type { Confinement } from '../../home/confinement.ts'
import { listFolder, readTree } from './folders.ts'

const mostBytes = 10 * 1024 * 1024

/** Reads and writes files inside a confinement. Failures are returned as a sentence for the phone. */
export function fileMethods(confinement: () => Confinement) {
  return {
    readFile: ({ path }: { path: string }) =>
      answering(() => {
        const file = confinement().check(path)
        const stats = statSync(file)
        if (!stats.isFile()) throw new Error('This is not a file.')
        if (stats.size > mostBytes) throw new Error(`This file has ${stats.size} bytes; at most ${mostBytes} are read.`)
        return { content: toBase64(readFileSync(file)) }
      }),
    writeFile: ({ path, content, expectedHash }: { path: string; content: string; expectedHash?: string | null | undefined }) =>
      answering(() => {
        const bytes = fromBase64(content)
        if (!bytes) throw new Error('The content is not base64.')
        replaceFile(confinement().checkChange(path), bytes, expectedHash ?? undefined)
        return { hash: hashOf(bytes) }
      }),
    listDirectory: ({ path }: { path: string }) =>
      answering(() => {
        const folder = confinement().check(path)
        return { path: folder, entries: listFolder(folder) }
      }),
    getDirectoryTree: ({ path, maxDepth }: { path: string; maxDepth: number }) =>
      answering(() => ({ tree: readTree(confinement().check(path), maxDepth) }))
  }
}

/** Replaces the bytes that the phone has seen; creates a file only if none exists. All or nothing. */
function replaceFile(file: string, bytes: Uint8Array, expectedHash: string | undefined): void {
  if (expectedHash === undefined) {
    createFile(file, bytes)
    return
  }
  const current = hashOf(readFileSync(file))
  if (current !== expectedHash) throw new Error(`File hash mismatch. Expected: ${expectedHash}, Actual: ${current}`)
  const next = join(dirname(file), `.${process.pid}-${Date.now()}.afield`)
  const { mode } = statSync(file)
  writeSynced(next, bytes, mode & 0o777)
  try {
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}

function createFile(file: string, bytes: Uint8Array): void {
  try {
    writeSynced(file, bytes, 0o666)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new Error('File already exists but was expected to be new')
    throw error
  }
}

// Exclusive, so that a file or link created meanwhile is not written through.
function writeSynced(file: string, bytes: Uint8Array, mode: number): void {
  const handle = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
  try {
    writeFileSync(handle, bytes)
    fsyncSync(handle)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function answering<Result extends object>(work: () => Result): ({ success: true } & Result) | { success: false; error: string } {
  try {
    return { success: true, ...work() }
  } catch (error) {
    return { success: false, error: sentenceOf(error) }
  }
}

function sentenceOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'ENOENT':
      return 'There is no such file or folder.'
    case 'EACCES':
    case 'EPERM':
      return 'This computer does not allow that.'
    case 'ENOTDIR':
      return 'This is not a folder.'
    case 'ENOSPC':
      return 'This computer is out of disk space.'
    default:
      return error instanceof Error ? error.message : String(error)
  }
}
