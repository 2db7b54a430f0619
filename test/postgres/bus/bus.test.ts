import t from 'tap'
import { accountTopic, type BusEvent, type Topic } from '../../../lib/bus/bus.ts'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { openPostgresBus } from '../../../postgres/bus/bus.ts'
import { payloadOf } from '../../../postgres/bus/frames.ts'
import { busContract } from '../../bus/contract.ts'
import { lacksPostgres, startPostgres } from '../../kit/postgres.ts'
import { openTcpProxy } from '../../kit/tcp-proxy.ts'

t.test('what every bus keeps', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  busContract(
    t,
    t => {
      const made = postgres.makeDatabase()
      const query = async (sql: string) => postgres.query(sql, new URL(await made).pathname.slice(1))
      let sent = 0
      return {
        async open(on = { onError: error => t.fail(String(error)) }) {
          const bus = await openPostgresBus(await made, on)
          t.teardown(() => bus.close())
          return bus
        },
        async cut() {
          await query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'afield bus' AND datname = current_database()"
          )
        },
        async send(topic, content) {
          sent += 1
          const payload = payloadOf({ publisher: 'another', topic, content: `=${content}` }, sent)
          await query(`SELECT pg_notify('afield public', '${payload}')`)
        }
      }
    },
    { instances: 'many' }
  )
})

t.test(
  'what an end could not publish is said to the others by topic, before anything that waited [M2]',
  { skip: lacksPostgres },
  async t => {
    const topic = accountTopic(v.parse(ids.accountId, 'ada'))
    const other = accountTopic(v.parse(ids.accountId, 'grace'))
    const postgres = await startPostgres(t)
    const url = new URL(await postgres.makeDatabase())
    const proxy = await openTcpProxy(t, `http://127.0.0.1:${url.port}`)
    const { promise: isCutOff, resolve: cutOff } = Promise.withResolvers<void>()
    const here = await openPostgresBus(url.href, { onError: error => t.error(error) })
    t.teardown(() => here.close())
    const there = await openPostgresBus(url.href.replace(url.port, new URL(proxy.url).port), { onError: () => cutOff() })
    t.teardown(() => there.close())
    const heard: string[] = []
    const lost: [topic: Topic | undefined, heardBefore: number][] = []
    here.onLost(topic => lost.push([topic, heard.length]))
    const { promise: waitedCame, resolve: waitedComes } = Promise.withResolvers<void>()
    await here.subscribe(topic, (event: BusEvent) => {
      heard.push(event.type)
      waitedComes()
    })
    const isBack = new Promise(resolve => there.onLost(resolve))
    await proxy.closePort()
    proxy.cut()
    await isCutOff
    there.publish(topic, { type: 'call-dropped', id: 'waited' })
    const params = 'x'.repeat(60_000)
    for (let count = 0; count < 100; count += 1) there.publish(other, { type: 'call', id: '1', replyTo: other, method: 's:x', params })
    await proxy.openPort()
    await waitedCame
    t.same(lost, [[other, 0]], 'nothing else')
    t.equal(await isBack, undefined, 'the end itself may have missed anything')
  }
)
