import t from 'tap'
import type { BytesIn } from '../../../../lib/protocol/wire/routes.ts'
import { inPieces } from '../../../../lib/server/actions/sessions/pieces.ts'

/** Bytes that come in these chunks, and what is said to be kept of them. */
function bytesIn(chunks: string[], { isCut = false } = {}): { bytes: BytesIn; kept: number[] } {
  const kept: number[] = []
  async function* come() {
    for (const chunk of chunks) yield Buffer.from(chunk)
    if (isCut) throw new Error('The connection broke.')
  }
  return { bytes: Object.assign(come(), { keep: (length: number) => kept.push(length) }) as unknown as BytesIn, kept }
}

async function read(chunks: string[], how: Parameters<typeof inPieces>[1], cut: { isCut?: boolean } = {}) {
  const { bytes, kept } = bytesIn(chunks, cut)
  const pieces: string[] = []
  let error: unknown
  try {
    for await (const piece of inPieces(bytes, how)) pieces.push(Buffer.from(piece).toString())
  } catch (thrown) {
    error = thrown
  }
  return { pieces, kept, error }
}

t.test('pieces have one size whatever the chunks are, and the last one has the rest', async t => {
  const table: [chunks: string[], pieces: string[], kept: number[]][] = [
    [[], [], []],
    [['abcd'], ['abcd'], [0]],
    [['abc'], ['abc'], [3]],
    [['abcdefghij'], ['abcd', 'efgh', 'ij'], [2]],
    [
      ['a', 'b', 'cdef', 'g'],
      ['abcd', 'efg'],
      [1, 2, 2, 3]
    ],
    [
      ['abcd', 'efgh'],
      ['abcd', 'efgh'],
      [0, 0]
    ]
  ]
  for (const [chunks, pieces, kept] of table)
    t.strictSame(await read(chunks, { most: 4 }), { pieces, kept, error: undefined }, chunks.join())
})

t.test('the first bytes may be skipped, also more than one chunk of them', async t => {
  const table: [skipped: number, pieces: string[]][] = [
    [0, ['abcd', 'efgh']],
    [2, ['cdef', 'gh']],
    [3, ['defg', 'h']],
    [5, ['fgh']],
    [8, []],
    [9, []]
  ]
  for (const [skipped, pieces] of table) t.same((await read(['abc', 'de', 'fgh'], { most: 4, skipped })).pieces, pieces, `${skipped}`)
})

t.test('of bytes that are cut off only whole pieces come, or all that came before the error', async t => {
  const table: [text: string, keepCut: boolean | undefined, pieces: string[]][] = [
    ['abcdef', undefined, ['abcd']],
    ['abcdef', true, ['abcd', 'ef']],
    ['abcde', true, ['abcd', 'e']],
    ['abcd', true, ['abcd']]
  ]
  for (const [text, keepCut, pieces] of table) {
    const came = await read([text], { most: 4, ...(keepCut && { keepCut }) }, { isCut: true })
    t.same(came.pieces, pieces, text)
    t.match(came.error, { message: 'The connection broke.' })
  }
})
