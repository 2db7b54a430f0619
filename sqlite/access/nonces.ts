import type { Database } from 'better-sqlite3'
import { nonceKeptMs } from '../../lib/store/access/sign-in.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'

/** What the instances of a server share, such as the key of its nonces. */
export function nonces({ database, queue }: Deps): Pick<Store, 'keepSecret' | 'forgetSecret'> {
  const add = database.prepare<[string, Uint8Array]>('INSERT INTO server_secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const remove = database.prepare<[string]>('DELETE FROM server_secret WHERE name = ?')
  const read = database.prepare<[string], Buffer>('SELECT value FROM server_secret WHERE name = ?').pluck()

  function keep(name: string, fresh: Uint8Array): Buffer {
    add.run(name, fresh)
    const kept = read.get(name)
    if (!kept) throw new Error('The secret was not stored')
    return kept
  }

  return {
    keepSecret: (name, fresh) => queue.write(() => keep(name, fresh)),
    forgetSecret: name => queue.write(() => void remove.run(name))
  }
}

/** Uses up a nonce as part of the caller's transaction; false if it was used before. */
export function spendNonce(database: Database): (hash: string, now: number) => boolean {
  const spend = database.prepare<[Buffer, number]>('INSERT INTO used_nonce (hash, at) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const forget = database.prepare<[number]>('DELETE FROM used_nonce WHERE at < ?')
  return (hash, now) => {
    forget.run(Math.floor(now) - nonceKeptMs)
    return spend.run(Buffer.from(hash, 'base64url'), Math.floor(now)).changes > 0
  }
}
