import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { signUp } from '../kit/person.ts'
import { startVictim } from './victim.ts'

const most = 120
const canLimit = spawnSync('prlimit', ['--version']).status === 0

t.test(
  'out of file handles the server stays up, and continues when there are some again [F8]',
  { skip: !canLimit && 'prlimit is missing' },
  async t => {
    const victim = await startVictim({ data: t.testdir(), through: ['prlimit', `--nofile=${most}`] })
    if (!victim) throw new Error('The server did not start.')
    t.teardown(() => victim.kill())
    const ada = await signUp(t, victim)
    const session = await ada.openSession()
    const { port } = new URL(victim.url)

    const crowd: Socket[] = []
    for (let number = 0; number < 3 * most; number += 1) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {})
      crowd.push(socket)
    }
    const left = crowd.map(socket => (socket.closed ? undefined : once(socket, 'close').catch(() => {})))
    for (const socket of crowd) socket.destroy()
    await Promise.all(left)

    let answer: { status: number } | undefined
    while (answer?.status !== 200) answer = await ada.send(session, { localId: 'after' }).catch(() => undefined)
    t.equal((await ada.call('GET', `/v3/sessions/${session}/messages`)).body.messages.length, 1)
  }
)
