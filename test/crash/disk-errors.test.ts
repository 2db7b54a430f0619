import { join } from 'node:path'
import t from 'tap'
import { cryptoReady, engine } from '../../lib/crypto/index.ts'
import { call, Person, signInBody } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { straceProblem } from './fault-points.ts'
import { startVictim } from './victim.ts'

/** From the k-th of these calls on, every one fails; the server has started long before. */
const faults: [title: string, calls: string, k: number][] = [
  [
    'on a disk that cannot sync nothing more is acknowledged, and what was is there after the end with exit code 75 [F2]',
    'fsync,fdatasync',
    60
  ],
  ['on a disk that cannot write nothing more is acknowledged, and what was is there after the end with exit code 75 [F3]', 'pwrite64', 400]
]

for (const [title, calls, k] of faults) {
  t.test(title, { skip: straceProblem() ?? false }, async t => {
    await cryptoReady()
    const data = join(t.testdir(), 'data')
    const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO:when=${k}+`]
    const victim = await startVictim({ data, through: ['strace', '-f', '-qq', '-o', join(t.testdirName, 'log'), ...inject] })
    if (!victim) throw new Error('The server did not start.')
    t.teardown(() => victim.kill())
    const secret = engine.randomBytes(32)
    const { body } = await call(victim, 'POST', '/v1/auth', { body: await signInBody(secret) })
    const ada = new Person(t, victim, secret, body.token)
    const session = await ada.openSession()

    let acknowledged = 0
    for (;;) {
      const answer = await ada.send(session, { localId: `${acknowledged}` }).catch(() => undefined)
      if (answer?.status !== 200) {
        t.ok(answer === undefined || answer.status === 503, `refused with ${answer?.status}`)
        break
      }
      acknowledged += 1
      if (acknowledged > 2_000) throw new Error('No call failed.')
    }
    t.same(await victim.ended, { code: 75, signal: null })

    const again = await startServer(t, { data })
    const after = new Person(t, again, secret, body.token)
    const { body: latest } = await after.call('GET', `/v3/sessions/${session}/messages?before_seq=2147483647&limit=1`)
    t.ok(latest.messages[0].seq >= acknowledged, `${latest.messages[0].seq} are there of ${acknowledged}`)
  })
}
