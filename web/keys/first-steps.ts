import { canLock, lockChoice } from '../core/lock.ts'
import { useAnswer } from '../ui/behavior/answer.ts'
import { joining } from '../words/joining.ts'

/** The screen lock is the last step of the first run, on devices that have one. */
export async function willOfferLock(): Promise<boolean> {
  return lockChoice.peek() === 'off' && (await canLock())
}

/**
 * Where someone is in the first run, counted as this device will show it: the account, its key and, on some, the screen lock. Checking the key
 * belongs to the key, because it can be put off. Undefined until the number of steps is known, and outside the first run.
 */
export function useFirstStep(step: 1 | 2 | 3, isFirstRun: boolean): string | undefined {
  const { last: hasLock } = useAnswer(isFirstRun && willOfferLock, [isFirstRun])
  return hasLock === undefined ? undefined : joining.create.step(step, hasLock ? 3 : 2)
}
