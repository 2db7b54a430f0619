import { words } from '../words/index.ts'
import { duration } from '../words/time.ts'
import { Problem } from './banner.tsx'
import { useTicking } from './ticking.ts'

/** The server takes no more tries for a while; `nextAt` is when it does, where it said so. */
export function TooManyTries({ nextAt }: { nextAt: number | undefined }) {
  const left = (nextAt ?? 0) - useTicking(nextAt !== undefined)
  const text = nextAt === undefined ? words.create.lockedText : left > 0 ? words.create.lockedFor(duration(left)) : words.create.lockedOver
  return <Problem title={words.create.locked} text={text} />
}
