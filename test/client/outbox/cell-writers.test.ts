import t from 'tap'
import type { Rest } from '../../../lib/client/link/rest.ts'
import type { LiveSocket } from '../../../lib/client/link/socket.ts'
import {
  writeAgentState,
  writeDaemonState,
  writeMachineMetadata,
  writeSessionMetadata,
  writeSettings
} from '../../../lib/client/outbox/cell-writers.ts'
import { callFailures } from '../../../lib/protocol/wire/failures.ts'

/** A server that answers so, and what it was asked. */
function answering(answer: object) {
  const asked: unknown[] = []
  const request = async (...question: unknown[]) => {
    asked.push(question)
    return answer
  }
  return {
    asked,
    socket: { request } as unknown as Pick<LiveSocket, 'request'>,
    rest: { call: request } as unknown as Pick<Rest, 'call'>
  }
}

const writers = [
  { write: writeSessionMetadata, event: 'update-metadata', of: 'sid', cell: 'metadata' },
  { write: writeAgentState, event: 'update-state', of: 'sid', cell: 'agentState' },
  { write: writeMachineMetadata, event: 'machine-update-metadata', of: 'machineId', cell: 'metadata' },
  { write: writeDaemonState, event: 'machine-update-state', of: 'machineId', cell: 'daemonState' }
]

t.test('a cell of a session or machine is written with the expected version, or what it holds is returned [X4]', async t => {
  for (const { write, event, of, cell } of writers) {
    const success = answering({ result: 'success', version: 4, [cell]: 'bmV3' })
    t.strictSame(await write(success.socket, 'x1')(3, 'bmV3'), { type: 'written', version: 4 }, event)
    t.strictSame(success.asked, [[event, { [of]: 'x1', [cell]: 'bmV3', expectedVersion: 3 }]])
    const theirs = answering({ result: 'version-mismatch', version: 7, [cell]: 'dGhlaXJz' })
    t.strictSame(await write(theirs.socket, 'x1')(3, 'bmV3'), { type: 'conflict', version: 7, value: 'dGhlaXJz' })
    const empty = answering({ result: 'version-mismatch', version: 0 })
    t.strictSame(await write(empty.socket, 'x1')(3, 'bmV3'), { type: 'conflict', version: 0, value: null })
  }
})

t.test('settings are written with the expected version, or what they hold is returned [X4]', async t => {
  const success = answering({ success: true, version: 4 })
  t.strictSame(await writeSettings(success.rest)(3, 'bmV3'), { type: 'written', version: 4 })
  t.strictSame(success.asked, [['writeSettings', { body: { settings: 'bmV3', expectedVersion: 3 } }]])
  const theirs = answering({ success: false, currentVersion: 7, currentSettings: 'dGhlaXJz' })
  t.strictSame(await writeSettings(theirs.rest)(3, 'bmV3'), { type: 'conflict', version: 7, value: 'dGhlaXJz' })
})

t.test('a write that failed is retried only if the server may take it later, also by the words of older servers', async t => {
  const refusals: [
    answer: { message?: string; status?: number },
    error: { name: string; status: number; code?: string; reason?: string }
  ][] = [
    [{}, { name: 'Refused', status: 404, code: 'Not found' }],
    [{ message: 'Not found' }, { name: 'Refused', status: 404, code: 'Not found' }],
    [{ message: 'Invalid input' }, { name: 'Refused', status: 400, code: 'Invalid input' }],
    [{ message: callFailures.internal }, { name: 'Unreachable', reason: 'server-error', status: 503, code: callFailures.internal }],
    [{ message: 'Too many messages at once' }, { name: 'Unreachable', reason: 'server-error', status: 503 }],
    [
      { message: 'Full', status: 507 },
      { name: 'Unreachable', reason: 'server-error', status: 507, code: 'Full' }
    ],
    [
      { message: 'Down', status: 500 },
      { name: 'Unreachable', status: 500 }
    ],
    [
      { message: 'Too large', status: 413 },
      { name: 'Refused', status: 413, code: 'Too large' }
    ]
  ]
  for (const { write } of writers)
    for (const [answer, error] of refusals) {
      const { socket } = answering({ result: 'error', ...answer })
      await t.rejects(write(socket, 'x1')(3, 'bmV3'), error)
    }
})
