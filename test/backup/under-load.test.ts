import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeBackup } from '../../lib/backup/make.ts'
import { restoreBackup } from '../../lib/backup/restore.ts'
import { readDisk } from '../crash/disk.ts'
import { History } from '../crash/history.ts'
import { judge } from '../crash/judge.ts'
import { seededRandom } from '../crash/random.ts'
import { crowdOf, settle, start } from '../crash/rounds.ts'
import { sampleSeed } from '../kit/seed.ts'

const now = Date.UTC(2030, 0, 2)
const store = 'sqlite:afield.db'

t.test('a backup taken while clients write restores to all that was acknowledged before, and a prefix of what came after [K1]', async t => {
  const place = t.testdir({ data: {}, out: {} })
  const data = join(place, 'data')
  const server = await start({ data })
  t.teardown(() => server.kill())
  const history = new History()
  const { token, ids } = await settle(server.url)
  const work = crowdOf({ token, ids, history, random: seededRandom(sampleSeed.number) }).map(one => one.run(server.url))
  const answered = async (count: number) => {
    while (history.answered < count) await new Promise(resolve => setImmediate(resolve))
  }
  await answered(200)

  const before = history.copy()
  const made = await makeBackup({ options: { data, store }, target: join(place, 'out'), passphrase: undefined, now, tell() {} })
  const meanwhile = history.answered - before.answered
  t.ok(meanwhile > 0, 'they went on writing')
  await answered(history.answered + 1)
  await server.kill()
  await Promise.all(work)

  const restored = join(place, 'restored')
  mkdirSync(restored)
  const options = { data: restored, store }
  await restoreBackup({ options, file: made.file, passphrase: async () => '', force: false, now, tell() {} })
  const { flaws, sessions } = readDisk(restored)
  t.same([...flaws, ...judge(before, sessions)], [])
  const live = new Map(readDisk(data).sessions.map(({ id, messages }) => [id, messages]))
  for (const { id, messages } of sessions) {
    t.same(messages, live.get(id)?.slice(0, messages.length), `${messages.length} of ${live.get(id)?.length} messages`)
  }
  t.comment(`${before.answered} answers before, ${meanwhile} meanwhile, ${made.holds.messages} messages in the backup`)
})
