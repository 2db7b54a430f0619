import t from 'tap'
import { accountTopic } from '../../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../../lib/bus/local.ts'
import * as ids from '../../../../lib/protocol/wire/ids.ts'
import * as v from '../../../../lib/schema.ts'
import { forwardPartial } from '../../../../lib/server/actions/sessions/partial.ts'
import type { Caller } from '../../../../lib/server/deps.ts'
import { machineId, sealed, sessionId, tokenId } from '../../../store/contract/kit.ts'

t.test('growing text goes to the apps from the process of its session alone', async t => {
  const account = v.parse(ids.accountId, 'ada')
  const skip = v.parse(ids.connectionId, 'sender')
  const session = sessionId('s')
  const caller: Caller = { account, skip, token: tokenId('t'), kind: 'terminal', scopes: [], device: null }
  const bus = openLocalBus({ onError: error => t.error(error) })
  const heard: unknown[] = []
  await bus.subscribe(accountTopic(account), event => heard.push(event))
  const partial = sealed('grows')
  for (const scope of ['app', { of: 'session', id: sessionId('other') }, { of: 'machine', id: machineId('s') }] as const)
    forwardPartial({ bus }, caller, scope, { session, partial })
  t.same(heard, [])
  forwardPartial({ bus }, caller, { of: 'session', id: session }, { session, partial })
  t.strictSame(heard, [{ type: 'signal', audience: 'apps', skip, signal: { type: 'partial', session, partial } }])
})
