import { join } from 'node:path'
import t from 'tap'
import { call, signUp } from '../kit/person.ts'
import { readDisk } from './disk.ts'
import { straceProblem } from './fault-points.ts'
import { startVictim } from './victim.ts'

const skip = process.platform === 'linux' ? (straceProblem() ?? false) : 'strace is of Linux'

for (const [syscall, when, rule] of [
  ['fsync', 30, '[F2]'],
  ['pwrite64', 150, '[F3]']
] as const) {
  t.test(
    `a server whose ${syscall} fails acknowledges nothing more, exits with 75, and the next has all it acknowledged ${rule}`,
    { skip },
    async t => {
      const directory = t.testdir()
      const data = join(directory, 'data')
      // Made in advance, so that the failures begin among the messages.
      await (await startVictim({ data }))?.kill()
      const inject = ['-e', `trace=${syscall}`, '-e', `inject=${syscall}:error=EIO:when=${when}+`]
      const failing = await startVictim({ data, through: ['strace', '-f', '-qq', '-o', join(directory, 'log'), ...inject] })
      if (!failing) throw new Error('The server did not start.')
      const ada = await signUp(t, failing)
      const session = await ada.openSession()
      const acked: string[] = []
      for (let at = 0; ; at++) {
        const answer = await ada.send(session, { localId: `message-${at}` }).catch(() => undefined)
        if (answer?.status !== 200) {
          if (answer) t.equal(answer.status, 503)
          break
        }
        acked.push(`message-${at}`)
      }
      t.same(await failing.ended, { code: 75, signal: null })
      t.ok(acked.length > 5, `${acked.length} messages before the disk failed`)

      const next = await startVictim({ data })
      if (!next) throw new Error('The next server did not start.')
      const { body } = await call(next, 'GET', `/v3/sessions/${session}/messages?after_seq=0&limit=500`, { token: ada.token })
      const kept = body.messages.map(({ localId }: { localId: string }) => localId)
      t.same(kept.slice(0, acked.length), acked)
      await next.kill()
      t.same(readDisk(data).flaws, [])
    }
  )
}
