import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { CannotStart } from '../exit.ts'

/** Where the system keeps the address of a Unix socket there is room for 108 bytes, on some for 104. */
const longestAddress = 100

/** Named pipes of Windows can be taken by whoever is first and are open to others, so none is offered there. */
export const hasLocalSockets = process.platform !== 'win32'

/** Hands `use` an address of `file` in `directory` that is short enough for a socket, however long its path is. */
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
