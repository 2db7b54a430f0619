import t from 'tap'
import { methodRefusal } from '../../../../lib/server/actions/calls/register-method.ts'
import { machineId, sessionId } from '../../../store/contract/kit.ts'

const others = 'Only the session or machine itself answers its methods'

t.test('a session or machine registers its own methods, and nobody else does [R2]', async t => {
  const session = { of: 'session', id: sessionId('s') } as const
  t.equal(methodRefusal(session, 's:abort', 0), undefined)
  t.equal(methodRefusal({ of: 'machine', id: machineId('lap:top') }, 'lap:top:spawn', 0), undefined)
  for (const method of ['other:abort', 'abort', 's', 's:a:b', ':s', '', 'S:abort'])
    t.equal(methodRefusal(session, method, 0), others, method)
  t.equal(methodRefusal({ of: 'machine', id: machineId('lap') }, 'lap:top:spawn', 0), others)
  t.equal(methodRefusal('app', 's:abort', 0), others)
  t.equal(methodRefusal({ of: 'session', id: sessionId('abor') }, 'abort', 0), others, 'a method without an id is nobody’s')
})

t.test('a connection has a limited number of methods', async t => {
  const session = { of: 'session', id: sessionId('s') } as const
  t.equal(methodRefusal(session, 's:abort', 255), undefined)
  t.equal(methodRefusal(session, 's:abort', 256), 'Too many methods')
})
