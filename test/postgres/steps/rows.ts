import fc from 'fast-check'
import { artifactId, attachmentId, kvKey, localId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { CellRef, RemovableRef, RowRef } from '../../../lib/store/rows.ts'
import { anyText, machine, quotas, type Steps, session, small, step, text, unordered, who } from './kit.ts'

const limit = fc.constantFrom(1, 2, 10)
const maybeText = fc.option(text, { freq: 3 })
const version = fc.constantFrom(0, 1, 1, 2, 3)
const artifact = fc.constantFrom('a1', 'A2').map(name => v.parse(artifactId, name))
const attachment = fc.constantFrom('0', '1').map(digit => v.parse(attachmentId, `0000000${digit}-0000-4000-8000-000000000000.enc`))
const key = fc.constantFrom('a', 'a\u0000', 'a\u0001', 'a/b', 'aß', 'a\u{10ffff}', 'B').map(name => v.parse(kvKey, name))

const row: fc.Arbitrary<RowRef> = fc.oneof(
  session.map(id => ({ of: 'session' as const, id })),
  machine.map(id => ({ of: 'machine' as const, id }))
)
const removable: fc.Arbitrary<RemovableRef> = fc.oneof(
  row,
  artifact.map(id => ({ of: 'artifact' as const, id }))
)
const cell: fc.Arbitrary<CellRef> = fc.oneof(
  fc.record({ of: fc.constant('session' as const), id: session, name: fc.constantFrom('metadata' as const, 'agentState' as const) }),
  fc.record({ of: fc.constant('machine' as const), id: machine, name: fc.constantFrom('metadata' as const, 'daemonState' as const) }),
  fc.constant({ of: 'account' as const, name: 'settings' as const })
)

const drafts = fc.array(
  fc.record({ localId: fc.option(fc.constantFrom('l1', 'l2', 'l3', 'l\u0000').map(name => v.parse(localId, name))), sealed: anyText }),
  { minLength: 1, maxLength: 3 }
)

const openSession = step(
  'openSession',
  { who, session, metadata: text, agentState: maybeText, dataKey: maybeText, quotas },
  ({ store, now }, ask) => {
    const { metadata, agentState, dataKey } = ask
    return store.openSession(ask.who, { id: ask.session, tag: `tag of ${ask.session}`, metadata, agentState, dataKey, now }, ask.quotas)
  }
)

export const sessionSteps: Steps[] = [
  openSession,
  openSession,
  openSession,
  step('listSessions', { who, limit }, ({ store }, { who, limit }) => store.listSessions(who, limit)),
  step('listActiveSessions', { who, limit, ago: small }, ({ store, now }, { who, limit, ago }) =>
    store.listActiveSessions(who, { since: now - ago * 40, limit })
  ),
  step('pageSessions', { who, limit, before: fc.option(session), ago: small }, ({ store, now }, { who, limit, before, ago }) =>
    store.pageSessions(who, { before: before ?? undefined, changedSince: ago === 0 ? 0 : now - ago * 60, limit })
  ),
  step('findSession', { who, session }, ({ store }, { who, session }) => store.findSession(who, session)),
  step('appendMessages', { who, session, drafts, quotas }, ({ store, now }, { who, session, drafts, quotas }) =>
    store.appendMessages(who, session, drafts, now, quotas)
  ),
  // Of some at the same moment each gets the answer that it would get alone.
  step('some appends', { who, session, all: fc.array(drafts, { maxLength: 4 }), quotas }, async ({ store, now }, ask) => {
    const answers = await Promise.allSettled(ask.all.map(drafts => store.appendMessages(ask.who, ask.session, drafts, now, ask.quotas)))
    return answers.map(answer => (answer.status === 'fulfilled' ? answer.value : String(answer.reason)))
  }),
  step('readMessages', { who, session, limit, at: fc.nat(12), isBack: fc.boolean() }, ({ store }, { who, session, limit, at, isBack }) =>
    store.readMessages(who, session, isBack ? { before: at, limit } : { after: at, limit })
  ),
  step('markReceipts', { who, session, deliveredSeq: fc.option(fc.nat(9)), readSeq: fc.option(fc.nat(9)) }, ({ store }, ask) =>
    store.markReceipts(ask.who, ask.session, {
      ...(ask.deliveredSeq === null ? {} : { deliveredSeq: ask.deliveredSeq }),
      ...(ask.readSeq === null ? {} : { readSeq: ask.readSeq })
    })
  ),
  step(
    'markActive',
    { marks: fc.array(fc.record({ account: who, row, active: fc.boolean() }), { maxLength: 3 }) },
    ({ store, now }, { marks }) => store.markActive(marks.map((mark, index) => ({ ...mark, at: now - index * 2 })))
  ),
  step('sweepActive', { ago: small }, async ({ store, now }, { ago }) => unordered(await store.sweepActive(now - ago * 30))),
  step('remove', { who, removable }, ({ store }, { who, removable }) => store.remove(who, removable)),
  step('removeOldSessions', { ago: small }, async ({ store, now }, { ago }) =>
    unordered(await store.removeOldSessions(now - ago * 200, 10))
  ),
  step('sweepLeftovers', {}, async ({ store, now }) => {
    let pieces = 0
    while ((await store.sweepLeftovers(now)) === 'more' && pieces < 1_000) pieces += 1
  }),
  step('readClocks', { whom: fc.array(who, { maxLength: 3 }) }, async ({ store }, { whom }) =>
    unordered([...(await store.readClocks(whom))])
  ),
  step('changesSince', { who, since: fc.nat(40), limit, isKnown: fc.boolean() }, async ({ store }, { who, since, limit, isKnown }) => {
    const { epoch } = await store.changesSince(who, { epoch: undefined, since: 0, began: undefined, limit: 1 })
    const ask = isKnown ? { epoch, since } : { epoch: undefined, since: 0 }
    return { ...(await store.changesSince(who, { ...ask, began: undefined, limit })), epoch: '' }
  })
]

export const rowSteps: Steps[] = [
  step('openMachine', { who, machine, metadata: text, daemonState: maybeText, dataKey: maybeText, quotas }, ({ store, now }, ask) => {
    const { metadata, daemonState, dataKey } = ask
    return store.openMachine(ask.who, { id: ask.machine, metadata, daemonState, dataKey, now }, ask.quotas)
  }),
  step('listMachines', { who }, ({ store }, { who }) => store.listMachines(who)),
  step('findMachine', { who, machine }, ({ store }, { who, machine }) => store.findMachine(who, machine)),
  step('findAccessKey', { who, session, machine }, ({ store }, { who, ...of }) => store.findAccessKey(who, of)),
  step('addAccessKey', { who, session, machine, text, quotas }, ({ store, now }, { who, session, machine, text, quotas }) =>
    store.addAccessKey(who, { session, machine }, text, now, quotas)
  ),
  step(
    'writeAccessKey',
    { who, session, machine, version, text, quotas },
    ({ store, now }, { who, session, machine, version, text, quotas }) =>
      store.writeAccessKey(who, { session, machine }, version, text, now, quotas)
  ),
  step('readSettings', { who }, ({ store }, { who }) => store.readSettings(who)),
  step('writeCell', { who, cell, version, value: maybeText, quotas }, ({ store, now }, { who, cell, version, value, quotas }) =>
    store.writeCell(who, cell, version, value, now, quotas)
  ),
  step('readKv', { who, keys: fc.array(key, { maxLength: 4 }) }, ({ store }, { who, keys }) => store.readKv(who, keys)),
  step('listKv', { who, prefix: fc.constantFrom('', 'a', 'a\u0000', 'a\u0001', 'aß', 'a\u{10ffff}', 'b'), limit }, ({ store }, ask) =>
    store.listKv(ask.who, { prefix: ask.prefix, limit: ask.limit })
  ),
  step(
    'mutateKv',
    {
      who,
      changes: fc.uniqueArray(fc.record({ key, value: maybeText, version: fc.constantFrom(-1, -1, 0, 1, 2) }), {
        selector: ({ key }) => key,
        minLength: 1,
        maxLength: 3
      }),
      quotas
    },
    ({ store, now }, { who, changes, quotas }) => store.mutateKv(who, changes, now, quotas)
  ),
  step('openArtifact', { who, artifact, header: anyText, body: anyText, dataKey: anyText, quotas }, ({ store, now }, ask) => {
    const { header, body, dataKey } = ask
    return store.openArtifact(ask.who, { id: ask.artifact, header, body, dataKey, now }, ask.quotas)
  }),
  step('listArtifacts', { who, limit }, ({ store }, { who, limit }) => store.listArtifacts(who, limit)),
  step('findArtifact', { who, artifact }, ({ store }, { who, artifact }) => store.findArtifact(who, artifact)),
  step(
    'writeArtifact',
    {
      who,
      artifact,
      header: fc.option(fc.record({ expected: version, value: anyText })),
      body: fc.option(fc.record({ expected: version, value: anyText })),
      quotas
    },
    ({ store, now }, { who, artifact, header, body, quotas }) =>
      store.writeArtifact(who, artifact, { ...(header && { header }), ...(body && { body }) }, now, quotas)
  ),
  step('putUsageReport', { who, session: fc.option(session), small, quotas }, ({ store, now, step }, { who, session, small, quotas }) => {
    const amounts = { total: small * 1.5, [small === 0 ? 'a\u0000b' : 'input']: 1 }
    return store.putUsageReport(who, { id: `report ${step}`, key: `k${small % 2}`, session, tokens: amounts, cost: amounts, now }, quotas)
  }),
  step('readUsage', { who, session: fc.option(session), ago: small }, ({ store, now }, { who, session, ago }) =>
    store.readUsage(who, { session, from: now - ago * 100, to: now, bucketMs: 30 })
  ),
  step('storage', { who }, async ({ store }, { who }) => [
    await store.readStorage(who),
    unordered(await store.readSessionSizes(who)),
    await store.readAttachmentBytes(who)
  ]),
  step('openUpload', { who, session, attachment, size: small, quotas }, ({ store, now }, { who, session, attachment, size, quotas }) =>
    store.openUpload(who, session, { id: attachment, size: size * 10, now, endsAt: now + 100 }, quotas)
  ),
  step('findUpload', { who, session, attachment }, ({ store, now }, { who, session, attachment }) =>
    store.findUpload(who, session, attachment, now)
  ),
  step('restartUpload', { who, session, attachment }, ({ store, now }, { who, session, attachment }) =>
    store.restartUpload(who, session, attachment, now)
  ),
  step(
    'appendPiece',
    { who, session, attachment, small, quotas },
    async ({ store, now, step }, { who, session, attachment, small, quotas }) => {
      const upload = await store.findUpload(who, session, attachment, now)
      const { attempt, received } = upload === 'missing' ? { attempt: 0, received: 0 } : upload
      const piece = {
        attempt: small === 3 ? attempt + 1 : attempt,
        at: small === 2 ? received + 1 : received,
        bytes: Buffer.from([step, 0, 255])
      }
      return store.appendPiece(who, session, attachment, { ...piece, now, endsAt: now + 100 }, quotas)
    }
  ),
  step('completeUpload', { who, session, attachment, small }, async ({ store, now }, { who, session, attachment, small }) => {
    const upload = await store.findUpload(who, session, attachment, now)
    const { attempt, received } = upload === 'missing' ? { attempt: 0, received: 0 } : upload
    return store.completeUpload(who, session, attachment, { attempt, received: received + (small === 3 ? 1 : 0), sha256: 'sum', now })
  }),
  step('readPiece', { who, session, attachment, at: fc.nat(7) }, async ({ store }, { who, session, attachment, at }) => {
    const piece = await store.readPiece(who, session, attachment, at)
    return typeof piece === 'string' ? piece : [...piece]
  })
]
