import { useEffect, useMemo, useState } from 'preact/hooks'

/** True once a part has been on screen for so long, and again so long after each change of `content`. */
export function useAfter(ms: number, content?: unknown): boolean {
  const appearance = useMemo(() => ({}), [content])
  const [past, setPast] = useState<object>()
  useEffect(() => {
    const timer = setTimeout(() => setPast(appearance), ms)
    return () => clearTimeout(timer)
  }, [appearance])
  return past === appearance
}
