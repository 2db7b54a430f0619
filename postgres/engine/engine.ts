import { CannotStart } from '../../lib/exit.ts'
import { openDamage } from '../../lib/store/damage.ts'
import { StoreBroken } from '../../lib/store/store.ts'
import type { Connection } from './connection.ts'
import { connect } from './database.ts'
import type { Deps, Owner } from './deps.ts'
import { Lane, type LaneDeps } from './lane.ts'
import { Readers } from './readers.ts'

/** Connections for the writes of accounts, each account on one of them; one more is for all other writes. */
const lanesOfAccounts = 4
const mostReaders = 6

interface Engine extends Deps {
  /** Commits what is waiting; from then on everything is rejected. The second time it waits for the first. */
  close(): Promise<void>
}

export interface EngineDeps {
  onCommit?: LaneDeps['onCommit']
  /** Called once when newer programs changed the schema so that this one cannot use it any more; the process must end. */
  onBroken?: ((reason: StoreBroken) => void) | undefined
}

/** The ways to write to and read from a database that is prepared, for a program that knows the schema up to this number. */
export function openEngine(url: string, known: number, { onCommit, onBroken }: EngineDeps): Engine {
  let broken: StoreBroken | undefined
  async function open(): Promise<Connection> {
    if (broken) throw broken
    try {
      return await connect(url, known)
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error
      const isFirst = broken === undefined
      broken ??= new StoreBroken(error.message, { cause: error })
      if (isFirst) onBroken?.(broken)
      throw broken
    }
  }

  const lanes = Array.from({ length: lanesOfAccounts }, () => new Lane({ connect: open, onCommit }))
  const shared = new Lane({ connect: open, onCommit })
  const readers = new Readers({ connect: open, most: mostReaders })

  function laneOf(owner: Owner): Lane {
    return typeof owner === 'string' && owner !== 'shared' ? (lanes[hashOf(owner) % lanesOfAccounts] ?? shared) : shared
  }

  async function closeAll(): Promise<void> {
    // What began in the shared lane may end in that of an account.
    await shared.end()
    await Promise.all(lanes.map(lane => lane.end()))
    await readers.end()
  }

  let closing: Promise<void> | undefined
  return {
    write: (owner, run, { bytes = 0, isLong = false, tail } = {}) =>
      new Promise((resolve, reject) => {
        const accounts = owner === 'shared' ? [] : [owner].flat()
        laneOf(owner).push({
          accounts,
          run: async tx => run(tx),
          bytes,
          isLong,
          tail,
          // A member resolves with what its own `run` resolved to.
          resolve: value => resolve(value as Awaited<ReturnType<typeof run>>),
          reject
        })
      }),
    read: run => readers.read(run),
    snapshot: run => readers.snapshot(run),
    damage: openDamage(),
    close() {
      closing ??= closeAll()
      return closing
    }
  }
}

function hashOf(account: string): number {
  let hash = 0
  for (let at = 0; at < account.length; at++) hash = (Math.imul(hash, 31) + account.charCodeAt(at)) >>> 0
  return hash
}
