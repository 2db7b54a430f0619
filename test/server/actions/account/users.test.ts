import t, { type Test } from 'tap'
import { revocationTopic } from '../../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import * as ids from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { fingerprintOfKey } from '../../../../lib/server/actions/account/signup.ts'
import { listUsers, readAccountId, removeUser } from '../../../../lib/server/actions/account/users.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { newAccount, sha256, signInAs, tokenDraft } from '../../../store/contract/kit.ts'

async function openWorld(t: Test) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const bus = openLocalBus({ onError: error => t.error(error) })
  const happened: string[] = []
  await bus.subscribe(revocationTopic, event => happened.push(event.type === 'token-revoked' ? `revoked ${event.token}` : event.type))
  return { store, happened, deps: { store, bus, leftoverSweep: { soon: () => happened.push('swept') } } }
}

t.test('a command is for the account that it names, or for the only one', async t => {
  const { store, deps } = await openWorld(t)
  await t.rejects(readAccountId(deps, undefined), { name: 'CannotStart', message: 'There are no accounts yet.' })
  const ann = await newAccount(store, 'ann')
  t.equal(await readAccountId(deps, undefined), ann)
  t.equal(await readAccountId(deps, ann), ann)
  const bob = await newAccount(store, 'bob')
  t.equal(await readAccountId(deps, bob), bob)
  await t.rejects(readAccountId(deps, undefined), { message: 'There are 2 accounts; choose one with --account. "users" lists them.' })
  await t.rejects(readAccountId(deps, v.parse(ids.accountId, 'eve')), { message: 'There is no account eve; "users" lists them.' })
})

t.test('accounts are listed with the fingerprints of their keys', async t => {
  const { store, deps } = await openWorld(t)
  const ann = await newAccount(store, 'ann')
  const publicKey = sha256('key of ann')
  t.match(await listUsers(deps, 'operator'), [{ id: ann, role: 'owner', publicKey, fingerprint: fingerprintOfKey(publicKey) }])
})

t.test('a removed account loses its tokens everywhere, and what it leaves is swept', async t => {
  const { store, deps, happened } = await openWorld(t)
  const ann = await newAccount(store, 'ann')
  for (const id of ['one', 'other']) await store.signIn(signInAs('bob', { token: () => tokenDraft('account', id) }))
  const bob = v.parse(ids.accountId, 'account-bob')
  await t.rejects(removeUser(deps, 'operator', ann), failure('owner-stays'))
  await t.rejects(removeUser(deps, 'operator', v.parse(ids.accountId, 'eve')), failure('account-not-found'))
  t.same(happened, [])
  await removeUser(deps, 'operator', bob)
  t.equal(happened.at(-1), 'swept')
  t.same(happened.slice(0, -1).toSorted(), ['revoked one', 'revoked other'])
  t.same(
    (await store.listAccounts()).map(({ id }) => id),
    [ann]
  )
})
