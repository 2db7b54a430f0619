import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Clock, systemClock } from '../../async/clock.ts'

/** Gives back memory that would else stay taken for as long as nothing happens, which may be all day. */
interface SpareMemory {
  /** Called whenever it may have changed whether something is worked at. */
  follow(isWorking: boolean): void
  close(): void
}

// By then what took it is over: a session is open, or nobody wrote again at once.
const afterMs = 3_000
// Collecting costs a few hundredths of a second, which short turns are not worth.
const worthBytes = 8 * 1024 * 1024

/** Once for what starting took, and then when a turn has left much behind. */
export function spareMemory(heap: Heap = ownHeap, clock: Clock = systemClock): SpareMemory {
  let taken = 0
  let wasWorking = false
  const collect = () => {
    if (heap.bytes() < taken + worthBytes) return
    heap.collect()
    taken = heap.bytes()
  }
  let cancel = clock.after(afterMs, collect)
  return {
    follow(isWorking) {
      if (isWorking === wasWorking) return
      wasWorking = isWorking
      cancel()
      if (!isWorking) cancel = clock.after(afterMs, collect)
    },
    close: () => cancel()
  }
}

interface Heap {
  bytes(): number
  collect(): void
}

const ownHeap: Heap = {
  bytes: () => getHeapStatistics().total_physical_size,
  collect() {
    setFlagsFromString('--expose-gc')
    // What was compiled goes too, whatever its age: most of it was for starting, and the rest is compiled again when it is called.
    setFlagsFromString('--bytecode-old-age=0')
    const collect: unknown = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' })
    setFlagsFromString('--bytecode-old-age=6')
  }
}
