import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../exit.ts'

/** The system limits the address of a Unix socket to 108 bytes, on some platforms to 104. */
const longestAddress = 100

/** On Windows anyone can claim the name of a pipe first, and pipes are open to other users, so there are no local sockets. */
export const hasLocalSockets = process.platform !== 'win32'

/** Calls `use` with an address of `file` in `directory` that is short enough for a socket, however long the path is. */
export async function withAddress<T>(directory: string, file: string, use: (address: string) => Promise<T>): Promise<T> {
  const path = join(directory, file)
  if (Buffer.byteLength(path) <= longestAddress) return use(path)
  if (process.platform !== 'linux') {
    throw new CannotStart(`${path} is too long a path for a socket; choose a shorter directory.`)
  }
  const handle = openSync(directory, 'r')
  try {
    return await use(`/proc/self/fd/${handle}/${file}`)
  } finally {
    closeSync(handle)
  }
}
