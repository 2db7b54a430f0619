import t from 'tap'
import {
  agentStateOf,
  daemonStateOf,
  furthest,
  latestPresence,
  metadataOf,
  newerAgentState,
  newerDaemonState,
  newerMetadata
} from '../../../lib/client/feed/newer-versions.ts'

const metadata = (version: number, text = 'a') => ({ metadata: text as never, metadataVersion: version })
const agentState = (version: number, text = 'a') => ({ agentState: text as never, agentStateVersion: version })
const daemonState = (version: number, text = 'a') => ({ daemonState: text as never, daemonStateVersion: version })

t.test('of two states of a thing the later one is kept, and the first where both are as late', t => {
  for (const [newer, of] of [
    [newerMetadata, metadata],
    [newerAgentState, agentState],
    [newerDaemonState, daemonState]
  ] as [(one: object, other?: object) => object, (version: number, text?: string) => object][]) {
    t.strictSame(newer({ ...of(1), id: 'x' }, of(2, 'b')), of(2, 'b'))
    t.strictSame(newer({ ...of(3), id: 'x' }, of(2, 'b')), of(3))
    t.strictSame(newer(of(2), of(2, 'b')), of(2))
    t.strictSame(newer(of(2), undefined), of(2))
  }
  t.end()
})

t.test('a cell of an update is a state of its thing', t => {
  const cell = { value: 'b' as never, version: 4 }
  t.strictSame([metadataOf(cell), agentStateOf(cell), daemonStateOf(cell)], [metadata(4, 'b'), agentState(4, 'b'), daemonState(4, 'b')])
  t.strictSame([metadataOf(undefined), agentStateOf(undefined), daemonStateOf(undefined)], [undefined, undefined, undefined])
  t.end()
})

t.test('receipts go as far as the furthest of both, and are none on a Happy server', t => {
  t.strictSame(furthest({ deliveredSeq: 5, readSeq: 1 }, { deliveredSeq: 3, readSeq: 2 }), { deliveredSeq: 5, readSeq: 2 })
  t.strictSame(furthest({ deliveredSeq: 5 } as never, { readSeq: 2 } as never), { deliveredSeq: 5, readSeq: 2 })
  t.strictSame(furthest({} as never, undefined), { deliveredSeq: 0, readSeq: 0 })
  t.end()
})

t.test('the latest sign of presence counts, and that of the row where both are as late', t => {
  const row = { active: false, activeAt: 5, id: 'x' }
  t.strictSame(latestPresence(row, { active: true, activeAt: 6 }), { active: true, activeAt: 6 })
  t.strictSame(latestPresence(row, { active: true, activeAt: 5 }), { active: false, activeAt: 5 })
  t.strictSame(latestPresence(row, undefined), { active: false, activeAt: 5 })
  t.end()
})
