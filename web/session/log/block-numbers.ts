import type { Block } from '../../model/transcript/blocks.ts'

/** Blocks drawn at first. */
export const pageOfBlocks = 20

/** The number of the first message. */
export function firstKnown(blocks: readonly Block[]): number {
  return seqOf(blocks.find(block => seqOf(block) > 0))
}

/** The block to begin with: that of message `firstSeq`, or the start of the last page. */
export function firstIndex(blocks: readonly Block[], firstSeq: number | undefined): number {
  const index = firstSeq === undefined ? -1 : blocks.findIndex(block => block.type !== 'day' && lastSeqOf(block) >= firstSeq)
  return withDay(blocks, index < 0 ? Math.max(0, blocks.length - pageOfBlocks) : index)
}

/** The number of the first message in or after block `from`; days and answers without a message have none of their own. */
export function seqFrom(blocks: readonly Block[], from: number): number {
  return seqOf(blocks.slice(Math.max(0, from)).find(block => seqOf(block) > 0))
}

/** The block after that of message `endSeq`; a trail that goes on beyond it counts as after. */
export function endIndex(blocks: readonly Block[], endSeq: number | undefined, from: number): number {
  if (endSeq === undefined) return blocks.length
  const index = blocks.findIndex((block, at) => at > from && block.type !== 'day' && lastSeqOf(block) > endSeq)
  return index < 0 ? blocks.length : index
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

/** Older steps may be added to the front of a trail, so its end identifies it. */
export function lastSeqOf(block: Block): number {
  return block.type === 'trail' ? (block.rows.map(rowSeq).findLast(seq => seq > 0) ?? 0) : seqOf(block)
}

function rowSeq(row: Extract<Block, { type: 'trail' }>['rows'][number]): number {
  if (row.type === 'decision') return 0
  return row.type === 'looked' ? (row.rows.at(-1)?.seq ?? 0) : row.seq
}
