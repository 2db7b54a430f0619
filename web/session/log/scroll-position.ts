import type { RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { route } from '../../core/router.ts'
import type { Block } from '../../model/transcript/blocks.ts'
import { linkedMessage } from '../../model/transcript/linked-message.ts'
import { endIndex, firstIndex, firstKnown, lastSeqOf, pageOfBlocks, seqFrom } from './block-numbers.ts'

interface Reading {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly column: RefObject<HTMLDivElement | null>
  /** The blocks to draw: from this index up to, and excluding, that one. */
  readonly from: number
  readonly to: number
  /** The height of the blocks below them, in px. */
  readonly below: number
  readonly isAtEnd: boolean
  /** The last message that was on screen while the reader was at the end. */
  readonly seenSeq: number
  onScroll(): void
  toEnd(): void
}

const mostBlocksAtEnd = 80
/** How many more when the reader nears the first or the last of them: few, so that each batch fits in a frame. */
const blocksAtOnce = 8
/** In screen heights: nearer than the first, more blocks are drawn; farther than the second, they are removed. */
const overscan = 1.5
const farAway = 3
/** Blocks drawn above and below the target of a jump. */
const blocksAround = 10
const endPx = 48

/**
 * The reader's position. At the end the log follows new blocks; elsewhere the visible part stays in place when blocks are added above or
 * below. Only the blocks around the reader are drawn; those below keep their former height.
 */
export function useScrollPosition(of: {
  blocks: readonly Block[]
  lastSeq: number
  sentCount: number
  /** Other things that can make the log grow. */
  growth: readonly unknown[]
  hasOlder: boolean
  /** Loads a page, or down to the message with this number. */
  loadOlder(downTo?: number): void
  onSeen(seq: number): void
}): Reading {
  const scroller = useRef<HTMLDivElement>(null)
  const column = useRef<HTMLDivElement>(null)
  const anchor = useRef<{ key: string; top: number } | undefined>(undefined)
  const [isAtEnd, setAtEnd] = useState(true)
  const [seenSeq, setSeenSeq] = useState(of.lastSeq)
  const [firstSeq, setFirstSeq] = useState<number>()
  /** Undefined: all of them. */
  const [endSeq, setEndSeq] = useState<number>()
  const heights = useRef(new Map<string, number>())
  const atEnd = useRef(true)
  const lastTop = useRef(0)
  const isOpened = useOpenedJustNow(column)
  const latest = useRef(of)
  latest.current = of

  const from = firstIndex(of.blocks, firstSeq)
  const to = endIndex(of.blocks, endSeq, from)
  const below = useMemo(() => of.blocks.slice(to).reduce((sum, { key }) => sum + (heights.current.get(key) ?? 0), 0), [of.blocks, to])
  const drawn = useRef({ from, to })
  drawn.current = { from, to }
  const target = linkedMessage(route.value)
  const reached = useRef<number | undefined>(undefined)

  const noteAnchor = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    const top = element.getBoundingClientRect().top
    for (const child of column.current?.children ?? []) {
      const rect = child.getBoundingClientRect()
      const key = child instanceof HTMLElement ? child.dataset['key'] : undefined
      if (key !== undefined && rect.bottom > top) {
        anchor.current = { key, top: rect.top }
        return
      }
    }
    anchor.current = undefined
  }, [])

  const follow = useCallback(() => {
    const element = scroller.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }, [])

  const draw = useCallback((from: number, to: number) => {
    const { blocks } = latest.current
    setFirstSeq(seqFrom(blocks, from))
    const last = to < blocks.length ? blocks.slice(0, to).findLast(block => lastSeqOf(block) > 0) : undefined
    setEndSeq(last && lastSeqOf(last))
  }, [])

  const noteHeights = useCallback((from: number, to: number) => {
    for (const { key } of latest.current.blocks.slice(from, to)) {
      const element = elementOf(column.current, key)
      const next = element?.nextElementSibling
      if (element)
        heights.current.set(key, next ? next.getBoundingClientRect().top - element.getBoundingClientRect().top : element.offsetHeight)
    }
  }, [])

  /** The drawn blocks that are not far away, as indices: from the first up to, and excluding, the second. */
  const near = useCallback(() => {
    const { from, to } = drawn.current
    const { top = 0, bottom = 0, height = 0 } = scroller.current?.getBoundingClientRect() ?? {}
    const keys = new Set<string | undefined>()
    for (const child of column.current?.children ?? []) {
      const rect = child.getBoundingClientRect()
      if (rect.bottom >= top - farAway * height && rect.top <= bottom + farAway * height) keys.add((child as HTMLElement).dataset['key'])
    }
    const isNear = ({ key }: Block) => keys.has(key)
    const blocks = latest.current.blocks.slice(from, to)
    const first = blocks.findIndex(isNear)
    return first < 0 ? { from, to } : { from: from + first, to: from + blocks.findLastIndex(isNear) + 1 }
  }, [])

  const goUp = useCallback(() => {
    const element = scroller.current
    const { blocks, hasOlder, loadOlder } = latest.current
    if (element === null || element.scrollTop > overscan * element.clientHeight || blocks.length === 0) return
    const { from: first, to: end } = drawn.current
    if (first > 0) {
      const { to: nextEnd } = near()
      noteHeights(nextEnd, end)
      draw(Math.max(0, first - blocksAtOnce), nextEnd)
    } else if (hasOlder && element.clientHeight > 0) loadOlder()
  }, [])

  const goDown = useCallback(() => {
    const element = scroller.current
    const { blocks } = latest.current
    const { to: end } = drawn.current
    const rest = column.current?.querySelector('[data-below]')?.getBoundingClientRect()
    if (element === null || rest === undefined || end >= blocks.length) return
    const { top, bottom } = element.getBoundingClientRect()
    if (rest.top > bottom + overscan * element.clientHeight) return
    if (rest.top > top) return draw(near().from, end + blocksAtOnce)
    // Far beyond the drawn blocks, for example after dragging the scroll bar: continue with the block that would be there.
    let index = end
    for (let at = rest.top; at < top && index < blocks.length - 1; index++) at += heights.current.get(blocks[index]?.key ?? '') ?? 0
    anchor.current = { key: blocks[index]?.key ?? '', top }
    draw(index - blocksAround, index + blocksAround)
  }, [])

  const noteEnd = useCallback(() => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = scroller.current ?? {}
    const isEnd = drawn.current.to >= latest.current.blocks.length && scrollHeight - scrollTop - clientHeight < endPx
    if (isEnd === atEnd.current) return
    atEnd.current = isEnd
    setAtEnd(isEnd)
  }, [])

  const onScroll = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    // Only scrolling up leaves the end; elements opening below the conversation make it shorter and report it late.
    const isUp = element.scrollTop < lastTop.current
    lastTop.current = element.scrollTop
    if (atEnd.current && !isUp && !isOpened()) follow()
    else noteEnd()
    noteAnchor()
    goUp()
    goDown()
  }, [])

  // The message in the address: the blocks around it are loaded and drawn, then it is centred.
  useLayoutEffect(() => {
    if (target === undefined || reached.current === target || of.blocks.length === 0) return
    const index = of.blocks.findIndex(block => block.type !== 'day' && lastSeqOf(block) >= target)
    // It does not exist so far: that is reported elsewhere.
    if (index < 0) return
    atEnd.current = false
    setAtEnd(false)
    if (target < firstKnown(of.blocks)) {
      // While older ones are loading there is nothing more to request.
      if (of.hasOlder) of.loadOlder(target)
      return
    }
    const key = of.blocks[index]?.key
    if (key === undefined) return
    const element = elementOf(column.current, key)
    if (element) {
      reached.current = target
      element.scrollIntoView({ block: 'center' })
      element.classList.add('is-target')
      noteAnchor()
    } else {
      anchor.current = undefined
      draw(index - blocksAround, index + blocksAround)
    }
  }, [target, of.blocks, of.hasOlder, from, to])

  // After each render, before paint.
  useLayoutEffect(() => {
    if (atEnd.current) follow()
    else if (anchor.current !== undefined) {
      const { key, top } = anchor.current
      const element = elementOf(column.current, key)
      const moved = element === null ? 0 : element.getBoundingClientRect().top - top
      if (moved !== 0 && scroller.current !== null) scroller.current.scrollTop += moved
    }
    noteAnchor()
    goUp()
    goDown()
  }, [of.blocks, from, to, of.hasOlder, ...of.growth])

  useLayoutEffect(() => {
    const watch = new ResizeObserver(entries => {
      const isColumn = entries.some(({ target }) => target === column.current)
      if (atEnd.current && !(isColumn && isOpened())) follow()
      else noteEnd()
    })
    if (scroller.current !== null) watch.observe(scroller.current)
    if (column.current !== null) watch.observe(column.current)
    return () => watch.disconnect()
  }, [])

  const toEnd = useCallback(() => {
    atEnd.current = true
    setAtEnd(true)
    if (drawn.current.to < latest.current.blocks.length) setFirstSeq(undefined)
    setEndSeq(undefined)
    follow()
  }, [])

  useLayoutEffect(() => {
    if (of.sentCount > 0) toEnd()
  }, [of.sentCount])

  // At the end the blocks far above are not needed.
  useLayoutEffect(() => {
    if (isAtEnd && of.blocks.length - from > mostBlocksAtEnd) setFirstSeq(seqFrom(of.blocks, of.blocks.length - pageOfBlocks))
  }, [isAtEnd, of.blocks])

  useLayoutEffect(() => {
    if (!isAtEnd) return
    setSeenSeq(of.lastSeq)
    const tell = () => {
      if (document.visibilityState === 'visible' && latest.current.lastSeq > 0) latest.current.onSeen(latest.current.lastSeq)
    }
    tell()
    document.addEventListener('visibilitychange', tell)
    return () => document.removeEventListener('visibilitychange', tell)
  }, [isAtEnd, of.lastSeq])

  return { scroller, column, from, to, below, isAtEnd, seenSeq, onScroll, toEnd }
}

function elementOf(column: HTMLElement | null, key: string): HTMLElement | null {
  return column?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) ?? null
}

/** Long enough for content rendered by the worker. */
const openedWithinMs = 3_000

/** Whether something inside was just pressed: growth then comes from opening it, and it is read from its beginning. */
function useOpenedJustNow(inside: RefObject<HTMLElement | null>): () => boolean {
  const pressedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const element = inside.current
    const pressed = ({ target }: Event) => {
      if (target instanceof Element && target.closest('button, summary')) pressedAt.current = performance.now()
    }
    element?.addEventListener('click', pressed, true)
    return () => element?.removeEventListener('click', pressed, true)
  }, [])
  return useCallback(() => performance.now() - pressedAt.current < openedWithinMs, [])
}
