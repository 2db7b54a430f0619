import type { RefObject } from 'preact'
import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Block } from '../state/transcript-blocks.ts'

interface Reading {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly column: RefObject<HTMLDivElement | null>
  /** The first block to draw. */
  readonly from: number
  readonly isAtEnd: boolean
  /** The last message that was on screen while the reader was at the end. */
  readonly seenSeq: number
  onScroll(): void
  toEnd(): void
}

/** Blocks drawn at first, and how many more each time the reader comes near the top of them. */
const pageOfBlocks = 50
const mostBlocksAtEnd = 150
const nearPx = 900
const endPx = 48

/**
 * Where the reader is. At the end the log follows what comes; elsewhere what is on screen stays where it is, whatever is added above or
 * below. Only the blocks from some point on are drawn, and more of them as the reader goes up.
 */
export function useReading(of: {
  blocks: readonly Block[]
  lastSeq: number
  sentCount: number
  /** Whatever else can make the log grow. */
  growth: readonly unknown[]
  hasOlder: boolean
  loadOlder(): void
  onSeen(seq: number): void
}): Reading {
  const scroller = useRef<HTMLDivElement>(null)
  const column = useRef<HTMLDivElement>(null)
  const anchor = useRef<{ key: string; top: number } | undefined>(undefined)
  const [isAtEnd, setAtEnd] = useState(true)
  const [seenSeq, setSeenSeq] = useState(of.lastSeq)
  const [firstSeq, setFirstSeq] = useState<number>()
  const atEnd = useRef(true)
  const latest = useRef(of)
  latest.current = of

  const from = firstIndex(of.blocks, firstSeq)

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

  const goUp = useCallback(() => {
    const element = scroller.current
    const { blocks, hasOlder, loadOlder } = latest.current
    if (element === null || element.scrollTop > nearPx || blocks.length === 0) return
    const first = firstIndex(blocks, firstSeqNow.current)
    if (first > 0) setFirstSeq(seqOf(blocks[Math.max(0, first - pageOfBlocks)]))
    else if (hasOlder && element.scrollHeight > element.clientHeight) loadOlder()
  }, [])
  const firstSeqNow = useRef<number | undefined>(undefined)
  firstSeqNow.current = firstSeq

  const onScroll = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    const isEnd = element.scrollHeight - element.scrollTop - element.clientHeight < endPx
    if (isEnd !== atEnd.current) {
      atEnd.current = isEnd
      setAtEnd(isEnd)
    }
    noteAnchor()
    goUp()
  }, [])

  // After each drawing, before it is seen.
  useLayoutEffect(() => {
    if (atEnd.current) follow()
    else if (anchor.current !== undefined) {
      const { key, top } = anchor.current
      const element = [...(column.current?.children ?? [])].find(child => child instanceof HTMLElement && child.dataset['key'] === key)
      const moved = element === undefined ? 0 : element.getBoundingClientRect().top - top
      if (moved !== 0 && scroller.current !== null) scroller.current.scrollTop += moved
    }
    noteAnchor()
    goUp()
  }, [of.blocks, from, ...of.growth])

  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => {
      if (atEnd.current) follow()
    })
    if (scroller.current !== null) watch.observe(scroller.current)
    if (column.current !== null) watch.observe(column.current)
    return () => watch.disconnect()
  }, [])

  useLayoutEffect(() => {
    if (of.sentCount === 0) return
    atEnd.current = true
    setAtEnd(true)
    follow()
  }, [of.sentCount])

  // At the end nobody needs the blocks far above.
  useLayoutEffect(() => {
    if (isAtEnd && of.blocks.length - from > mostBlocksAtEnd) setFirstSeq(seqOf(of.blocks[of.blocks.length - pageOfBlocks]))
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

  const toEnd = useCallback(() => {
    atEnd.current = true
    setAtEnd(true)
    follow()
  }, [])

  return { scroller, column, from, isAtEnd, seenSeq, onScroll, toEnd }
}

function firstIndex(blocks: readonly Block[], firstSeq: number | undefined): number {
  if (firstSeq === undefined) return withDay(blocks, Math.max(0, blocks.length - pageOfBlocks))
  const index = blocks.findIndex(block => block.type !== 'day' && lastSeqOf(block) >= firstSeq)
  return index < 0 ? withDay(blocks, Math.max(0, blocks.length - pageOfBlocks)) : withDay(blocks, index)
}

function withDay(blocks: readonly Block[], index: number): number {
  return blocks[index - 1]?.type === 'day' ? index - 1 : index
}

function seqOf(block: Block | undefined): number {
  switch (block?.type) {
    case 'item':
      return block.item.seq
    case 'trail':
      return block.rows.map(rowSeq).find(seq => seq > 0) ?? 0
    case 'day':
    case undefined:
      return 0
  }
}

// Older steps may join the front of a trail, so what counts is where it ends.
function lastSeqOf(block: Block): number {
  return block.type === 'trail' ? (block.rows.map(rowSeq).findLast(seq => seq > 0) ?? 0) : seqOf(block)
}

function rowSeq(row: Extract<Block, { type: 'trail' }>['rows'][number]): number {
  if (row.type === 'decision') return 0
  return row.type === 'looked' ? (row.rows.at(-1)?.seq ?? 0) : row.seq
}
