import { useAfter } from './after.ts'

const inertMs = 400

/** True for 400 ms after a part appears and after each change of `content`, so that a tap meant for something else decides nothing. */
export function useInert(content: string): boolean {
  return !useAfter(inertMs, content)
}
