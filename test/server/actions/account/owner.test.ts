import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../../../lib/async/clock.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import { inviteId } from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { createInvite, listInvites, revokeInvite } from '../../../../lib/server/actions/account/invites.ts'
import { decideSignup, listSignups } from '../../../../lib/server/actions/account/signup.ts'
import { listUsers, removeUser } from '../../../../lib/server/actions/account/users.ts'
import type { Asker, Deps } from '../../../../lib/server/deps.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { memoryFolder } from '../../../kit/memory-folder.ts'
import { deviceId, newAccount, tokenId } from '../../../store/contract/kit.ts'

t.test('owner-only actions check ownership themselves, for every caller', async t => {
  const store = await openStore('sqlite:afield.db', { dataDirectory: join(memoryFolder(t), 'data'), onBroken: reason => t.error(reason) })
  t.teardown(() => store.close())
  const deps = {
    store,
    bus: openLocalBus({ onError: error => t.error(error) }),
    now: () => 1,
    time: () => 1,
    clock: systemClock,
    newId: () => 'an-invitation',
    leftoverSweep: { soon() {} }
  } satisfies Omit<Deps, 'quotas'> & { leftoverSweep: object }
  const [ann, bob] = [await newAccount(store, 'ann'), await newAccount(store, 'bob')]
  const caller = (account: typeof ann): Asker => ({
    ...{ account, token: tokenId('t'), kind: 'account', scopes: ['read', 'write', 'manage'], device: deviceId('d'), skip: undefined }
  })
  const id = v.parse(inviteId, 'an-invitation')
  const ownersOnly: Record<string, (by: Asker) => Promise<unknown>> = {
    listUsers: by => listUsers(deps, by),
    listSignups: by => listSignups(deps, by),
    decideSignup: by => decideSignup(deps, by, 'words of nobody', 'approved'),
    createInvite: by => createInvite(deps, by, ''),
    listInvites: by => listInvites(deps, by),
    revokeInvite: by => revokeInvite(deps, by, id),
    removeUser: by => removeUser(deps, by, ann)
  }
  for (const [name, act] of Object.entries(ownersOnly)) {
    await t.rejects(act(caller(bob)), { code: 'owner-only' }, name)
    for (const by of [caller(ann), 'operator'] as const) {
      const outcome = await act(by).catch(error => error.code)
      t.not(outcome, 'owner-only', `${name} by the owner`)
    }
  }
})
