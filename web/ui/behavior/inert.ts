import { useEffect, useState } from 'preact/hooks'

const inertMs = 400

/** True for 400 ms after a part appears and after each change of `content`, so that a tap meant for something else decides nothing. */
export function useInert(content: string): boolean {
  const [calm, setCalm] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setCalm(content), inertMs)
    return () => clearTimeout(timer)
  }, [content])
  return calm !== content
}
