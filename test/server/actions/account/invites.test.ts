import t, { type Test } from 'tap'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import * as ids from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { createInvite, hashInvite, listInvites, openInvite, revokeInvite } from '../../../../lib/server/actions/account/invites.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { signInAs } from '../../../store/contract/kit.ts'

const minute = 60_000
const day = 24 * 60 * minute

async function openWorld(t: Test) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const state = { at: 1_000_000_000_000 }
  let count = 0
  const deps = { store, now: () => state.at + 7, time: () => state.at, newId: () => `invite-${++count}` }
  const states = async () => (await listInvites(deps, 'operator')).map(({ state }) => state)
  return { deps, state, states, store }
}

t.test('an invitation has a code of 128 bits, of which only a hash is stored, and is valid for a day', async t => {
  const { deps, state, states } = await openWorld(t)
  const { invite, code } = await createInvite(deps, 'operator', 'for Grace')
  t.match(code, /^[\w-]{22}$/)
  const listed = { id: 'invite-1', label: 'for Grace', createdAt: state.at + 7, endsAt: state.at + day, state: 'unused' }
  t.strictSame(invite, listed)
  t.strictSame(await listInvites(deps, 'operator'), [listed])
  t.not((await createInvite(deps, 'operator', '')).code, code)
  state.at += day - 1
  t.same(await states(), ['unused', 'unused'])
  state.at += 1
  t.same(await states(), ['over', 'over'])
  await t.rejects(openInvite(deps, code, { network: '10.0.0' }), failure('invite-not-found'))
})

t.test('an opened invitation lets one key of that network in for five minutes', async t => {
  const { deps, state, states, store } = await openWorld(t)
  const { code } = await createInvite(deps, 'operator', '')
  await t.rejects(openInvite(deps, 'another', { network: '10.0.0' }), failure('invite-not-found'))
  t.same(await openInvite(deps, code, { network: '10.0.0' }), { openUntil: state.at + 5 * minute })
  t.same(await states(), ['open'])
  state.at += 5 * minute - 1
  t.same(await states(), ['open'])
  state.at += 1
  t.same(await states(), ['unused'])
  t.same(await openInvite(deps, code, { network: '10.0.0' }), { openUntil: state.at + 5 * minute })
  const signIn = (network: string) => store.signIn(signInAs('grace', { create: { invite: null, network }, now: state.at }))
  t.same(await signIn('10.0.1'), { result: 'unknown-key' })
  t.match(await signIn('10.0.0'), { result: 'signed-in', created: true })
  t.same(await states(), ['used'])
  const another = signInAs('eve', { create: { invite: null, network: '10.0.0' }, now: state.at })
  t.same(await store.signIn(another), { result: 'unknown-key' }, 'and no second one')
})

t.test('a code lets somebody in by itself, and a revoked one nobody', async t => {
  const { deps, state, states, store } = await openWorld(t)
  const { invite, code } = await createInvite(deps, 'operator', '')
  const signIn = (name: string, code: string) =>
    store.signIn(signInAs(name, { create: { invite: hashInvite(code), network: '' }, now: state.at }))
  await revokeInvite(deps, 'operator', invite.id)
  t.same(await listInvites(deps, 'operator'), [])
  t.same(await signIn('grace', code), { result: 'unknown-key' })
  const valid = await createInvite(deps, 'operator', '')
  t.match(await signIn('grace', valid.code), { result: 'signed-in', created: true })
  t.same(await states(), ['used'])
  await t.rejects(revokeInvite(deps, 'operator', v.parse(ids.inviteId, 'invite-1')), failure('invite-not-found'))
})
