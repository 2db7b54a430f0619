import { useTicking } from '../core/ticking.ts'
import { Problem } from '../ui/banner.tsx'
import { joining } from '../words/joining.ts'
import { duration } from '../words/time.ts'

/** The server accepts no attempts for a while; `nextAt` is when it will, if known. */
export function TooManyTries({ nextAt }: { nextAt: number | undefined }) {
  const left = (nextAt ?? 0) - useTicking(nextAt !== undefined)
  const text =
    nextAt === undefined ? joining.create.lockedText : left > 0 ? joining.create.lockedFor(duration(left)) : joining.create.lockedOver
  return <Problem title={joining.create.locked} text={text} />
}
