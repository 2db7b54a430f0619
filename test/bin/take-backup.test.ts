import { existsSync, readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'

t.test('a running server takes scheduled backups, private and verified [K2, K3]', async t => {
  // The last one is so old that the next is due at once.
  const data = t.testdir({ backups: { 'afield-2020-01-01T000000.auto.backup': 'an old one' } })
  const wasTried = tried(data)
  const server = await startServerProcess(t, { data, args: ['--backup-every', '24', '--backup-keep', '1'] })
  const ada = await signUp(t, server)
  await wasTried
  let health = await call(server, 'GET', '/health')
  while (health.body.backup.last === 'ok' && health.body.backup.goodAt.startsWith('2020')) health = await call(server, 'GET', '/health')
  t.match(health, { status: 200, body: { backup: { last: 'ok' } } })
  const [name = '', ...others] = readdirSync(join(data, 'backups'))
  t.same(others, [])
  t.match(name, /^afield-.*\.auto\.backup$/)
  t.equal(statSync(join(data, 'backups', name)).mode & 0o777, 0o600)
  t.match(
    readFileSync(join(data, 'backups', name))
      .subarray(0, 15)
      .toString(),
    'afield-backup-1'
  )
  t.notOk(existsSync(join(data, 'drill')))
  t.equal((await ada.call('GET', '/v1/sessions')).status, 200)
})

/** Settles when the directory in which a backup is tried was there and is gone. */
function tried(data: string): Promise<void> {
  return new Promise(resolve => {
    let wasThere = false
    const watcher = watch(data, (_event, name) => {
      if (name !== 'drill') return
      const isThere = existsSync(join(data, 'drill'))
      wasThere ||= isThere
      if (isThere || !wasThere) return
      watcher.close()
      resolve()
    })
  })
}
