import t from 'tap'
import { cryptoReady, Unreachable } from '../../../../lib/client/index.ts'
import { readProcess } from '../../../../web/model/session/process.ts'
import { machine } from '../../kit/machine.ts'

t.before(() => cryptoReady())

t.test('the process of a session is the one that its machine reports for it', async t => {
  const about = { startedAt: 1, memoryBytes: 1, memoryIs: 'share', processes: 1, isLeftOver: false, title: 'Claude Code' }
  const of = (session: string | undefined, pid: number) => ({ ...about, id: `${pid}`, pid, session })
  const results: Record<string, unknown> = { processes: { processes: [of(undefined, 1), of('s2', 2), of('s1', 3)] } }
  const { link, asked, state } = machine<Parameters<typeof readProcess>[0]>(results)
  t.match(await readProcess(link, 'm1', 's1'), { pid: 3, session: 's1' })
  t.same(asked, [['m1:processes', {}]])
  t.equal(await readProcess(link, 'm1', 's9'), undefined)
  for (const said of [{ error: 'unknown method' }, new Unreachable('not-connected')]) {
    results['processes'] = said
    t.equal(await readProcess(link, 'm1', 's1'), undefined)
  }
  state.hasKey = false
  t.equal(await readProcess(link, 'm1', 's1'), undefined)
})
