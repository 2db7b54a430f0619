import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

const chunkOf = 100
/** Fewer lines than this are all drawn. */
const mostDrawn = 400
const lineHeight = 20

/** Many lines, of which only those near the screen are drawn. The others keep their former or estimated height. */
export function LineChunks({ count, show }: { count: number; show(from: number, to: number): ComponentChildren }) {
  if (count <= mostDrawn) return <>{show(0, count)}</>
  const starts = Array.from({ length: Math.ceil(count / chunkOf) }, (_, index) => index * chunkOf)
  return (
    <>
      {starts.map(from => (
        <Chunk key={from} from={from} to={Math.min(from + chunkOf, count)} show={show} />
      ))}
    </>
  )
}

function Chunk({ from, to, show }: { from: number; to: number; show(from: number, to: number): ComponentChildren }) {
  const element = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(from === 0)
  useEffect(() => {
    const chunk = element.current
    if (chunk === null) return
    const watch = new IntersectionObserver(
      entries => {
        const near = entries.at(-1)?.isIntersecting === true
        if (!near && chunk.childElementCount > 0) chunk.style.blockSize = `${chunk.offsetHeight}px`
        setNear(near)
      },
      { rootMargin: '1200px 0px' }
    )
    watch.observe(chunk)
    return () => watch.disconnect()
  }, [])
  useEffect(() => {
    const chunk = element.current
    if (chunk === null) return
    if (isNear) chunk.style.blockSize = ''
    else if (chunk.style.blockSize === '') chunk.style.blockSize = `${(to - from) * lineHeight}px`
  }, [isNear, from, to])
  return <div ref={element}>{isNear && show(from, to)}</div>
}
