import { randomFillSync } from 'node:crypto'
import { rmSync, statfsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const reserveBytes = 16 * 1024 * 1024
/** This much more must be free before the reserve is made again, or the next write would use it up. */
const marginBytes = 4 * 1024 * 1024

/** Disk space reserved for when there is none: removing data needs some too. */
export interface Reserve {
  /** Releases the space. From then on writes that grow are rejected, until `regain` has it back. */
  release(): void
  isReleased(): boolean
  /**
   * Whether a write failed on a full disk and no space was seen since; also on a disk too small for a
   * reserve.
   */
  isFull(): boolean
  /** Allocates the space, the first time too, if the disk has it. */
  regain(): Promise<void>
}

export function openReserve(directory: string): Reserve {
  const file = join(directory, 'reserve')
  let isReleased = false
  let isFull = false
  let making: Promise<void> | undefined
  const regain = async () => {
    const hasReserve = sizeOf(file) === reserveBytes
    if (hasReserve && !isFull) return
    const { bavail, bsize } = statfsSync(directory)
    const free = bavail * bsize
    if (!isReleased && free >= marginBytes) isFull = false
    if (hasReserve || free < reserveBytes + marginBytes) return
    if (!(await make(file))) return
    isReleased = false
    isFull = false
  }
  return {
    release() {
      isFull = true
      // On a disk too small for a reserve each write finds out for itself.
      if (sizeOf(file) === 0) return
      isReleased = true
      rmSync(file, { force: true })
    },
    isReleased: () => isReleased,
    isFull: () => isFull,
    regain() {
      making ??= regain().finally(() => {
        making = undefined
      })
      return making
    }
  }
}

// Random, because some file systems allocate nothing for a file of zeros.
async function make(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'w', 0o600)
    try {
      const block = randomFillSync(Buffer.alloc(1024 * 1024))
      for (let at = 0; at < reserveBytes; at += block.length) await handle.write(block)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return sizeOf(file) === reserveBytes
  } catch {
    rmSync(file, { force: true })
    return false
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
