import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, rmSync, type Stats } from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname } from 'node:path'
import { CannotStart } from '../../../exit.ts'

/** A path at which a server can listen. */
export interface UnixSocket {
  path: string
  /** Called once the server listens there: lets in those whom the mode allows, until then only our own user. */
  opened(): void
  /** Removes the socket, unless another program has put its own in its place. */
  remove(): void
}

/** The system's limit for the address of a socket, without its final zero. */
const longestPath = process.platform === 'linux' ? 107 : 103

/**
 * Makes room for a socket: one that nothing answers at was left by a process that died, and is removed. Throws CannotStart, in one
 * sentence, if the server cannot listen there; uWebSockets.js would replace anything at that path, and not say what went wrong.
 */
export async function unixSocketAt(path: string, mode: string): Promise<UnixSocket> {
  if (process.platform === 'win32') throw new CannotStart('--socket does not work on Windows; listen on a port.')
  if (Buffer.byteLength(path) > longestPath)
    throw new CannotStart(`${path} is too long for a socket, at most ${longestPath} bytes; choose another --socket.`)
  await removeStale(path)
  await tryOut(path)
  let own: number | undefined
  return {
    path,
    opened() {
      chmodSync(path, Number.parseInt(mode, 8))
      own = lstatSync(path).ino
    },
    remove() {
      if (own !== undefined && lstatSync(path, { throwIfNoEntry: false })?.ino === own) rmSync(path, { force: true })
    }
  }
}

async function removeStale(path: string): Promise<void> {
  const there = statsAt(path)
  if (!there) return
  if (!there.isSocket()) throw new CannotStart(`${path} exists and is not a socket; choose another --socket.`)
  if (await isAnswered(path)) throw new CannotStart(`Another program listens at ${path}; choose another --socket.`)
  rmSync(path, { force: true })
}

function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // Trying it out says what is wrong.
    return undefined
  }
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    // Any other error, such as a full queue or a missing permission, comes from a program that is alive.
    return (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED'
  } finally {
    socket.destroy()
  }
}

async function tryOut(path: string): Promise<void> {
  const probe = createServer()
  try {
    probe.listen(path)
    await once(probe, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Node.js reports a missing folder as a missing permission.
    const why = !existsSync(dirname(path)) ? 'its folder does not exist' : code === 'EACCES' ? 'permission denied' : code
    throw new CannotStart(`The socket ${path} cannot be made: ${why}; choose another --socket.`, undefined, { cause: error })
  } finally {
    probe.close()
  }
}
